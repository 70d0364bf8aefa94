"""Each header of daemon/ compiles alone.

A header that its own .cc includes first is proven by the build; only the others are compiled here.
"""

import json
import os
import shlex
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor

import common
import layers


def proven_by_build(root, header):
    source = header.with_suffix(".cc")
    if not (root / source).exists():
        return False
    first = next(layers.includes(root, source), None)
    return first is not None and first[2] == str(header.relative_to("daemon"))


def flags_by_folder(root, build):
    """The compile flags of one translation unit of each source folder."""
    database = json.loads((build / "compile_commands.json").read_text(encoding="utf-8"))
    out = {}
    for entry in database:
        words = shlex.split(entry["command"]) if "command" in entry else list(entry["arguments"])
        kept = [w for w in words if w.startswith(("-D", "-std", "-W", "-f"))]
        for option in ("-I", "-isystem"):
            kept += [f"{option}{w.removeprefix(option)}" for w in words
                     if w.startswith(option) and w != option]
            kept += [f"{option}{words[i + 1]}" for i, w in enumerate(words[:-1]) if w == option]
        folder = os.path.relpath(os.path.dirname(os.path.join(entry["directory"], entry["file"])), root)
        out.setdefault(folder, kept)
    return out


def flags_for(header, by_folder):
    """Those of its own folder, else of the longest-flagged layer: it knows most include folders."""
    own = by_folder.get(str(header.parent))
    return own or max(by_folder.values(), key=len, default=["-std=c++20", "-Idaemon"])


def compile_alone(root, header, flags):
    with tempfile.NamedTemporaryFile("w", suffix=".cc") as unit:
        unit.write(f'#include "{header.relative_to("daemon")}"\n')
        unit.flush()
        result = subprocess.run(["g++", "-fsyntax-only", *flags, f"-I{root}/daemon", unit.name],
                                cwd=root, capture_output=True, text=True, check=False)
    errors = [line for line in result.stderr.splitlines() if "error" in line]
    if result.returncode == 0:
        return None
    return common.Violation(header, 1, "does not compile alone: " + (errors or ["?"])[0])


def check(root, arguments):
    by_folder = flags_by_folder(root, arguments.build)
    headers = [h for h in common.sources(root, ("daemon",), (".h",)) if not proven_by_build(root, h)]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        results = pool.map(lambda h: compile_alone(root, h, flags_for(h, by_folder)), headers)
    return [violation for violation in results if violation]


if __name__ == "__main__":
    common.run(check, __doc__, ["--build"])
