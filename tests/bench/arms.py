"""The arms: ways to run the same program, each with the network of its kind.

An arm has `run(argv)`, which runs a program in it to the end; `program(name)`, where a measuring
program lies in it; and `published()`, the host port at which the other machine reaches an nginx in
it. A container is started once and kept; repetitions run in it by its agent.
"""

import inspect
import os
import shutil

from harness.container import Container, Network
from harness.daemon import Daemon
from harness.isolate import RUN, expose
from harness.process import (HarnessError, as_user, run, start, user_entry, wait_for,
                             write_file)
from harness.rootless import RootlessKit

from bench import agent
from bench.agent import Agent
from bench.kits import PastaKit
from bench.model import ArmUnavailable
from bench.peer import Peer

PORT_IN_CONTAINER = 80
OWN_ADDRESS = """
import socket, struct, sys
with socket.create_connection((sys.argv[1], int(sys.argv[2])), timeout=5) as connection:
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    print(connection.getsockname()[0])
"""
UDP_CONNECT = """
import socket, sys
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
    probe.connect((sys.argv[1], 9))
"""
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
        self._serving = False

    def program(self, name):
        return f"/opt/bench/{name}"

    def published(self):
        port = self.world.host_port(OFFSETS[self.name])
        if not self._serving:
            self._start_nginx(port)
            url = f"http://{self.world.machine.host4}:{port}/"
            wait_for(lambda: self.world.machine.run(["curl", "-sf", "-m", "2", url],
                                                    check=False).returncode == 0,
                     f"nginx of {self.name} at port {port}")
            self._serving = True
        return port

    def close(self):
        """Ends what this arm alone stands on; the rest ends with the run's pid namespace."""


class HostArm(Arm):
    """The same programs as ordinary processes of the user in the host's network namespace."""

    def __init__(self, world):
        super().__init__(world, "host")

    def another(self, _name):
        return self

    @staticmethod
    def run(argv, timeout=60):
        return run(as_user(argv), timeout=timeout)

    def program(self, name):
        return f"{self.world.programs}/{name}"

    def _start_nginx(self, port):
        folder = f"{RUN}/nginx-host"
        os.mkdir(folder)
        os.chown(folder, user_entry().pw_uid, user_entry().pw_gid)
        with open(f"{folder}/nginx.conf", "w") as file:
            file.write(nginx_config(f"{self.world.machine.host4}:{port}", folder))
        start(as_user(["nginx", "-e", "/dev/null", "-c", f"{folder}/nginx.conf"]))


class ContainerArm(Arm):
    """Programs in a runc container; a subclass says what stands around it."""

    def __init__(self, world, name, container):
        super().__init__(world, name)
        self.container = container
        self.agent = Agent(f"{container.bundle}/rootfs")
        self.agent.wait()

    def run(self, argv, timeout=60):
        done = self.agent.run(argv, timeout)
        if done.returncode != 0:
            raise HarnessError(f"{done.args[0]} in {self.container.name}: exit {done.returncode}\n"
                               f"{done.stdout[-2000:]}{done.stderr[-2000:]}")
        return done

    def own_address(self):
        """The address that a connection from here to the other machine says it has."""
        port = self.world.connect_server()
        return self.run(["python3", "-c", OWN_ADDRESS, self.world.machine.address4, port]).stdout

    def _start_nginx(self, _port):
        self.container.write("/etc/bench-nginx.conf", nginx_config(PORT_IN_CONTAINER, "/tmp"))
        self.agent.start(["nginx", "-e", "/dev/null", "-c", "/etc/bench-nginx.conf"])


def network_of(world):
    """RootlessKit with slirp4netns and a bridge in it, as an engine's default network has it."""
    kit = world.shared("rootlesskit", RootlessKit)
    return kit, world.shared("network", lambda: Network(kit))


def container_with_agent(world, kit, name, network, edit=lambda config: None):
    def edit_all(config):
        config["process"]["args"] = agent.ARGV
        edit(config)

    container = Container(kit, name, network, mounts=[(world.programs, "/opt/bench")],
                          edit=edit_all)
    container.write(agent.SOURCE, inspect.getsource(agent))
    return container


def bench_container(world, name, **options):
    kit, network = network_of(world)
    return container_with_agent(world, kit, name, network, **options)


def daemon_programs(world):
    return expose(os.path.join(world.build_dir, "bin"), "bin")


def sockhop_container(world, daemon, name, ports=()):
    container = bench_container(world, name)
    daemon.apply_profile(container.config_path)
    if ports:
        daemon.register(name, ports)
    return container.start()


class PlainArm(ContainerArm):
    """A container without sockhop; slirp, rootlesskit and nofilter are views of this one."""

    def __init__(self, world, name):
        container = world.shared("plain", lambda: bench_container(world, "bench-plain").start())
        super().__init__(world, name, container)

    def another(self, name):
        container = bench_container(self.world, f"bench-plain-{name}").start()
        return ContainerArm(self.world, self.name, container)

    def _start_nginx(self, port):
        super()._start_nginx(port)
        kit, _ = network_of(self.world)
        kit.publish(port, self.container.address, PORT_IN_CONTAINER)


class PastaArm(ContainerArm):
    """The container's namespaces are served by pasta; there is no RootlessKit."""

    def __init__(self, world):
        if not shutil.which("pasta"):
            raise ArmUnavailable("pasta is not installed (package passt)")
        self.kit = PastaKit(world.host_port(OFFSETS["pasta"]), PORT_IN_CONTAINER)
        container = container_with_agent(world, self.kit, "bench-pasta", network=None)
        super().__init__(world, "pasta", container.start())

    def close(self):
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
        if self.own_address().strip() != world.machine.host4:
            raise HarnessError("bypass4netns did not take the container's connection over")

    def close(self):
        # In this order and at once: without a container it logs megabytes a second.
        self.container.kill()
        self.peer.close()


class SockhopArm(ContainerArm):
    """The same container with our rules, registered with a sockhopd of default settings."""

    def __init__(self, world):
        self.daemon = world.shared("sockhopd", lambda: Daemon(daemon_programs(world)))
        port = world.host_port(OFFSETS["sockhop"])
        container = sockhop_container(world, self.daemon, "bench-sockhop",
                                      [f"{port}:{PORT_IN_CONTAINER}"])
        super().__init__(world, "sockhop", container)
        self._check_that_it_hops()

    def another(self, name):
        container = sockhop_container(self.world, self.daemon, f"bench-sockhop-{name}")
        return ContainerArm(self.world, self.name, container)

    def _check_that_it_hops(self):
        """Figures of connections that stayed would be slirp4netns' under our name."""
        before = self.daemon.hops(self.container.name)
        self.run([self.program("bench_connect"), "--address", self.world.machine.address4,
                  "--port", self.world.connect_server(), "--ms", "50"])
        if self.daemon.hops(self.container.name) == before:
            raise HarnessError("connections of the container did not hop: see `sockhop ps`")

    def close(self):
        self.container.kill()


class UdpHopArm(ContainerArm):
    """A container of a second sockhopd, whose policy lets connected UDP hop."""

    def __init__(self, world):
        directory = f"{RUN}/udphop"
        os.mkdir(directory, 0o700)
        os.chown(directory, user_entry().pw_uid, user_entry().pw_gid)
        write_file(f"{RUN}/udphop.toml", 'udp = "hop"\n')
        self.daemon = Daemon(daemon_programs(world), "--config", f"{RUN}/udphop.toml",
                             directory=directory)
        container = sockhop_container(world, self.daemon, "bench-udphop")
        super().__init__(world, "udphop", container)
        before = self.daemon.hops(container.name)
        self.run(["python3", "-c", UDP_CONNECT, world.machine.address4])
        if self.daemon.hops(container.name) == before:
            raise HarnessError("a connected UDP socket of the container did not hop")

    def close(self):
        self.container.kill()
        self.daemon.close()


ARMS = {
    "host": HostArm,
    "slirp": lambda world: PlainArm(world, "slirp"),
    "rootlesskit": lambda world: PlainArm(world, "rootlesskit"),
    "nofilter": lambda world: PlainArm(world, "nofilter"),
    "pasta": PastaArm,
    "b4ns": PeerArm,
    "sockhop": SockhopArm,
    "udphop": UdpHopArm,
}
