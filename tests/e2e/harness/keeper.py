"""sockhopd with a fake session program and fake runtimes: joining and restarts without containers.

    with KeeperWorld() as world:
        container = world.container("web")
        world.wait_until(lambda: "web" in world.containers())
"""

import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile

from .isolate import isolate
from .process import Skip, run, start, stop, tail, wait_for

PROGRAMS = os.path.join(os.path.dirname(__file__), "..", "programs")


def pid_of_child(pid, depth):
    """The descendant `depth` levels below, each the only child of its parent."""
    for _ in range(depth):
        with open(f"/proc/{pid}/task/{pid}/children") as file:
            pid = int(file.read())
    return pid


class FakeContainer:
    """A process with a notify fd; `world.container()` also plays the runtime that brings it."""

    def __init__(self, name, own_namespaces=False, pid_namespace=False):
        self.name = name
        here, there = socket.socketpair()
        words = [sys.executable, f"{PROGRAMS}/notified.py", str(there.fileno())]
        if own_namespaces:
            words = ["unshare", "--net", "--mount", *words]
        if pid_namespace:
            # A shell stays its first process; the container is another one of it.
            words = ["unshare", "--pid", "--fork", "--kill-child", "sh", "-c", '"$@"; exit $?',
                     "sh", *words]
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True, pass_fds=[there.fileno()])
        there.close()
        here.settimeout(20)
        said, descriptors, _, _ = socket.recv_fds(here, 16, 1)
        here.close()
        self.notify = descriptors[0]
        self.inner_pid = int(said)  # as the container itself sees it
        self.pid = pid_of_child(self.process.pid, 2) if pid_namespace else self.process.pid

    def call(self):
        """Makes a call that is notified; its errno, or 0."""
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return int(self.process.stdout.readline())

    def state(self, pid=None, **extra):
        """The OCI container process state that a runtime sends."""
        pid = pid or self.pid
        return json.dumps({
            "ociVersion": "1.0.2-dev", "fds": ["seccompFd"], "pid": pid,
            "metadata": "", "state": {
                "ociVersion": "1.0.2-dev", "id": self.name, "status": "creating",
                "pid": pid, "bundle": "/", **extra}}).encode()

    def forget_notify_fd(self):
        if self.notify is not None:
            os.close(self.notify)
            self.notify = None

    def end(self):
        self.forget_notify_fd()
        self.process.stdin.close()
        self.process.wait(10)


class KeeperWorld:
    def __init__(self, *options, config=None):
        isolate()
        build = os.environ.get("SOCKHOP_BUILD", "build")
        self.dir = tempfile.mkdtemp(prefix="sockhop-keeper-")
        os.mkdir(f"{self.dir}/bin")
        programs = {name: f"{build}/bin/{name}" for name in ("sockhopd", "sockhop-control", "sockhop")}
        programs["sockhop-session"] = f"{build}/tests/bin/fake_session"
        for name, path in programs.items():
            if not os.access(path, os.X_OK):
                raise Skip(f"{path} is not built")
            shutil.copy(path, f"{self.dir}/bin/{name}")
        self.runtime = f"{self.dir}/run"
        os.mkdir(self.runtime, 0o700)
        self.config = f"{self.dir}/sockhop.toml"
        self.write_config(config or "")
        self.options = options
        self.log = f"{self.dir}/log"
        self.daemon = None
        self._containers = []

    def require_plain_build(self, why):
        with open(f"{self.dir}/bin/sockhopd", "rb") as file:
            if b"__asan_init" in file.read():
                raise Skip(f"built with a sanitizer, {why}")

    def path(self, name):
        return f"{self.runtime}/sockhop/{name}"

    def write_config(self, text):
        with open(self.config, "w") as file:
            file.write(text)

    def environment(self):
        return {"PATH": os.environ["PATH"], "XDG_RUNTIME_DIR": self.runtime}

    def start(self):
        self.daemon = start([f"{self.dir}/bin/sockhopd", "--config", self.config, *self.options],
                            self.log, env=self.environment())
        wait_for(self._answers, "sockhopd to answer", alive=self.daemon, timeout=20)
        return self

    def _answers(self):
        return self.sockhop("ps", check=False).returncode == 0

    def kill(self):
        self.daemon.kill()
        self.daemon.wait()

    def sockhop(self, *words, check=True):
        return run([f"{self.dir}/bin/sockhop", *words], check=check, env=self.environment())

    def containers(self):
        return {entry["id"]: entry for entry in json.loads(
            self.sockhop("ps", "--json").stdout)["containers"]}

    def logged(self):
        return tail(self.log, 100000)

    def pids(self, name):
        """Processes of this world's program `name`."""
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                if os.readlink(f"/proc/{pid}/exe") == f"{self.dir}/bin/{name}":
                    found.append(int(pid))
            except OSError:
                pass
        return found

    def connect(self):
        """A connection of a runtime to seccomp.sock."""
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        connection.connect(self.path("seccomp.sock"))
        return connection

    def bring(self, container, **extra):
        with self.connect() as connection:
            socket.send_fds(connection, [container.state(**extra)], [container.notify])
        container.forget_notify_fd()

    def replace_session(self, script):
        """`script` takes the place of sockhop-session."""
        path = f"{self.dir}/bin/sockhop-session"
        if os.path.exists(path):
            os.unlink(path)
        with open(path, "w") as file:
            file.write(f"#!/bin/sh\n{script}")
        os.chmod(path, 0o755)

    def container(self, name, own_namespaces=False):
        container = FakeContainer(name, own_namespaces)
        self._containers.append(container)
        self.bring(container)
        return container

    def running(self, name, **options):
        """A container whose session has started."""
        container = self.container(name, **options)
        self.wait_until(lambda: self.containers().get(name, {}).get("guard_pid", "0") != "0")
        return container

    def wait_until(self, condition, what="condition"):
        return wait_for(condition, what, timeout=20)

    def __enter__(self):
        return self.start()

    def __exit__(self, kind, error, trace):
        if error:
            print(f"--- sockhopd's log\n{self.logged()}")
        for container in self._containers:
            if container.process.poll() is None:
                container.end()
        stop(self.daemon)
        for pid in self.pids("sockhop-session"):
            os.kill(pid, signal.SIGKILL)
        shutil.rmtree(self.dir, ignore_errors=True)


def free_port():
    """Below the ports that the kernel gives to connections, where another test's would take it."""
    while True:
        port = random.randrange(10000, 20000)
        if not is_taken(port):
            return port


def is_taken(port):
    """Is the port bound on the host, by whomever?"""
    with socket.socket() as probe:
        try:
            probe.bind(("0.0.0.0", port))
            return False
        except OSError:
            return True
