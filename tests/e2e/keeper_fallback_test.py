"""What goes wrong between a runtime and a session must not break the container."""

import contextlib
import os
import resource
import shutil
import signal
import socket
import subprocess
import sys
import time

from harness import main, run
from harness.keeper import FakeContainer, KeeperWorld, free_port, is_taken

RUNTIME = """
import os, socket, sys
notify, path, state = int(sys.argv[1]), sys.argv[2], sys.argv[3]
connection = socket.socket(socket.AF_UNIX)
connection.connect(path)
socket.send_fds(connection, [state.encode()], [notify])
if sys.argv[4]:
    connection.recv(1)
"""

@contextlib.contextmanager
def freeze(world):
    """Within the block sockhopd does not run: a runtime comes and goes meanwhile."""
    world.daemon.send_signal(signal.SIGSTOP)
    yield
    world.daemon.send_signal(signal.SIGCONT)


def bring_from(world, container, prefix=(), pid=None, stay=False):
    """A runtime that `prefix` starts; it ends at once, or when sockhopd is done with it."""
    subprocess.run([*prefix, sys.executable, "-c", RUNTIME, str(container.notify),
                    world.path("seccomp.sock"), container.state(pid).decode(), "x" * stay],
                   check=True, timeout=20, pass_fds=[container.notify])
    container.forget_notify_fd()


def started(world, name):
    world.wait_until(lambda: world.containers().get(name, {}).get("guard_pid", "0") != "0")


def test_runtime_that_has_ended():
    with KeeperWorld() as world:
        container = FakeContainer("web", own_namespaces=True)
        with freeze(world):
            bring_from(world, container)
        started(world, "web")
        assert world.logged() == "", world.logged()
        inside = ["nsenter", "-t", str(container.process.pid), "-m"]
        refused = run([*inside, "env", f"XDG_RUNTIME_DIR={world.runtime}",
                       f"{world.dir}/bin/sockhop", "ps"], check=False)
        assert refused.returncode == 3, "its processes are refused nevertheless"
        assert "web" in world.containers()
        container.end()


def test_process_of_a_container_that_has_ended_is_refused():
    with KeeperWorld() as world:
        container = world.running("web", own_namespaces=True)
        second = FakeContainer("evil")
        with freeze(world):
            bring_from(world, second, ["nsenter", "-t", str(container.process.pid), "-n"])
        world.wait_until(lambda: "is a process of a container" in world.logged())
        assert "evil" not in world.containers()
        second.end()


def test_runtime_that_has_ended_cannot_borrow_a_container():
    with KeeperWorld() as world:
        container = world.running("web", own_namespaces=True)
        for name, pid in (("evil", container.pid), ("web", None)):
            second = FakeContainer(name)
            with freeze(world):
                bring_from(world, second, pid=pid)
            world.wait_until(lambda said=f"is not a process of container {name}":
                             said in world.logged())
            second.end()
        assert list(world.containers()) == ["web"]
        assert world.containers()["web"]["notify_fds"] == 1


def check_pid_of_another_namespace(stay):
    with KeeperWorld() as world:
        container = FakeContainer("web", pid_namespace=True)
        assert container.inner_pid != container.pid
        runtime = ["nsenter", "-t", str(container.pid), "-p"]
        with contextlib.nullcontext() if stay else freeze(world):
            bring_from(world, container, runtime, container.inner_pid, stay)
        started(world, "web")
        # The fake session shows there which pid it was given.
        assert int(world.containers()["web"]["engine_pid"]) == container.pid, world.logged()
        container.end()


def test_pid_of_another_pid_namespace():
    check_pid_of_another_namespace(stay=True)


def test_pid_of_another_pid_namespace_whose_runtime_has_ended():
    check_pid_of_another_namespace(stay=False)


def test_session_that_cannot_start():
    port = free_port()
    with KeeperWorld() as world:
        world.replace_session(f"echo x >>{world.dir}/starts\nexit 1\n")
        world.sockhop("register", "web", "-p", f"{port}:80")
        container = world.container("web")
        assert container.call() == 0, "its calls run"
        assert len(open(f"{world.dir}/starts").readlines()) == 3, "tried again, bounded"
        assert "goes on as without sockhop" in world.logged(), world.logged()
        assert "restart the container" in world.logged()
        world.wait_until(lambda: not world.containers())
        assert not is_taken(port)
        # Nothing of it depends on sockhopd any longer.
        world.kill()
        assert container.call() == 0
        container.end()
        world.wait_until(lambda: not world.pids("sockhopd"), "the end of what let its calls run")
        world.start()


def test_missing_session_program():
    with KeeperWorld() as world:
        os.unlink(f"{world.dir}/bin/sockhop-session")
        container = world.container("web")
        assert container.call() == 0
        assert "install it there" in world.logged(), world.logged()
        container.end()


def test_second_attempt_has_everything():
    port = free_port()
    with KeeperWorld() as world:
        shutil.move(f"{world.dir}/bin/sockhop-session", f"{world.dir}/bin/real")
        world.replace_session(f"[ -e {world.dir}/second ] && exec {world.dir}/bin/real\n"
                              f"touch {world.dir}/second; exit 1\n")
        world.sockhop("register", "web", "-p", f"{port}:80")
        world.running("web")
        entry = world.containers()["web"]
        assert entry["registered"] and len(entry["ports"]) == 1, entry
        assert is_taken(port)
        for pid in world.pids("real"):
            os.kill(pid, signal.SIGKILL)


def cpu_seconds(pid):
    with open(f"/proc/{pid}/stat") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_no_descriptor_left_is_no_busy_loop():
    with KeeperWorld() as world:
        world.require_plain_build("which takes a descriptor to look at an object")
        used = len(os.listdir(f"/proc/{world.daemon.pid}/fd"))
        _, most = resource.prlimit(world.daemon.pid, resource.RLIMIT_NOFILE)
        resource.prlimit(world.daemon.pid, resource.RLIMIT_NOFILE, (used, most))
        before = cpu_seconds(world.daemon.pid)
        waiting = [world.connect() for _ in range(3)]
        world.wait_until(lambda: "connections wait" in world.logged())
        container = FakeContainer("web")
        connection = world.connect()
        socket.send_fds(connection, [container.state()], [container.notify])
        container.forget_notify_fd()
        time.sleep(1)  # the time in which a loop would show
        assert cpu_seconds(world.daemon.pid) - before < 0.3, "a busy loop"
        assert len(world.logged().splitlines()) == 1, world.logged()
        resource.prlimit(world.daemon.pid, resource.RLIMIT_NOFILE, (most, most))
        started(world, "web")
        for each in [*waiting, connection]:
            each.close()
        container.end()


if __name__ == "__main__":
    main(globals())
