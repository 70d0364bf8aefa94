"""The host's loopback stays out of reach, in every spelling, and the container's own works."""

import socket
import threading

from harness import Lab, main
from harness.languages import programs_mount
from harness.oracle import probe
from harness.servers import http_server

SPELLINGS = ("127.0.0.1", "127.1.2.3", "0.0.0.0", "::1", "::", "::ffff:127.0.0.1", "::ffff:0.0.0.0",
             "::1%1", "fe80::1%1")


class Logger:
    """Listens on a port of the host's 127.0.0.1 and ::1 and counts who comes."""

    def __init__(self):
        self.visitors = []
        first = socket.create_server(("127.0.0.1", 0))
        self.port = first.getsockname()[1]
        second = socket.create_server(("::1", self.port), family=socket.AF_INET6)
        for listener in (first, second):
            threading.Thread(target=self._log, args=(listener,), daemon=True).start()

    def _log(self, listener):
        while True:
            connection, address = listener.accept()
            self.visitors.append(address)
            connection.close()


def results(arm, port):
    return [found["result"] for found in probe(arm, [(host, port) for host in SPELLINGS])]


def test_host_loopback_is_never_reached():
    logger = Logger()
    with Lab(ipv6=True) as lab:
        for flavour in ("own", "shared"):
            plain, ours = lab.arms("plain", "sockhop", flavour=flavour, mounts=[programs_mount()])
            expected = results(plain, logger.port)
            assert results(ours, logger.port) == expected, flavour
            assert "ok" not in expected
    assert not logger.visitors, logger.visitors
    # The logger does log: else the line above would prove nothing.
    socket.create_connection(("127.0.0.1", logger.port)).close()
    while not logger.visitors:
        pass


def test_own_loopback_and_neighbours_answer():
    with Lab(ipv6=True) as lab:
        plain, ours = lab.arms("plain", "sockhop", mounts=[programs_mount()])
        for arm in (plain, ours):
            http_server(arm, 8000, text=f"hello from {arm.name}")
        for arm, neighbour in ((plain, ours), (ours, plain)):
            found = results(arm, 8000)
            assert found[:2] == ["ok", "ok"] and found[3] == "ok", (arm.name, found)
            answer = arm.run(["curl", "-sS", "-m", "5",
                              f"http://{neighbour.container.address}:8000/"])
            assert answer.stdout == f"hello from {neighbour.name} to {arm.mapped()}\n", answer
        assert results(plain, 8000) == results(ours, 8000)
        assert ours.hops() == 0


if __name__ == "__main__":
    main(globals())
