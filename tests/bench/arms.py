"""The arms: ways to run the same program, each with the network of its kind.

An arm has `argv(argv)`, the command line that runs a program in it; `program(name)`, where a
measuring program lies in it; and `published()`, the host port at which the other machine reaches an
nginx in it. A container is started once and kept; repetitions run in it by the runtime's `exec`.
"""

import os
import shutil

from harness.container import Container, Network
from harness.daemon import Daemon
from harness.isolate import RUN, expose
from harness.process import HarnessError, as_user, run, start, stop, user_entry, wait_for
from harness.rootless import RootlessKit

from bench.kits import PastaKit
from bench.model import ArmUnavailable
from bench.peer import Peer

PORT_IN_CONTAINER = 80
OFFSETS = {"host": 0, "rootlesskit": 1, "pasta": 2, "b4ns": 3, "sockhop": 4}


def nginx_config(listen, folder):
    """One small answer from memory, so that a row measures connections and not nginx."""
    temporary = "\n".join(f"  {kind}_temp_path {folder}/{kind};" for kind in
                          ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    return f"""daemon off;
worker_processes 1;
pid {folder}/nginx.pid;
error_log /dev/null crit;
events {{ worker_connections 1024; }}
http {{
{temporary}
  access_log off;
  keepalive_requests 1000000000;
  server {{
    listen {listen} backlog=4096;
    location / {{ return 200 "a small answer\\n"; }}
  }}
}}
"""


class Arm:
    """What all arms share: nginx is started when its port is first asked for."""

    def __init__(self, world, name):
        self.world, self.name = world, name
        self._nginx = None

    def program(self, name):
        return f"/opt/bench/{name}"

    def run(self, argv, **options):
        return run(self.argv(argv), **options)

    def published(self):
        port = self.world.host_port(OFFSETS[self.name])
        if self._nginx is None:
            self._nginx = self._start_nginx(port)
            url = f"http://{self.world.machine.host4}:{port}/"
            wait_for(lambda: self.world.machine.run(["curl", "-sf", "-m", "2", url],
                                                    check=False).returncode == 0,
                     f"nginx of {self.name} at port {port}", alive=self._nginx)
        return port

    def close(self):
        stop(self._nginx)


class HostArm(Arm):
    """The same programs as ordinary processes of the user in the host's network namespace."""

    def __init__(self, world):
        super().__init__(world, "host")

    def argv(self, argv):
        return as_user(argv)

    def program(self, name):
        return f"{self.world.programs}/{name}"

    def _start_nginx(self, port):
        folder = f"{RUN}/nginx-host"
        os.mkdir(folder)
        os.chown(folder, user_entry().pw_uid, user_entry().pw_gid)
        with open(f"{folder}/nginx.conf", "w") as file:
            file.write(nginx_config(f"{self.world.machine.host4}:{port}", folder))
        return start(self.argv(["nginx", "-e", "/dev/null", "-c", f"{folder}/nginx.conf"]))


class ContainerArm(Arm):
    """Programs in a runc container; a subclass says what stands around it."""

    def __init__(self, world, name, container):
        super().__init__(world, name)
        self.container = container

    def argv(self, argv):
        return self.container.argv(argv)

    def _start_nginx(self, _port):
        self.container.write("/etc/bench-nginx.conf", nginx_config(PORT_IN_CONTAINER, "/tmp"))
        return self.container.popen(["nginx", "-e", "/dev/null", "-c", "/etc/bench-nginx.conf"])


def network_of(world):
    """RootlessKit with slirp4netns and a bridge in it, as an engine's default network has it."""
    kit = world.shared("rootlesskit", RootlessKit)
    return kit, world.shared("network", lambda: Network(kit))


def bench_container(world, name, edit=None):
    kit, network = network_of(world)
    return Container(kit, name, network, mounts=[(world.programs, "/opt/bench")], edit=edit)


class PlainArm(ContainerArm):
    """A container without sockhop; slirp, rootlesskit and nofilter are views of this one."""

    def __init__(self, world, name):
        container = world.shared("plain", lambda: bench_container(world, "bench-plain").start())
        super().__init__(world, name, container)

    def _start_nginx(self, port):
        nginx = super()._start_nginx(port)
        kit, _ = network_of(self.world)
        kit.publish(port, self.container.address, PORT_IN_CONTAINER)
        return nginx


class PastaArm(ContainerArm):
    """The container's namespaces are served by pasta; there is no RootlessKit."""

    def __init__(self, world):
        if not shutil.which("pasta"):
            raise ArmUnavailable("pasta is not installed (package passt)")
        self.kit = PastaKit(world.host_port(OFFSETS["pasta"]), PORT_IN_CONTAINER)
        container = Container(self.kit, "bench-pasta", network=None,
                              mounts=[(world.programs, "/opt/bench")])
        super().__init__(world, "pasta", container.start())

    def close(self):
        super().close()
        self.container.kill()
        self.kit.close()


class PeerArm(ContainerArm):
    """bypass4netns, with the notify list that nerdctl gives it."""

    def __init__(self, world):
        program = os.environ.get("BYPASS4NETNS")
        if not program:
            raise ArmUnavailable("BYPASS4NETNS=/path/to/bypass4netns is not set")
        self.peer = Peer(program, world.host_port(OFFSETS["b4ns"]), PORT_IN_CONTAINER)
        container = bench_container(world, "bench-b4ns", edit=self.peer.edit_config)
        super().__init__(world, "b4ns", container.start())

    def close(self):
        # In this order and at once: without a container it logs megabytes a second.
        super().close()
        self.container.kill()
        self.peer.close()


class SockhopArm(ContainerArm):
    """The same container with our rules, registered with a sockhopd of default settings."""

    def __init__(self, world):
        programs = expose(os.path.join(world.build_dir, "bin"), "bin")
        self.daemon = world.shared("sockhopd", lambda: Daemon(programs))
        container = bench_container(world, "bench-sockhop")
        self.daemon.apply_profile(container.config_path)
        port = world.host_port(OFFSETS["sockhop"])
        self.daemon.register(container.name, [f"{port}:{PORT_IN_CONTAINER}"])
        super().__init__(world, "sockhop", container.start())
        self._check_that_it_hops()

    def _check_that_it_hops(self):
        """Figures of connections that stayed would be slirp4netns' under our name."""
        before = self.daemon.hops(self.container.name)
        self.run([self.program("bench_connect"), "--address", self.world.machine.address4,
                  "--port", self.world.connect_server(), "--ms", "50"])
        if self.daemon.hops(self.container.name) == before:
            raise HarnessError("connections of the container did not hop: see `sockhop ps`")

    def close(self):
        super().close()
        self.container.kill()


ARMS = {
    "host": HostArm,
    "slirp": lambda world: PlainArm(world, "slirp"),
    "rootlesskit": lambda world: PlainArm(world, "rootlesskit"),
    "nofilter": lambda world: PlainArm(world, "nofilter"),
    "pasta": PastaArm,
    "b4ns": PeerArm,
    "sockhop": SockhopArm,
}
