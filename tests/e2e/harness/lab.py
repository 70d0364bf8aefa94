"""The whole scene of a test: a machine, RootlessKit, sockhopd, and containers in three arms.

    with Lab() as lab:
        for arm in lab.arms("host", "plain", "sockhop"):
            print(arm.name, arm.run(["curl", "-s", f"http://{lab.machine.address4}:8000/"]).stdout)

`host` runs the same program in the host's network namespace; `plain` in a container behind
slirp4netns; `sockhop` in such a container with sockhop's seccomp rules and a running sockhopd.
"""

import os

from .container import Container, Network
from .daemon import Daemon
from .isolate import expose, isolate
from .machine import Machine
from .process import HarnessError, run, start, tail
from .rootless import Pasta, RootlessKit


class Host:
    name = "host"
    address = "127.0.0.1"

    @staticmethod
    def argv(argv):
        return [str(word) for word in argv]

    def run(self, argv, **options):
        return run(self.argv(argv), **options)

    def popen(self, argv, log=None):
        return start(self.argv(argv), log)

    def publish(self, host_port, port):
        """Nothing stands between a host's port and the host."""


class Plain:
    name = "plain"

    def __init__(self, lab, flavour, name=None, **options):
        self.lab = lab
        self.network = lab.network if flavour == "own" else None
        name = name or f"plain-{flavour}"
        self.container = Container(lab.kit, name, self.network, **options).start()

    def mapped(self):
        """The container's address as a dual-stack server prints it."""
        return f"::ffff:{self.container.address}"

    def argv(self, argv):
        return self.container.argv(argv)

    def run(self, argv, **options):
        return self.container.run(argv, **options)

    def popen(self, argv, log=None):
        return self.container.popen(argv, log)

    def publish(self, host_port, port):
        self.lab.kit.publish(host_port, self.container.address, port)


class Sockhop(Plain):
    """`ports`: as `sockhop register -p` takes them; they must be told before the start.

    `profile`: options of `sockhop profile apply`.
    """

    name = "sockhop"

    def __init__(self, lab, flavour, name=None, ports=(), register=(), profile=(),
                 **options):
        self.lab = lab
        self.network = lab.network if flavour == "own" else None
        name = name or f"sockhop-{flavour}"
        self.container = Container(lab.kit, name, self.network, **options)
        lab.daemon.apply_profile(self.container.config_path, *profile)
        if ports or register:
            lab.daemon.register(name, ports, *register)
        self.container.start()

    def entry(self):
        """What `sockhop ps --json` says of it."""
        return self.lab.daemon.containers().get(self.container.name, {})

    def hops(self):
        return self.lab.daemon.hops(self.container.name)

    def publish(self, host_port, port):
        self.lab.daemon.register(self.container.name, [f"{host_port}:{port}"])


class Lab:
    """`uplink`: "slirp4netns" (below RootlessKit) or "pasta" (without it; flavour shared only)."""

    def __init__(self, build_dir=None, ipv6=False, daemon_options=(), uplink="slirp4netns",
                 daemon_prefix=()):
        isolate()
        self.build_dir = build_dir or os.environ.get("SOCKHOP_BUILD", "build")
        self.bin = expose(f"{self.build_dir}/bin", "bin")
        self.ipv6, self.daemon_options, self.uplink = ipv6, daemon_options, uplink
        self.daemon_prefix = daemon_prefix
        self.machine = Machine()
        self._kit = self._network = self._daemon = None

    @property
    def kit(self):
        if self._kit is None:
            self._kit = Pasta() if self.uplink == "pasta" else RootlessKit(self.ipv6)
        return self._kit

    @property
    def network(self):
        self._network = self._network or Network(self.kit)
        return self._network

    @property
    def daemon(self):
        self._daemon = self._daemon or Daemon(self.bin, *self.daemon_options, prefix=self.daemon_prefix)
        return self._daemon

    def restart_daemon(self):
        """A new sockhopd in the place of one that ended or was killed."""
        self.daemon.close()
        self._daemon = Daemon(self.bin, *self.daemon_options, prefix=self.daemon_prefix)

    def arm(self, kind, flavour="own", **options):
        if kind == "host":
            return Host()
        return {"plain": Plain, "sockhop": Sockhop}[kind](self, flavour, **options)

    def arms(self, *names, flavour="own", **options):
        """Each arm in turn; `options` are the containers'."""
        for name in names:
            yield self.arm(name, flavour, **(options if name != "host" else {}))

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        if isinstance(error, (HarnessError, AssertionError)) and self._daemon:
            print(f"--- sockhopd's log\n{tail(self._daemon.log)}")
        for part in (self._daemon, self._kit):
            if part:
                part.close()
        self.machine.close()
