"""Suites written by others: the same names and status without and with sockhop.

The short ones run by default; those called whole_ have the label suites.
"""

from harness import main
from suites import built, cpython, others
from suites.suite import FAIL, OK, SKIP, compare, differences


def test_differences():
    plain = {"same": OK, "lost": OK, "gone": OK, "won": FAIL, "now skipped": OK, "new": SKIP,
             "timing-1": OK}
    hopped = {"same": OK, "lost": FAIL, "won": OK, "now skipped": SKIP, "new": OK,
              "timing-1": FAIL, "more": FAIL}
    found = [line.split(":")[0] for line in differences(plain, hopped, {"timing-*": "a reason"})]
    assert found == ["gone", "lost", "new", "now skipped"], found


def test_tcl():
    compare(others.Tcl(), whole=False)


def test_ruby():
    compare(others.Ruby(), whole=False)


def test_go():
    compare(others.Go(), whole=False)


def test_gio():
    compare(others.Gio(), whole=False)


def test_cpython_socket():
    compare(cpython.Socket(), whole=False)


def test_whole_tcl():
    compare(others.Tcl(), whole=True)


def test_whole_ruby():
    compare(others.Ruby(), whole=True)


def test_whole_go():
    compare(others.Go(), whole=True)


def test_whole_gio():
    compare(others.Gio(), whole=True)


def test_whole_cpython_socket():
    compare(cpython.Socket(), whole=True)


def test_whole_cpython_asyncio():
    compare(cpython.Asyncio(), whole=True)


def test_whole_cpython_localhost():
    compare(cpython.Localhost(), whole=True)


def test_whole_libuv():
    compare(built.Libuv(), whole=True)


def test_whole_libevent():
    compare(built.Libevent(), whole=True)


def test_whole_node():
    compare(built.Node(), whole=True)


if __name__ == "__main__":
    main(globals())
