"""The core archive asks the linker for nothing but language support: no I/O can hide in it."""

import pathlib
import re
import subprocess

import common

ALLOWED = pathlib.Path(__file__).parent / "purity_allowed.txt"


def patterns():
    """Lines of regular expressions; those that begin with '!' forbid what a later one allows."""
    allowed, forbidden = [], []
    for line in ALLOWED.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            (forbidden if line.startswith("!") else allowed).append(re.compile(line.lstrip("!")))
    return allowed, forbidden


def undefined_symbols(archive):
    listing = subprocess.run(["nm", "-uC", archive], check=True, capture_output=True, text=True)
    member = archive.name
    for line in listing.stdout.splitlines():
        if line.endswith(":"):
            member = line[:-1]
        elif line.strip():
            yield member, line.split(maxsplit=1)[1]


def check(_root, arguments):
    allowed, forbidden = patterns()
    found = []
    for member, symbol in undefined_symbols(arguments.archive):
        fine = any(p.match(symbol) for p in allowed) and not any(p.match(symbol) for p in forbidden)
        if not fine:
            found.append(common.Violation(member, 0, f"core needs {symbol}"))
    return found


if __name__ == "__main__":
    common.run(check, __doc__, ["--archive"])
