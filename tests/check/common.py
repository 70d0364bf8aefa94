"""What the checks share: finding sources, reporting, and reading C++ without its comments."""

import argparse
import pathlib
import re
import shutil
import sys

SOURCE_FOLDERS = ("daemon", "hook", "bpf", "tests")
CXX = (".cc", ".h")


class Violation:
    def __init__(self, path, line, text):
        self.path, self.line, self.text = path, line, text

    def __str__(self):
        return f"{self.path}:{self.line}: {self.text}"


def sources(root, folders=SOURCE_FOLDERS, suffixes=CXX):
    """Files below the folders, sorted, relative to root."""
    found = []
    for folder in folders:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in suffixes and path.is_file():
                found.append(path.relative_to(root))
    return found


def without_comments(text, strings=True):
    """The text with comments (and the insides of literals) blanked; line numbers stay."""
    token = re.compile(
        r'//[^\n]*|/\*.*?\*/|R"([^()\\ ]*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"'
        r"|'(?:\\.|[^'\\\n])+'(?!\w)", re.DOTALL)

    def blank(match):
        word = match.group(0)
        if not word.startswith("/") and not strings:
            return word
        kept = "" if word.startswith("/") else '""'
        return kept + "\n" * word.count("\n")

    return token.sub(blank, text)


def numbered_lines(root, path, strings=True):
    text = without_comments((root / path).read_text(encoding="utf-8"), strings)
    return enumerate(text.splitlines(), start=1)


SKIPPED = 77  # CTest's SKIP_RETURN_CODE


def run(check, description, options=(), tool=None):
    """Runs check(root, arguments) -> violations as a program: prints them, exits 1 if any."""
    if tool and not shutil.which(tool):
        print(f"skipped: {tool} is not installed")
        sys.exit(SKIPPED)
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--root", type=pathlib.Path, required=True, help="the source tree")
    for name in options:
        parser.add_argument(name, type=pathlib.Path, required=True)
    arguments = parser.parse_args()
    violations = check(arguments.root.resolve(), arguments)
    for violation in violations:
        print(violation)
    print(f"{len(violations)} violations")
    sys.exit(1 if violations else 0)
