"""Real rootless containers for tests: see lab.py for the picture and an example."""

import sys

from .isolate import SKIPPED, isolate
from .lab import Lab
from .process import HarnessError, Skip, run, wait_for

__all__ = ["HarnessError", "Lab", "SKIPPED", "Skip", "isolate", "main", "run", "wait_for"]


def main(tests):
    """Runs `test_NAME` of the dictionary (a module's globals()) as the command line names it.

    A Skip ends with CTest's skip code and its reason. Without a name: all of them, one by one.
    """
    names = sys.argv[1:] or [name[5:] for name in tests if name.startswith("test_")]
    try:
        isolate()
        for name in names:
            tests[f"test_{name}"]()
    except Skip as reason:
        print(f"skipped: {reason}")
        sys.exit(SKIPPED)
