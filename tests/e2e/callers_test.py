"""Lives of containers, callers and their calls: starts, execs, stops, traces, many connections."""

import os
import signal
import subprocess
import sys
import threading

from harness import HarnessError, Lab, main, wait_for
from harness.cases import PORT, echo_server
from harness.container import Container
from harness.isolate import RUN
from harness.languages import INSIDE, PROGRAMS, programs_mount
from harness.load import figures_of, load_program, stop_server
from harness.oracle import hops_at_least, wait_for_injected
from harness.process import tail
from harness.servers import http_server, serve

COUNT = 400


def descriptors(pid):
    return len(os.listdir(f"/proc/{pid}/fd"))


def processes(name):
    """Pids of a program in this test's pid namespace."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/stat") as file:
                program, rest = file.read().split("(", 1)[1].rsplit(")", 1)
        except OSError:
            continue
        if program == name and rest.split()[0] not in "ZX":
            found.append(int(pid))
    return found


def disturbed_clients(disturb, signals="restart"):
    """COUNT connections of four threads under a timer, while `disturb(pid, client)` does its worst."""
    program = load_program()
    with Lab() as lab:
        server = serve(lab.machine, [program.outside, "server", PORT, "epoll"], PORT)
        arm = lab.arm("sockhop", mounts=[program.mount])
        log = f"{RUN}/client.log"
        with hops_at_least(arm, COUNT // 2):
            client = arm.popen([program.inside, "client", lab.machine.address4, PORT, COUNT,
                                "blocking", "timer", signals], log)
            pid = wait_for(lambda: processes("load")[1:], "the client", alive=client)[-1]
            disturb(pid, client)
            assert client.wait(60) == 0, tail(log, 500).lstrip(".")
        given_up = figures_of(tail(log)).get("ENOTCONN", 0)
        stop_server(server, f"{RUN}/server-{PORT}.log", COUNT, given_up)


def test_stopped_and_continued():
    def disturb(pid, client):
        for _ in range(40):
            for number in (signal.SIGSTOP, signal.SIGCONT):
                try:
                    os.kill(pid, number)
                except ProcessLookupError:
                    return
                if number == signal.SIGSTOP:
                    wait_for(lambda: stopped(pid), "the stop")
    disturbed_clients(disturb)


def stopped(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rsplit(")", 1)[1].split()[0] in "TtZX"
    except OSError:
        return True


def test_long_traced():
    def disturb(pid, _):
        # It waits until it is traced; else it may have ended by then.
        os.kill(pid, signal.SIGSTOP)
        tracer = subprocess.Popen([sys.executable, f"{PROGRAMS}/trace.py", str(pid)], text=True,
                                  stdout=subprocess.PIPE)
        assert tracer.stdout.readline() == "tracing\n"
        os.kill(pid, signal.SIGCONT)
        stops = int(tracer.communicate(timeout=100)[0])
        assert stops > COUNT, stops
    disturbed_clients(disturb)


def test_start_without_sockhopd():
    """The runtime says so at once, and the container starts when sockhopd is back."""
    with Lab() as lab:
        container = Container(lab.kit, "early", None)
        lab.daemon.apply_profile(container.config_path)
        lab.daemon.close()
        try:
            container.start()
        except HarnessError as error:
            assert "hangs" not in str(error) and "seccomp.sock" in str(error), error
        else:
            raise AssertionError("a container with sockhop's rules runs without sockhopd")
        container.kill()
        lab.restart_daemon()
        later = lab.arm("sockhop", flavour="shared")
        assert later.run(["echo", "alive"]).stdout == "alive\n"


def test_many_starts_at_once():
    with Lab() as lab:
        http_server(lab.machine, 8000)
        containers = [Container(lab.kit, f"one{number}", None) for number in range(6)]
        for container in containers:
            lab.daemon.apply_profile(container.config_path)
        threads = [threading.Thread(target=container.start) for container in containers]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        for container in containers:
            container.run(["curl", "-sS", "-m", "10", f"http://{lab.machine.address4}:8000/"])
        listed = lab.daemon.containers()
        assert [int(listed[one.name]["hops"]) for one in containers] == [1] * 6, listed


def test_daemon_that_exec_left_behind():
    """It forks twice, the exec that brought it ends, its own notify fd serves it on."""
    script = ("setsid sh -c 'while [ ! -e /tmp/go ]; do sleep 0.05; done; "
              "curl -sS -m 10 -o /tmp/got {0} ; mv /tmp/got /tmp/done' >/dev/null 2>&1 & exit 0")
    with Lab() as lab:
        http_server(lab.machine, 8000)
        arm = lab.arm("sockhop")
        url = f"http://{lab.machine.address4}:8000/"
        arm.run(["sh", "-c", script.format(url)])
        arm.run(["true"])
        with hops_at_least(arm, 1):
            arm.container.write("/tmp/go", "")
            done = f"{arm.container.bundle}/rootfs/tmp/done"
            wait_for(lambda: os.path.exists(done), "the daemon's answer", timeout=20)
        with open(done) as file:
            assert "hello" in file.read()


def check_exec_cycles(count):
    with Lab() as lab:
        arm = lab.arm("sockhop")
        arm.run(["true"])
        keeper, guard = processes("sockhopd")[0], int(arm.entry()["guard_pid"])
        wait_for(lambda: arm.entry().get("notify_fds") == 1, "the first exec to go")
        before = descriptors(keeper), descriptors(guard)
        for _ in range(count):
            arm.run(["true"])
        wait_for(lambda: arm.entry().get("notify_fds") == 1, "notify fds of ended execs to close")
        wait_for(lambda: descriptors(keeper) <= before[0] and descriptors(guard) <= before[1],
                 f"descriptors {before}")
        assert len(processes("sockhop-session")) == 2, "one session, one process pair"


def test_exec_cycles():
    check_exec_cycles(20)


def test_long_exec_cycles():
    check_exec_cycles(1000)


def check_many_connections(held, cycles):
    """sockhopd may open 256 files; that is no limit for its containers."""
    with Lab(daemon_prefix=["prlimit", "--nofile=256:256"]) as lab:
        pid = lab.daemon.process.pid
        with open(f"/proc/{pid}/limits") as file:
            assert " 256 256 files" in " ".join(file.read().split())
        echo_server(lab.machine)
        port = lab.machine.host_port()
        arm = lab.arm("sockhop", mounts=[programs_mount()], ports=[f"{port}:{PORT}"])
        echo_server(arm)
        guard = int(arm.entry()["guard_pid"])
        hold = f"{INSIDE}/hold.py"

        def holders():
            """Connections out and in, and what they say at the end."""
            out = subprocess.Popen(arm.argv(["python3", hold, "hold", lab.machine.address4, PORT, held]),
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            into = subprocess.Popen(
                lab.machine.argv([sys.executable, f"{PROGRAMS}/hold.py", "hold", lab.machine.host4,
                                  str(port), str(held)]),
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            return out, into
        arm.run(["python3", hold, "cycle", lab.machine.address4, PORT, 50])
        before = descriptors(pid), descriptors(guard)
        with hops_at_least(arm, held):
            pair = holders()
            assert [one.stdout.readline() for one in pair] == [f"{held}\n"] * 2
            wait_for_injected(arm, held)
            # Not one of them costs the session a descriptor.
            assert descriptors(guard) <= before[1] + 8, (before, descriptors(guard))
        for one in pair:
            one.stdin.close()
            assert one.wait(60) == 0
        with hops_at_least(arm, cycles):
            said = arm.run(["python3", hold, "cycle", lab.machine.address4, PORT, cycles], timeout=600)
        assert said.stdout == f"{cycles}\n", said
        wait_for(lambda: descriptors(pid) <= before[0] and descriptors(guard) <= before[1] + 2,
                 f"descriptors {before}")
        left = lab.arm("host").run(["ss", "-Htn", "dst", lab.machine.address4]).stdout
        assert "FIN-WAIT-2" not in left and "CLOSE-WAIT" not in left, left


def test_many_connections():
    check_many_connections(600, 2000)


def test_long_many_connections():
    check_many_connections(5000, 100_000)


if __name__ == "__main__":
    main(globals())
