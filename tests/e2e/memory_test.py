"""Results that do not fit the caller's memory fail as without sockhop, and nothing is written."""

from harness import Lab, main
from harness.cases import Cases


def check(*flags):
    with Lab() as lab:
        # A plain container differs from the host in its devices only, which do not show here.
        Cases(lab, "cases_memory.c", flags=flags).compare()


def test_of_other_protection():
    check()


def test_of_other_protection_of_i386():
    check("-m32")


if __name__ == "__main__":
    main(globals())
