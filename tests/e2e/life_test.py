"""Many containers, many processes, frozen and killed ones, blocked calls: each minds its own."""

import contextlib
import os
import signal

from harness import Lab, main, run, wait_for
from harness.cases import HELD, PORT, echo_server, silence
from harness.crowd import Crowd
from harness.isolate import RUN
from harness.load import figures, load_program
from harness.oracle import hops_at_least
from harness.process import tail

PATIENCE = 100  # a loaded machine
# A session starts threads that keep cores awake when many calls come: no count stays the same then.
STEADY = ["--without=awake-cores"]


def sessions():
    """(pid, descriptors, threads) of every process of a session."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if os.path.basename(os.readlink(f"/proc/{pid}/exe")) == "sockhop-session":
                found.append((pid, len(os.listdir(f"/proc/{pid}/fd")),
                              len(os.listdir(f"/proc/{pid}/task"))))
        except OSError:
            continue
    return found


def clients(program, address, count, kind="blocking"):
    return f"{program.inside} client {address} {PORT} {count} {kind}"


def check_crowd(containers, connections, killed):
    """All connect at once; some are killed meanwhile, the others miss nothing."""
    program = load_program()
    with Lab() as lab:
        echo_server(lab.machine)
        lab.daemon.command("ps")
        crowd = Crowd(lab.kit, lab.daemon, clients(program, lab.machine.address4, connections),
                      [program.mount])
        crowd.start(containers)
        # A runtime does not wait until sockhopd has taken up what it sent.
        wait_for(lambda: len(sessions()) == 2 * containers, "the sessions", timeout=PATIENCE)
        wait_for(lambda: len(lab.daemon.containers()) == containers, "the list", timeout=PATIENCE)
        crowd.open_gate()
        victims = crowd.names[:killed]
        for name in victims:
            wait_for(lambda n=name: os.path.getsize(crowd.log(n)) > 0, f"{name} to connect",
                     timeout=PATIENCE)
            os.kill(crowd.pid(name), signal.SIGKILL)
        for name in crowd.names[killed:]:
            wait_for(lambda n=name: "}" in tail(crowd.log(n), 200), f"{name} to end",
                     timeout=PATIENCE * (1 + containers // 100))
            assert figures(crowd.log(name))["ok"] == connections, tail(crowd.log(name), 500)
        wait_for(lambda: not sessions(), "end of the sessions", timeout=PATIENCE)
        wait_for(lambda: not lab.daemon.containers(), "end of the list")


def test_many_containers():
    check_crowd(50, 20, killed=5)


def test_long_many_containers():
    check_crowd(500, 40, killed=50)


def check_flat(rounds, connections):
    """Descriptors and threads of a session after many connections are those after some."""
    program = load_program()
    with Lab(daemon_options=STEADY) as lab:
        echo_server(lab.machine)
        arm = lab.arm("sockhop", mounts=[program.mount])
        words = clients(program, lab.machine.address4, connections, "epoll").split()
        seen = []
        for _ in range(rounds):
            with hops_at_least(arm, connections):
                arm.run(words, timeout=300)
            seen.append(wait_for_quiet())
        assert all(one == seen[0] for one in seen), seen


def wait_for_quiet():
    """What sessions hold once nothing changes: an exec that has ended is noticed a moment later."""
    def unchanged():
        before = sessions()
        run(["sleep", "0.5"])
        return before if before == sessions() else None
    return [(fds, threads) for _, fds, threads in wait_for(unchanged, "quiet")]


def test_descriptors_and_threads_are_flat():
    check_flat(3, 300)


def test_long_descriptors_and_threads_are_flat():
    check_flat(10, 10_000)


STORM = """
i=0
while [ $i -lt {execs} ]; do
  {client} >/dev/null 2>/tmp/storm || {{ cat /tmp/storm; exit 1; }}
  i=$((i + 1))
done
"""


def check_exec_storm(kind, execs):
    """New processes that connect at once: of the container's own, and by the runtime's exec."""
    program = load_program()
    with Lab(daemon_options=STEADY) as lab:
        echo_server(lab.machine)
        arm = lab.arm(kind, mounts=[program.mount])
        client = clients(program, lab.machine.address4, 4)
        arm.run(client.split())
        before = sessions()
        storm = STORM.format(execs=execs, client=client)
        with hops_at_least(arm, 4 * (3 * execs + 24)):
            inner = [arm.popen(["sh", "-c", storm], f"{RUN}/storm-{i}.log") for i in range(3)]
            outer = [arm.popen(client.split(), f"{RUN}/exec-{i}.log") for i in range(24)]
            for process in inner + outer:
                assert process.wait(PATIENCE) == 0, [tail(f"{RUN}/storm-{i}.log") for i in range(3)]
        # Every exec brought a notify fd; they are gone with it.
        wait_for(lambda: sessions() == before, f"{before}, not {sessions()}")


def test_exec_storm():
    check_exec_storm("sockhop", 40)


def test_exec_storm_without():
    check_exec_storm("plain", 40)


class Freezer:
    """A cgroup of version 2 for the processes of a container."""

    def __init__(self, lab, pids):
        mount = f"{RUN}/cgroup"
        os.mkdir(mount)
        run(["mount", "-t", "cgroup2", "none", mount])
        self.root = f"{mount}/cgroup.procs"
        # The slot is this test's alone: what has that name already is of one that was killed.
        self.path = f"{mount}/sockhop-frozen-{lab.machine.slot}"
        os.makedirs(self.path, exist_ok=True)
        self.thaw()
        for pid in pids:
            write(f"{self.path}/cgroup.procs", str(pid))

    def freeze(self):
        write(f"{self.path}/cgroup.freeze", "1")
        wait_for(lambda: "frozen 1" in read(f"{self.path}/cgroup.events"), "the freeze")

    def thaw(self):
        write(f"{self.path}/cgroup.freeze", "0")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.thaw()
        for pid in read(f"{self.path}/cgroup.procs").split():
            with contextlib.suppress(ProcessLookupError):
                write(self.root, pid)
        wait_for(lambda: "populated 0" in read(f"{self.path}/cgroup.events"), "an empty cgroup")
        os.rmdir(self.path)


def write(path, text):
    with open(path, "w") as file:
        file.write(text)


def read(path):
    with open(path) as file:
        return file.read()


def processes_beside(pid):
    """All of the pid namespace of `pid`."""
    found, namespace = [], os.readlink(f"/proc/{pid}/ns/pid")
    for other in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            if os.readlink(f"/proc/{other}/ns/pid") == namespace:
                found.append(other)
    return found


HOLD = """
import socket, sys, threading
done = []
def hold():
    with socket.socket() as one:
        one.connect((sys.argv[1], int(sys.argv[2])))
        done.append(one.getpeername())
threads = [threading.Thread(target=hold) for _ in range(int(sys.argv[3]))]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
sys.exit(len(done) != len(threads))
"""


def hold(lab, arm, count):
    """A program in the arm with `count` blocking connects to where nobody answers."""
    log = f"{RUN}/hold.log"
    process = arm.popen(["python3", "-c", HOLD, lab.machine.address4, str(HELD), str(count)], log)
    wait_for(lambda: blocked(lab) == count, f"{count} blocked connects, {blocked(lab)}, {tail(log)}",
             timeout=PATIENCE, alive=process)
    return process


def blocked(lab):
    """Sockets of the host that wait for the machine: ours, and slirp4netns' on behalf of others."""
    return len(run(["ss", "-Htn", "state", "syn-sent", "dst", lab.machine.address4, "and",
                    "dport", "=", f":{HELD}"]).stdout.splitlines())


def speak(lab, waiting):
    """The machine answers again: the kernel's next SYN brings every blocked connect to its end."""
    lab.machine.run(["nft", "delete", "table", "inet", "silent"])
    assert waiting.wait(PATIENCE) == 0, tail(f"{RUN}/hold.log")


def check_frozen(kind):
    """Frozen among its calls: another container goes on meanwhile, and it goes on afterwards."""
    program = load_program()
    with Lab() as lab:
        for port in (PORT, HELD):
            echo_server(lab.machine, port)
        silence(lab, HELD)
        frozen = lab.arm(kind, name="frozen", mounts=[program.mount])
        other = lab.arm(kind, name="other", mounts=[program.mount])
        waiting = hold(lab, frozen, 4)
        log = f"{RUN}/busy.log"
        busy = frozen.popen(clients(program, lab.machine.address4, 12000).split(), log)
        wait_for(lambda: os.path.getsize(log) > 50, "connections", alive=busy)
        with Freezer(lab, processes_beside(frozen.container.pid())) as freezer:
            for _ in range(3):
                freezer.freeze()
                size = os.path.getsize(log)
                with hops_at_least(other, 100):
                    other.run(clients(program, lab.machine.address4, 100).split())
                assert os.path.getsize(log) == size and busy.poll() is None, "it was not frozen"
                freezer.thaw()
                wait_for(lambda s=size: os.path.getsize(log) > s + 50, "connections again")
            assert busy.wait(PATIENCE) == 0, tail(log)
            assert waiting.poll() is None and blocked(lab) == 4
        speak(lab, waiting)


def test_frozen_container():
    check_frozen("sockhop")


def test_frozen_container_without():
    check_frozen("plain")


def check_blocked(kind, count=200):
    """Connects that wait, and another container whose connects do not wait for them."""
    program = load_program()
    with Lab() as lab:
        for port in (PORT, HELD):
            echo_server(lab.machine, port)
        silence(lab, HELD)
        options = {"mounts": [program.mount]}
        first, other = (lab.arm(kind, **({} if kind == "host" else {"name": name, **options}))
                        for name in ("blocked", "other"))
        with hops_at_least(first, count):
            waiting = hold(lab, first, count)
            inside = program.outside if kind == "host" else program.inside
            with hops_at_least(other, 500):
                other.run([inside, "client", lab.machine.address4, PORT, 500, "blocking"])
            assert blocked(lab) == count and waiting.poll() is None
            speak(lab, waiting)


def test_blocked_connects():
    check_blocked("sockhop")


def test_blocked_connects_without():
    check_blocked("plain")


def test_blocked_connects_of_the_host():
    check_blocked("host")


if __name__ == "__main__":
    main(globals())
