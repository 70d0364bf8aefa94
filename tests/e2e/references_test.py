"""Whoever holds a socket too sees what becomes of it."""

from harness import Lab, main
from harness.cases import Cases


def allow(config):
    config["linux"]["seccomp"]["syscalls"].append(
        {"names": ["pidfd_getfd", "pidfd_open", "kcmp"], "action": "SCMP_ACT_ALLOW"})


def test_references():
    with Lab() as lab:
        Cases(lab, "cases_references.c", edit=allow).compare()


def test_threads():
    with Lab() as lab:
        Cases(lab, "cases_threads.c").compare()


if __name__ == "__main__":
    main(globals())
