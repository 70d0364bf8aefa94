"""A second "machine": a network namespace behind a veth pair whose other end is on this host."""

import fcntl
import glob
import os

from .process import HarnessError, run, start

LOCKS = "/run/lock/sockhop-machines"


def _claim_slot():
    """A number of 0..63 that no other test holds; the kernel gives it back when we end."""
    os.makedirs(LOCKS, exist_ok=True)
    for slot in range(64):
        lock = open(f"{LOCKS}/{slot}", "w")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return slot, lock
        except BlockingIOError:
            lock.close()
    raise HarnessError("all 64 address slots are in use: are old tests still running?")


def sweep():
    """Takes away devices of tests that ended without doing so, rather than wait for the kernel."""
    for path in glob.glob(f"{LOCKS}/*"):
        with open(path, "w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                continue
            device = f"sockhop{os.path.basename(path)}"
            if os.path.exists(f"/sys/class/net/{device}"):
                run(["ip", "link", "del", device], check=False)


class Machine:
    """Addresses: 198.51.100.(4n+1)/30 and fd00:50c:n::1/64 on the host, the next ones in here."""

    def __init__(self):
        self.slot, self._lock = _claim_slot()
        self.netns = f"machine{self.slot}"
        self.device = f"sockhop{self.slot}"
        self.host4 = f"198.51.100.{4 * self.slot + 1}"
        self.address4 = f"198.51.100.{4 * self.slot + 2}"
        self.host6 = f"fd00:50c:{self.slot:x}::1"
        self.address6 = f"fd00:50c:{self.slot:x}::2"
        self._make()

    def _make(self):
        # A namespace that was just torn down may still be on its way out with its veth.
        run(["ip", "link", "del", self.device], check=False)
        run(["ip", "netns", "add", self.netns])
        run(["ip", "link", "add", self.device, "type", "veth", "peer", "name", "eth0",
             "netns", self.netns])
        run(["ip", "addr", "add", f"{self.host4}/30", "dev", self.device])
        run(["ip", "addr", "add", f"{self.host6}/64", "dev", self.device, "nodad"], check=False)
        run(["ip", "link", "set", self.device, "up"])
        inside = ["ip", "-n", self.netns]
        run([*inside, "link", "set", "lo", "up"])
        run([*inside, "addr", "add", f"{self.address4}/30", "dev", "eth0"])
        run([*inside, "addr", "add", f"{self.address6}/64", "dev", "eth0", "nodad"], check=False)
        run([*inside, "link", "set", "eth0", "up"])
        run([*inside, "route", "add", "default", "via", self.host4])

    def host_port(self, offset=0):
        """A TCP port of the host that no other test uses meanwhile; offset below 16."""
        return 20000 + 16 * self.slot + offset

    def argv(self, argv):
        # nsenter, not `ip netns exec`: that one would mount a /sys of its own for nothing.
        return ["nsenter", f"--net=/run/netns/{self.netns}", "--", *argv]

    def run(self, argv, **options):
        return run(self.argv(argv), **options)

    def popen(self, argv, log=None):
        return start(self.argv(argv), log)

    def close(self):
        run(["ip", "link", "del", self.device], check=False)
        run(["ip", "netns", "del", self.netns], check=False)
        self._lock.close()
