"""Programs of programs/cases.h, run in the arms of a Lab, and their transcripts compared.

    with Lab(ipv6=True) as lab:
        Cases(lab, "cases_socket.c").compare()
"""

import difflib
import re

from .languages import c_program
from .servers import serve

PORT, REFUSED, SILENT, HELD = 7000, 7001, 7002, 7003

# Gives back what it hears, TCP and UDP, both families; as many connections as come.
ECHO = """
import resource, selectors, socket, sys
resource.setrlimit(resource.RLIMIT_NOFILE, (20000, 20000))
ready = selectors.DefaultSelector()
udp = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
udp.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
udp.bind(("::", int(sys.argv[1])))
tcp = socket.create_server(("::", int(sys.argv[1])), family=socket.AF_INET6, dualstack_ipv6=True,
                           backlog=4096)
ready.register(udp, selectors.EVENT_READ)
ready.register(tcp, selectors.EVENT_READ)
while True:
    for key, _ in ready.select():
        if key.fileobj is udp:
            udp.sendto(*udp.recvfrom(65536))
        elif key.fileobj is tcp:
            ready.register(tcp.accept()[0], selectors.EVENT_READ)
        else:
            try:
                heard = key.fileobj.recv(65536)
                if heard:
                    key.fileobj.sendall(heard)
                    continue
            except OSError:
                pass
            ready.unregister(key.fileobj)
            key.fileobj.close()
"""


def echo_server(place, port=PORT):
    return serve(place, ["python3", "-c", ECHO, str(port)], port)


def silence(lab, port=SILENT):
    """The machine says nothing to this port."""
    lab.machine.run(["nft", "-f", "-"], input="table inet silent { chain input { "
                    f"type filter hook input priority 0; tcp dport {port} drop\n }}\n}}\n")


class Cases:
    """`options`: the containers'; `words`: further KEY=VALUE of the program or names of its plays."""

    def __init__(self, lab, source, arms=("host", "plain", "sockhop"), flags=(), **options):
        self.lab, self.source = lab, source
        self.mount, self.inside = c_program(source, *flags)
        mounts = [self.mount, *options.pop("mounts", ())]
        self.arms = {arm.name: arm for arm in lab.arms(*arms, mounts=mounts, **options)}
        echo_server(lab.machine)
        silence(lab)

    def argv(self, arm, *words):
        program = f"{self.mount[0]}/{self.source.removesuffix('.c')}"
        own4, own6, device = self.lab.machine.host4, self.lab.machine.host6, self.lab.machine.device
        if arm.name != "host":
            program = self.inside
            own4, device = arm.container.address, "eth0"
            own6 = f"fd00:88::{int(own4.rsplit('.', 1)[1]):x}"
        machine = self.lab.machine
        return [program, f"machine4={machine.address4}", f"machine6={machine.address6}",
                f"host4={machine.host4}", f"own4={own4}", f"own6={own6}", f"device={device}",
                f"port={PORT}", f"refused={REFUSED}", f"silent={SILENT}", *words]

    def run(self, name, *words, prefix=(), **options):
        arm = self.arms[name]
        return arm.run([*prefix, *self.argv(arm, *words)], **options).stdout

    def compare(self, *words, prefix=()):
        """Runs in all arms; answers the oracle's lines of the sockhop arm as (what, side, wanted)."""
        said = {name: self.run(name, *words, prefix=prefix) for name in self.arms}
        print(said["sockhop"])
        if "host" in said:
            self._same(said, "host", "plain", everything=False)
        self._same(said, "plain", "sockhop", everything=True)
        sides = {name: oracle(text) for name, text in said.items()}
        for name in set(said) - {"sockhop"}:
            hopped = [what for what, side, _ in sides[name] if side != "stay"]
            assert not hopped, f"{name}: {hopped}: the oracle itself is wrong"
        assert len(sides["sockhop"]) == len(sides["plain"]), sides
        wrong = [line for line in sides["sockhop"] if line[1] != line[2]]
        assert not wrong, f"on the wrong side: {wrong}"
        return sides["sockhop"]

    @staticmethod
    def _same(said, first, second, everything):
        wanted, found = (compared(said[name], everything) for name in (first, second))
        difference = difflib.unified_diff(wanted, found, first, second, n=12, lineterm="")
        assert wanted == found, "\n".join(difference)


def compared(text, everything):
    kept = [line for line in text.splitlines() if not line.startswith("@")]
    return [line for line in kept if everything or not line.startswith("~")]


def oracle(text):
    return re.findall(r"^@ (.*): (hop|stay), wanted (hop|stay)$", text, re.MULTILINE)
