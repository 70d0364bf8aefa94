"""Sources are formatted as .clang-format says; the version is pinned, others differ in details."""

import re
import subprocess

import common

TOOL = "clang-format-14"


def check(root, _arguments):
    files = [str(p) for p in common.sources(root)]
    if not files:
        return []
    result = subprocess.run([TOOL, "--dry-run", "-Werror", *files], cwd=root, capture_output=True,
                            text=True, check=False)
    wrong = {}
    for match in re.finditer(r"^(.+?):(\d+):\d+: error:", result.stderr, re.MULTILINE):
        wrong.setdefault(match.group(1), match.group(2))
    if result.returncode != 0 and not wrong:
        return [common.Violation(TOOL, 0, result.stderr.strip())]
    return [common.Violation(p, line, f"not as {TOOL} -i writes it") for p, line in wrong.items()]


if __name__ == "__main__":
    common.run(check, __doc__, tool=TOOL)
