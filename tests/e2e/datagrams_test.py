"""UDP and names: datagrams, resolvers and loopback are the container's own."""

import os
import socket
import sys
import threading

from harness import Lab, main
from harness.cases import Cases
from harness.languages import INSIDE, programs_mount
from harness.servers import serve

UDP_PLAYS = ["learn-own-name", "talking", "mixed", "refused"]


class Decoy:
    """Listens where nobody of a container may come, and notes who does."""

    def __init__(self, address, port=0):
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        self.visitors = []
        self.datagrams = socket.socket(family, socket.SOCK_DGRAM)
        self.datagrams.bind((address, port))
        self.port = self.datagrams.getsockname()[1]
        self.listener = socket.create_server((address, self.port), family=family)
        threading.Thread(target=self._receive, daemon=True).start()
        threading.Thread(target=self._accept, daemon=True).start()

    def _receive(self):
        while True:
            self.visitors.append(self.datagrams.recvfrom(512)[1])

    def _accept(self):
        while True:
            connection, address = self.listener.accept()
            self.visitors.append(address)
            connection.close()

    def expect_nobody(self):
        assert not self.visitors, self.visitors
        with socket.socket(self.datagrams.family, socket.SOCK_DGRAM) as probe:
            probe.sendto(b"x", self.datagrams.getsockname())
        while not self.visitors:
            pass


def test_udp():
    with Lab(ipv6=True) as lab:
        Cases(lab, "cases_udp.c", arms=("plain", "sockhop")).compare(*UDP_PLAYS)


def test_udp_to_loopback():
    with Lab(ipv6=True) as lab:
        cases = Cases(lab, "cases_udp.c", arms=("plain", "sockhop"))
        first = Decoy("127.0.0.1")
        second = Decoy("::1", first.port)
        cases.compare("loopback", f"logger={first.port}")
        first.expect_nobody()
        second.expect_nobody()


def check_sorted_names(ipv6):
    with Lab(ipv6=ipv6) as lab:
        cases = Cases(lab, "cases_udp.c", arms=("plain", "sockhop"))
        for arm in cases.arms.values():
            arm.container.write("/etc/hosts", f"127.0.0.1 localhost\n{lab.machine.address6} "
                                f"two.example\n{lab.machine.address4} two.example\n")
        cases.compare("sorted-names")


def test_order_of_addresses():
    check_sorted_names(ipv6=True)


def test_order_of_addresses_without_ipv6():
    check_sorted_names(ipv6=False)


def check_resolvers(count):
    """A resolver on 127.0.0.11 and one on the bridge; a decoy on the host's 127.0.0.11 answers no one."""
    with Lab() as lab:
        decoy = Decoy("127.0.0.11", 53)
        gateway = "10.88.0.1"
        for arm in lab.arms("plain", "sockhop", mounts=[programs_mount()]):
            for place, address in ((arm, "127.0.0.11"), (lab.kit, gateway)):
                command = ["python3", f"{INSIDE}/resolver.py", "serve", address]
                if place is not arm:
                    command[0:2] = [sys.executable, f"{os.path.dirname(__file__)}/programs/resolver.py"]
                server = serve(place, command, 53)
                said = arm.run(["python3", f"{INSIDE}/resolver.py", "ask", address, count],
                               timeout=300).stdout
                assert said == f"{4 * count} answers of {address}\n", (arm.name, said)
                server.terminate()
                server.wait(20)
        decoy.expect_nobody()


def test_resolvers():
    check_resolvers(100)


def test_long_resolvers():
    check_resolvers(2500)


if __name__ == "__main__":
    main(globals())
