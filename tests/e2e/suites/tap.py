"""Suites that say what they found in the Test Anything Protocol."""

import re

from .suite import FAIL, OK, SKIP

LINE = re.compile(r"^(not )?ok \d+ (?:- )?(\S[^#\n]*?)\s*(#\s*SKIP.*|#.*)?$", re.IGNORECASE)


def parse(text, prefix=""):
    results = {}
    for line in text.splitlines():
        found = LINE.match(line)
        if found:
            failed, name, note = found.groups()
            skipped = note and "skip" in note.lower()
            results[prefix + name] = SKIP if skipped else FAIL if failed else OK
    return results
