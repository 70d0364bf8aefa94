"""The machines of a bench run: this host, another machine over veth, and a link with delay to it.

Everything here is started when a row first asks for it and lives until the run ends.
"""

import os
import socket
import statistics
import struct
import sys

from harness.isolate import expose
from harness.machine import Machine
from harness.process import HarnessError, Skip, run, start, stop, wait_for
from harness.servers import serve

from bench import arms
from bench.model import ArmUnavailable

CONNECT_PORT = 7000
SILENT_PORT = 7001
IPERF_PORT = 5201
DELAY_US = 250  # one way: a round trip of 0.5 ms


def round_trip_us(address, port):
    """What the kernel measured from SYN to SYN-ACK (tcpi_rtt of struct tcp_info)."""
    with socket.create_connection((address, port), timeout=5) as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        info = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104)
        return struct.unpack_from("I", info, 68)[0]


class World:
    def __init__(self, build_dir):
        self.build_dir = build_dir
        self.programs = self._bind_programs()
        self.machine = Machine()
        self._arms = {}
        self._missing = {}
        self._shared = {}
        self._processes = []
        self.failures = (HarnessError, Skip)

    def _bind_programs(self):
        """The measuring programs where the test user can reach them."""
        source = os.path.join(self.build_dir, "bench")
        if not os.path.exists(f"{source}/bench_connect"):
            raise HarnessError(f"no measuring programs in {source}: run tests/bench.sh, it builds them")
        return expose(source, "bench")

    # --- arms ---------------------------------------------------------------------------------

    def arm(self, name):
        """The arm, started at its first use; ArmUnavailable says why it cannot run here."""
        if name in self._missing:
            raise ArmUnavailable(self._missing[name])
        if name not in self._arms:
            try:
                self._arms[name] = arms.ARMS[name](self)
            except (ArmUnavailable, HarnessError, Skip, OSError, KeyError) as error:
                self._missing[name] = str(error).strip() or repr(error)
                raise ArmUnavailable(self._missing[name]) from error
        return self._arms[name]

    def shared(self, key, make):
        """Something that several arms stand on (RootlessKit, the plain container)."""
        if key not in self._shared:
            self._shared[key] = make()
        return self._shared[key]

    def host_port(self, offset):
        """A port of the host that no other run uses: each has a slot of its own."""
        return 20000 + 16 * self.machine.slot + offset

    # --- the other machine --------------------------------------------------------------------

    def iperf_server(self):
        return self._server("iperf3", ["iperf3", "--server"], IPERF_PORT)

    def connect_server(self):
        argv = [f"{self.programs}/bench_reset_server", "--port", CONNECT_PORT]
        return self._server("connect", argv, CONNECT_PORT)

    def silent_port(self):
        """A port of the other machine that drops what comes."""
        def make():
            self.machine.run(["nft", "-f", "-"], input="table inet silent { chain input { "
                             f"type filter hook input priority 0; tcp dport {SILENT_PORT} drop\n"
                             "}\n}\n")
        self.shared("silence", make)
        return SILENT_PORT

    def _server(self, key, argv, port):
        """Starts a server on the other machine once; answers its port."""
        def make():
            self._processes.append(serve(self.machine, argv, port))
        self.shared(key, make)
        return port

    def delayed_address(self):
        """The other machine's address behind the delay line."""
        return self.shared("delay", self._start_delay_line)

    def _start_delay_line(self):
        slot = self.machine.slot
        device, here = f"delay{slot}", f"203.0.113.{4 * slot + 1}"
        there = f"203.0.113.{4 * slot + 2}"
        process = start([f"{self.programs}/bench_delay_line", "--a", "/proc/self/ns/net",
                         "--b", f"/run/netns/{self.machine.netns}", "--name", device,
                         "--delay-us", DELAY_US])
        self._processes.append(process)
        inside = ["ip", "-n", self.machine.netns]
        wait_for(lambda: run([*inside, "link", "show", device], check=False).returncode == 0,
                 "the delay line", alive=process)
        for ip, address in ((["ip"], here), (inside, there)):
            run([*ip, "addr", "add", f"{address}/30", "dev", device])
            run([*ip, "link", "set", device, "up"])
        self._check_round_trip(there)
        return there

    def _check_round_trip(self, address):
        """A row about 0.5 ms is worth nothing on a line that is not."""
        measured = statistics.median(round_trip_us(address, self.connect_server())
                                     for _ in range(50))
        if not 450 <= measured <= 550:
            print(f"bench: the delay line's round trip is {measured:.0f} us, not 500: the machine"
                  " is too busy for connect.rtt", file=sys.stderr)

    def close(self):
        for arm in reversed(self._arms.values()):
            arm.close()
        for thing in reversed(self._shared.values()):
            if hasattr(thing, "close"):
                thing.close()
        for process in self._processes:
            stop(process)
        self.machine.close()
