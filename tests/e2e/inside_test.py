"""A socket that was on the host listens in the container, by whichever of its numbers."""

from harness import Lab, main
from harness.cases import Cases


def test_duplicates():
    with Lab() as lab:
        Cases(lab, "cases_inside.c").compare()


if __name__ == "__main__":
    main(globals())
