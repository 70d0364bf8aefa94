"""Engines killed under load, again and again: no connection is lost, made twice or left hanging."""

import os
import signal
import statistics
import time

from harness import Lab, main, wait_for
from harness.isolate import RUN
from harness.load import figures, load_program, stop_server
from harness.oracle import hops_at_least, wait_for_injected
from harness.process import tail
from harness.servers import serve

PORT = 7000
CLIENT_THREADS = 4  # of programs/load.c


def engine_pid():
    """The session process whose parent is one; /proc is asked, the command line takes too long."""
    sessions = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            if os.path.basename(os.readlink(f"/proc/{name}/exe")) != "sockhop-session":
                continue
            with open(f"/proc/{name}/stat") as file:
                state, parent = file.read().rsplit(")", 1)[1].split()[:2]
        except OSError:
            continue
        if state != "Z":
            sessions[int(name)] = int(parent)
    return next((pid for pid, parent in sessions.items() if parent in sessions), None)


def kill_engine(client, log):
    """Answers the seconds from the kill until calls are answered again."""
    engine = wait_for(engine_pid, "an engine")
    # Connections of all threads may be past their connect already.
    due = os.stat(log).st_size + 2 * CLIENT_THREADS
    os.kill(engine, signal.SIGKILL)
    begin = time.monotonic()
    while os.stat(log).st_size < due and client.poll() is None and time.monotonic() < begin + 20:
        pass
    took = time.monotonic() - begin
    wait_for(lambda: engine_pid() not in (None, engine), "the next engine")
    return took


def run_clients(place, argv, count, kills):
    """COUNT connections while KILLS engines die, one after each COUNT / (KILLS + 1) of them."""
    log = f"{RUN}/clients-{time.monotonic_ns()}.log"
    client = place.popen(argv, log)
    pauses = []
    for kill in range(1, kills + 1):
        # One byte of the log per connection.
        due = count * kill // (kills + 1)
        wait_for(lambda: client.poll() is not None or os.stat(log).st_size >= due,
                 f"{due} connections", timeout=60)
        if client.poll() is not None:
            break
        pauses.append(1000 * kill_engine(client, log))
    status = client.wait(60)
    assert status == 0, f"a client failed: {tail(log, 500).lstrip('.')}"
    said = figures(log)
    print(f"{count} connections, {kills} engines killed: {said}, pause median "
          f"{statistics.median(pauses):.1f} ms, longest {max(pauses):.1f} ms")
    # A hang would be the patience of the program, 20 s; 1 s is the kernel's retry of a lost SYN.
    assert said["slowest_us"] < 5_000_000, said
    return said


def check_connects(count, kills, kinds=("blocking", "epoll", "poll")):
    program = load_program()
    with Lab() as lab:
        arm = lab.arm("sockhop", mounts=[program.mount])
        for number, kind in enumerate(kinds):
            port = PORT + number
            server = serve(lab.machine, [program.outside, "server", port, "epoll"], port)
            share = count // len(kinds)
            with hops_at_least(arm, share):
                run_clients(arm, [program.inside, "client", lab.machine.address4, port, share, kind],
                            share, kills // len(kinds))
            stop_server(server, f"{RUN}/server-{port}.log", share)


def check_accepts(count, kills, kinds=("blocking", "epoll")):
    program = load_program()
    with Lab() as lab:
        ports = [lab.machine.host_port(number) for number in range(len(kinds))]
        arm = lab.arm("sockhop", mounts=[program.mount],
                      ports=[f"{port}:{PORT + number}" for number, port in enumerate(ports)])
        for number, kind in enumerate(kinds):
            server = serve(arm, [program.inside, "server", PORT + number, kind], PORT + number)
            share = count // len(kinds)
            run_clients(lab.machine, [program.outside, "client", lab.machine.host4,
                                      ports[number], share, "poll"], share, kills // len(kinds))
            wait_for_injected(arm, share * (number + 1))
            stop_server(server, f"{RUN}/server-{PORT + number}.log", share)


def test_connects():
    check_connects(1_000, 21)


def test_accepts():
    check_accepts(1_000, 20)


def test_long_connects():
    check_connects(10_000, 201)


def test_long_accepts():
    check_accepts(10_000, 200)


if __name__ == "__main__":
    main(globals())
