"""Beginnings and ends: of containers, of sockhopd, of an engine under load."""

import os
import signal

from harness import Lab, main, wait_for
from harness.isolate import RUN, expose
from harness.oracle import hops_at_least, injected, wait_for_injected
from harness.process import tail, write_file
from harness.servers import http_server, serve

PORT = 7000
ECHO = """
import socket, sys
with socket.create_server(("", int(sys.argv[1]))) as server:
    connection, _ = server.accept()
    while data := connection.recv(100):
        connection.sendall(data)
"""
ECHO_CLIENT = """
import os, socket, sys, time
with socket.create_connection((sys.argv[1], int(sys.argv[2]))) as connection:
    while not os.path.exists("/tmp/stop"):
        connection.sendall(b"x")
        assert connection.recv(1) == b"x"
        print(end=".")
        time.sleep(0.01)
"""


def fetch(lab, arm):
    url = f"http://{lab.machine.address4}:8000/"
    assert "hello" in arm.run(["curl", "-sS", "-m", "10", url]).stdout


def alive(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def status(pid, key):
    with open(f"/proc/{pid}/status") as file:
        return next(line.split()[1] for line in file if line.startswith(f"{key}:"))


def pids_of(program):
    """Living processes of a program in this test's pid namespace."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            if os.path.basename(os.readlink(f"/proc/{name}/exe")) == program and alive(name):
                found.append(int(name))
        except OSError:
            continue
    return found


def test_container_end_leaves_nothing():
    with Lab() as lab:
        http_server(lab.machine, 8000)
        daemon = lab.daemon
        before = len(os.listdir(f"/proc/{pids_of('sockhopd')[0]}/fd"))
        arm = lab.arm("sockhop", ports=[f"{lab.machine.host_port()}:80"])
        fetch(lab, arm)
        session = pids_of("sockhop-session")
        assert session, "a running container has a session"
        arm.container.kill()
        wait_for(lambda: not any(alive(pid) for pid in session), "end of the session")
        wait_for(lambda: arm.container.name not in daemon.containers(), "end of the listing")
        wait_for(lambda: len(os.listdir(f"/proc/{pids_of('sockhopd')[0]}/fd")) <= before,
                 "sockhopd's descriptors of the container to close")


def test_daemon_has_no_privilege():
    with Lab() as lab:
        lab.arm("sockhop")
        for program in ("sockhopd", "sockhop-control"):
            for pid in pids_of(program):
                assert status(pid, "CapEff") == "0" * 16, program
                assert status(pid, "Uid") != "0", program


def test_sessions_outlive_the_daemon():
    with Lab() as lab:
        http_server(lab.machine, 8000)
        arm = lab.arm("sockhop")
        running = arm.popen(["sh", "-c", "while curl -sS -m 10 -o /dev/null "
                             f"http://{lab.machine.address4}:8000/ && [ ! -e /tmp/stop ]; do :; "
                             "done; test -e /tmp/stop"])
        with hops_at_least(arm, 5):
            wait_for(lambda: arm.hops() >= 10, "ten hops")
            for program in ("sockhopd", "sockhop-control"):
                for pid in pids_of(program):
                    os.kill(pid, signal.SIGKILL)
            lab.restart_daemon()
            wait_for(lambda: arm.entry().get("running"), "the session to be found again")
        seen = arm.hops()
        wait_for(lambda: arm.hops() > seen, "hops after the restart")
        arm.container.write("/tmp/stop", "")
        assert running.wait(20) == 0, "a connection failed while sockhopd was away"


def test_published_ports_outlive_the_daemon():
    with Lab() as lab:
        port = lab.machine.host_port()
        arm = lab.arm("sockhop", ports=[f"{port}:80"])
        http_server(arm, 80)
        url = f"http://{lab.machine.host4}:{port}/"
        running = lab.machine.popen(["sh", "-c", f"while curl -sS -m 10 -o /dev/null {url} && "
                                     f"[ ! -e {RUN}/stop ]; do :; done; test -e {RUN}/stop"])
        wait_for_injected(arm, 10)
        for program in ("sockhopd", "sockhop-control"):
            for pid in pids_of(program):
                os.kill(pid, signal.SIGKILL)
        assert "hello" in lab.machine.run(["curl", "-sS", "-m", "10", url]).stdout
        lab.restart_daemon()
        wait_for(lambda: arm.entry().get("running"), "the session to be found again")
        seen = injected(arm)
        wait_for(lambda: injected(arm) > seen, "connections after the restart")
        with open(f"{RUN}/stop", "w"):
            pass
        assert running.wait(20) == 0, "a connection was refused while sockhopd was away"


def test_engine_killed_under_load():
    with Lab() as lab:
        programs = expose(f"{lab.build_dir}/examples", "examples")
        serve(lab.machine, [f"{programs}/connect_time", "serve", PORT], PORT)
        arm = lab.arm("sockhop", mounts=[(programs, "/mnt")])
        arm.run(["true"])
        load = arm.popen(["/mnt/connect_time", lab.machine.address4, PORT, "5"])
        for _ in range(20):
            engine = wait_for(lambda: int(arm.entry().get("engine_pid", 0)), "an engine")
            os.kill(engine, signal.SIGKILL)
            wait_for(lambda: int(arm.entry().get("engine_pid", 0)) not in (0, engine),
                     "the next engine")
        assert load.wait(30) == 0, "a connect failed"


def test_two_containers_do_not_share():
    with Lab() as lab:
        http_server(lab.machine, 8000)
        first = lab.arm("sockhop", name="first")
        second = lab.arm("sockhop", name="second")
        for arm in (first, second):
            with hops_at_least(arm, 1):
                fetch(lab, arm)
        first.container.kill()
        with hops_at_least(second, 1):
            fetch(lab, second)


def test_off_and_on():
    with Lab() as lab:
        http_server(lab.machine, 8000)
        arm = lab.arm("sockhop")
        lab.daemon.command("off", arm.container.name)
        before = arm.hops()
        fetch(lab, arm)
        assert arm.hops() == before
        lab.daemon.command("on", arm.container.name)
        with hops_at_least(arm, 1):
            fetch(lab, arm)


def test_sighup_counts_from_the_next_connect():
    config = f"{RUN}/sockhop.toml"
    with Lab(daemon_options=["--config", config]) as lab:
        write_file(config, "")
        http_server(lab.machine, 8000)
        serve(lab.machine, ["python3", "-c", ECHO, PORT], PORT)
        arm = lab.arm("sockhop")
        url = f"http://{lab.machine.address4}:8000/"
        log = f"{RUN}/echo.log"
        with hops_at_least(arm, 2):
            established = arm.popen(["python3", "-uc", ECHO_CLIENT, lab.machine.address4, PORT], log)
            wait_for(lambda: tail(log), "the first echo", alive=established)
            fetch(lab, arm)
        (daemon,) = pids_of("sockhopd")
        write_file(config, f'rules = ["deny {lab.machine.address4}/32:8000"]')
        os.kill(daemon, signal.SIGHUP)
        wait_for(lambda: arm.run(["curl", "-sS", "-m", "10", url], check=False).returncode == 7,
                 "the next connect to be denied")
        write_file(config, "")
        os.kill(daemon, signal.SIGHUP)
        wait_for(lambda: arm.run(["curl", "-sS", "-m", "10", url], check=False).returncode == 0,
                 "the rule to be forgotten")
        seen = len(tail(log, 1 << 20))
        wait_for(lambda: len(tail(log, 1 << 20)) > seen, "echoes afterwards", alive=established)
        arm.container.write("/tmp/stop", "")
        assert established.wait(20) == 0, tail(log)


def test_explain():
    with Lab() as lab:
        arm = lab.arm("sockhop")
        cases = ((f"{lab.machine.address4}:80", "hop"), ("127.0.0.1:80", "stay"),
                 ("10.88.0.1:80", "stay"))
        for destination, verdict in cases:
            said = lab.daemon.command("explain", arm.container.name, destination).stdout
            assert verdict in said, said


if __name__ == "__main__":
    main(globals())
