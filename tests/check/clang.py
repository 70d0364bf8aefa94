"""Every source also compiles with clang, without a warning; g++ builds the tree.

tidy.py reads base to engine by clang as well, in every run; this is the whole tree.
"""

import json
import os
import re
import shlex
import subprocess
from concurrent.futures import ThreadPoolExecutor

import common

COMPILERS = {"c++": "clang++-14", "g++": "clang++-14", "cc": "clang-14", "gcc": "clang-14"}


def clang_words(command):
    """The command line of g++ as clang's, without what it would write."""
    words = [word for word in shlex.split(command) if os.path.basename(word) != "ccache"]
    words[0] = COMPILERS[os.path.basename(words[0])]
    kept, skip = [], False
    for word in words:
        if skip or word in ("-o", "-MF", "-MT"):
            skip = not skip
        elif word not in ("-c", "-MD"):
            kept.append(word)
    return [*kept, "-fsyntax-only"]


def compile_one(root, entry):
    done = subprocess.run(clang_words(entry["command"]), cwd=entry["directory"],
                          capture_output=True, text=True, check=False)
    found = [common.Violation(os.path.relpath(m.group(1), root), m.group(2), m.group(3))
             for m in re.finditer(r"^(.+?):(\d+):\d+: (?:error|warning): (.+)$", done.stderr,
                                  re.MULTILINE)]
    if done.returncode != 0 and not found:
        return [common.Violation(entry["file"], 0, done.stderr.strip()[-500:])]
    return found


def check(root, arguments):
    entries = json.loads((arguments.build / "compile_commands.json").read_text(encoding="utf-8"))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return [violation for found in pool.map(lambda entry: compile_one(root, entry), entries)
                for violation in found]


if __name__ == "__main__":
    common.run(check, __doc__, ["--build"], "clang++-14")
