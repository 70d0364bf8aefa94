"""A socket keeps what was done to it, wherever connect() puts it; three arms say the same."""

from harness import Lab, main
from harness.cases import Cases


def test_before_and_after():
    with Lab() as lab:
        Cases(lab, "cases_socket.c").compare()


def test_before_and_after_of_i386():
    with Lab() as lab:
        Cases(lab, "cases_socket.c", flags=("-m32",)).compare()


if __name__ == "__main__":
    main(globals())
