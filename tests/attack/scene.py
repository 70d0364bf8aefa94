"""What the attack tests share: the lab with its programs, loggers on the host, blackholes.

    with Scene() as scene, Loggers() as loggers:
        arm = scene.arm("sockhop")
        out = arm.run(scene.program("ways", scene.address, ...)).stdout
        loggers.expect_nobody()
"""

import os
import socket
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))

# pylint: disable=wrong-import-position
from harness import HarnessError, Lab, Skip, isolate, run, wait_for  # noqa: E402
from harness import main as harness_main  # noqa: E402
from harness.container import hostile  # noqa: E402
from harness.isolate import RUN, expose  # noqa: E402
from harness.process import as_user  # noqa: E402

__all__ = ["HarnessError", "INSIDE", "Loggers", "RUN", "Scene", "Skip", "as_user", "hostile", "main",
           "parse", "run", "wait_for"]

INSIDE = "/mnt/attack"

# Accepts everything on a port, and counts in its log who came.
SERVER = """
import os, socket, struct, sys
listener = socket.create_server(("0.0.0.0", int(sys.argv[1])), backlog=4096)
while True:
    connection, address = listener.accept()
    print("connection", flush=True)
    if sys.argv[2] == "close":
        connection.close()
    else:
        os.dup(connection.fileno())
"""


def main(tests):
    """`long_NAME` is called by its whole name, `test_NAME` by NAME."""
    for name in [name for name in tests if name.startswith("long_")]:
        tests[f"test_{name}"] = tests[name]
    if len(sys.argv) == 1:
        sys.argv += [name[5:] for name in tests
                     if name.startswith("test_") and not name.startswith("test_long_")]
    harness_main(tests)


def parse(text):
    """{name: (result, errno)} of the programs' lines, in their order."""
    found = {}
    for line in text.splitlines():
        name, result, error = line.rsplit(" ", 2)
        found[name] = (int(result), int(error))
    return found


class Scene(Lab):
    """A Lab whose containers see the attack programs, and whose machine has a counting server."""

    def __init__(self, **options):
        super().__init__(**options)
        self.programs = expose(f"{self.build_dir}/tests/attack/bin", "attack")
        self.server_log = f"{RUN}/machine-server.log"

    @property
    def address(self):
        return self.machine.address4

    def program(self, name, *words):
        """The command line of an attack program inside a container."""
        if not os.path.exists(f"{self.programs}/attack_{name}"):
            raise Skip(f"attack_{name} was not built: this compiler has no -m32")
        return [f"{INSIDE}/attack_{name}", *map(str, words)]

    def arm(self, kind, flavour="own", mounts=(), **options):
        if kind == "host":
            return super().arm(kind)
        return super().arm(kind, flavour, mounts=[(self.programs, INSIDE), *mounts], **options)

    def serve(self, port, what="close"):
        """A server on the machine; `what`: it closes what it accepts, or keeps it."""
        with open(self.server_log, "w"):
            pass
        process = self.machine.popen(["python3", "-c", SERVER, str(port), what], self.server_log)
        wait_for(lambda: f":{port} " in self.machine.run(["ss", "-Hltn"]).stdout, "the server",
                 alive=process)
        return process

    def served(self):
        with open(self.server_log) as file:
            return file.read().count("connection")

    def blackhole(self, port):
        """The machine says nothing to this port any more."""
        self.machine.run(["nft", "add table inet hole; add chain inet hole input { type filter "
                          "hook input priority 0; }; "
                          f"add rule inet hole input tcp dport {port} drop"])

    def open_up(self):
        self.machine.run(["nft", "delete table inet hole"])


class Loggers:
    """Listens on the host's 127.0.0.1 and ::1 (TCP, UDP) and an abstract unix socket, and counts."""

    def __init__(self, port=0):
        # The namespaces of the test first: this process is replaced on the way.
        isolate()
        self.visitors = []
        first = socket.create_server(("127.0.0.1", port), backlog=1024)
        self.port = first.getsockname()[1]
        second = socket.create_server(("::1", self.port), family=socket.AF_INET6)
        third = socket.socket(socket.AF_UNIX)
        third.bind(f"\0sockhop-{self.port}")
        third.listen()
        self.listeners = [first, second, third]
        self.receivers = []
        for family, address in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")):
            receiver = socket.socket(family, socket.SOCK_DGRAM)
            receiver.bind((address, self.port))
            self.receivers.append(receiver)
        for listener in self.listeners:
            threading.Thread(target=self._log, args=(listener,), daemon=True).start()
        for receiver in self.receivers:
            threading.Thread(target=self._log_datagrams, args=(receiver,), daemon=True).start()

    def _log_datagrams(self, receiver):
        while True:
            try:
                _, address = receiver.recvfrom(64)
            except OSError:
                return
            self.visitors.append(("UDP", address))

    def _log(self, listener):
        while True:
            try:
                connection, address = listener.accept()
            except OSError:
                return
            self.visitors.append((listener.family.name, address))
            connection.close()

    def expect_nobody(self):
        """Nobody came; and who does come is seen, else this would prove nothing."""
        assert not self.visitors, f"{len(self.visitors)} visitors: {self.visitors[:5]}"
        for listener in self.listeners:
            with socket.socket(listener.family) as probe:
                probe.connect(listener.getsockname())
        for receiver in self.receivers:
            with socket.socket(receiver.family, socket.SOCK_DGRAM) as probe:
                probe.sendto(b"x", receiver.getsockname())
        everybody = len(self.listeners) + len(self.receivers)
        wait_for(lambda: len(self.visitors) == everybody, "the loggers to log")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for listener in [*self.listeners, *self.receivers]:
            listener.close()
