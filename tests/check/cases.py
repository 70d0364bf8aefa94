"""Every case that tests/README.md lists has tests, and CTest knows each of them.

    cases.py --root DIR --build DIR

Its self-test runs in it: a table with a test that nobody has must be reported.
"""

import argparse
import pathlib
import re
import subprocess
import sys

CASES = ([f"A{number}" for number in (*range(1, 22), *range(25, 33))]
         + [f"R{number}" for number in (1, 4, 5, 7, 9, 10, 26, *range(28, 32), *range(33, 38), 41, 42,
                                        43, 45, 46, 48, 49, 51)])
ROW = re.compile(r"^\| ([AR]\d+) \|[^|]*\|([^|]*)\|$", re.MULTILINE)


def known_tests(build):
    listed = subprocess.run(["ctest", "--test-dir", build, "-N"], capture_output=True, text=True,
                            check=True).stdout
    return set(re.findall(r"^ *Test +#\d+: (\S+)", listed, re.MULTILINE))


def violations(text, known):
    rows = {case: re.findall(r"`([^`]+)`", tests) for case, tests in ROW.findall(text)}
    for case in CASES:
        if not rows.get(case):
            yield f"{case} has no test"
    for case, tests in rows.items():
        for test in tests:
            if test not in known:
                yield f"{case}: there is no test {test}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--root", type=pathlib.Path, required=True)
    parser.add_argument("--build", required=True)
    options = parser.parse_args()
    text = (options.root / "tests/README.md").read_text(encoding="utf-8")
    known = known_tests(options.build)
    found = list(violations(text, known))
    planted = list(violations("| A1 | x | `e2e.nobody.has_it` |\n", known))
    if "A1: there is no test e2e.nobody.has_it" not in planted or "A2 has no test" not in planted:
        found.append(f"the check misses planted violations: {planted}")
    print("\n".join(found) or f"{len(CASES)} cases have their tests")
    sys.exit(bool(found))


main()
