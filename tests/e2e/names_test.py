"""Addresses, ports and devices are the container's, and sockets of other kinds are left alone."""

import os
import socket

from harness import Lab, main
from harness.cases import Cases
from harness.servers import http_server


def test_names():
    with Lab(ipv6=True) as lab:
        busy, word = lab.machine.host_port(3), f"foreign={lab.machine.device}"
        cases = Cases(lab, "cases_names.c", arms=("plain", "sockhop"))
        # A fixed port that somebody on the host has already.
        http_server(lab.arm("host"), busy)
        cases.compare("binding", f"busy={busy}", word)


def check_kinds(*flags):
    with Lab(ipv6=True) as lab:
        words = [f"foreign={lab.machine.device}"]
        plays = ["devices", "interfaces", "spellings", "multipath-tcp", "fast-open", "privileged",
                 "families", "netlink", "from-loopback"]
        Cases(lab, "cases_names.c", flags=flags).compare(*plays, *words)


def test_kinds_of_sockets():
    check_kinds()


def test_kinds_of_sockets_of_i386():
    check_kinds("-m32")


def test_abstract_names():
    name = f"sockhop-names-{os.getpid()}"
    with Lab() as lab, socket.socket(socket.AF_UNIX) as host:
        host.bind(f"\0{name}")
        host.listen()
        host.setblocking(False)
        cases = Cases(lab, "cases_names.c", arms=("plain", "sockhop"))
        cases.compare("abstract-name", f"abstract={name}")
        said = cases.run("sockhop", "abstract-name", f"abstract={name}")
        assert "nobody here: ECONNREFUSED" in said and "own server: ok" in said, said
        try:
            host.accept()
        except BlockingIOError:
            pass
        else:
            raise AssertionError("the host's abstract socket was reached")


if __name__ == "__main__":
    main(globals())
