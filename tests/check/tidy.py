"""clang-tidy over the layers that decide and touch the kernel; its list is argued in .clang-tidy.

A file whose text, project headers and checks are as in an earlier clean run is not looked at again.
"""

import hashlib
import os
import re
import subprocess
from concurrent.futures import ThreadPoolExecutor

import common
import layers

TOOL = "clang-tidy-14"
FOLDERS = tuple(f"daemon/{layer}" for layer in ("base", "core", "sys", "engine"))
# Nothing of ours but the line that compiles the JSON library.
SKIPPED = {"daemon/core/json.cc"}


def closure(root, path, seen):
    """The file and every header of daemon/ that it sees."""
    if path in seen or not (root / path).exists():
        return
    seen.add(path)
    for _, _, target in layers.includes(root, path):
        closure(root, path.parents[-2] / target, seen)


def fingerprint(root, path):
    seen = set()
    closure(root, path, seen)
    digest = hashlib.sha256((root / ".clang-tidy").read_bytes())
    for each in sorted(seen):
        digest.update((root / each).read_bytes())
    return digest.hexdigest()


def tidy(root, build, path):
    stamp = build / "tidy-clean" / fingerprint(root, path)
    if stamp.exists():
        return []
    result = subprocess.run([TOOL, "--quiet", "-p", str(build), str(root / path)], cwd=root,
                            capture_output=True, text=True, check=False)
    found = [common.Violation(os.path.relpath(m.group(1), root), m.group(2), m.group(3))
             for m in re.finditer(r"^(/.+?):(\d+):\d+: error: (.+)$", result.stdout, re.MULTILINE)]
    if result.returncode != 0 and not found:
        return [common.Violation(path, 0, (result.stderr or result.stdout).strip()[-500:])]
    if not found:
        stamp.parent.mkdir(exist_ok=True)
        stamp.touch()
    return found


def check(root, arguments):
    build = arguments.build.resolve()
    files = [p for p in common.sources(root, FOLDERS, (".cc",)) if str(p) not in SKIPPED]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(lambda path: tidy(root, build, path), files))
    # A header is reported once for every file that sees it.
    return list({str(v): v for result in results for v in result}.values())


if __name__ == "__main__":
    common.run(check, __doc__, ["--build"], TOOL)
