"""Connects and accepts that a timer interrupts every 200 us: what a signal does on a plain host."""

from harness import Lab, main
from harness.isolate import RUN, pure_cgroup2, require_programs
from harness.languages import go_program
from harness.load import end_server, figures_of, load_program, stop_server
from harness.oracle import hops_at_least, wait_for_injected
from harness.servers import serve

COUNT = 500
PORT = 7000


def killable(config):
    """Once a call is received, nothing but a deadly signal interrupts it; runc 1.1 refuses this."""
    config["linux"]["seccomp"]["flags"] = ["SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV"]


def connect_all(arm, lab, program, kind, signals, port):
    """COUNT connects of the arm under the timer; answers what they gave."""
    server = serve(lab.machine, [program.outside, "server", port, "epoll"], port)
    path = program.outside if arm.name == "host" else program.inside
    # A call that is interrupted before its socket hops goes on without it.
    with hops_at_least(arm, COUNT // 2):
        done = arm.run([path, "client", lab.machine.address4, port, COUNT, kind, "timer", signals])
    print(arm.name, done.stderr.strip())
    results = figures_of(done.stderr)
    stop_server(server, f"{RUN}/server-{port}.log", COUNT, results.get("ENOTCONN", 0))
    return set(results) - {"slowest_us"}


def check_connects(kind, signals):
    program = load_program()
    with Lab() as lab:
        arms = lab.arms("host", "plain", "sockhop", mounts=[program.mount])
        said = {arm.name: connect_all(arm, lab, program, kind, signals, PORT + number)
                for number, arm in enumerate(arms)}
        allowed = said["host"] | said["plain"] | {"ok"}
        # Without SA_RESTART a notified call can be interrupted where the kernel's own does not wait,
        # and before anybody has seen it: then nothing was begun (ENOTCONN).
        if signals == "norestart":
            allowed |= {"EINTR", "ENOTCONN"}
        assert said["sockhop"] <= allowed, said


def check_connects_killable(kind, signals):
    require_programs(["crun"])
    program = load_program()
    with Lab() as lab:
        pure_cgroup2()
        arm = lab.arm("sockhop", mounts=[program.mount], runtime="crun", edit=killable)
        said = connect_all(arm, lab, program, kind, signals, PORT)
        restart = signals == "restart"
        assert said <= {"ok", "EINPROGRESS"} | (set() if restart else {"EINTR", "ENOTCONN"}), said


def check_accepts(signals, count=100):
    program = load_program()
    with Lab() as lab:
        arm = lab.arm("sockhop", mounts=[program.mount],
                      ports=[f"{lab.machine.host_port()}:{PORT}"])
        server = serve(arm, [program.inside, "server", PORT, "blocking", "timer", signals], PORT)
        lab.machine.run([program.outside, "client", lab.machine.host4, lab.machine.host_port(),
                         count, "poll"])
        wait_for_injected(arm, count)
        counts = end_server(server, f"{RUN}/server-{PORT}.log")
        print(counts)
        assert counts["connections"] == counts["tokens"] == count, counts
        assert counts["twice"] == counts["silent"] == counts["failed"] == 0, counts
        assert signals == "norestart" or counts["interrupted"] == 0, counts


def test_blocking_connects_restarted():
    check_connects("blocking", "restart")


def test_blocking_connects_interrupted():
    check_connects("blocking", "norestart")


def test_epoll_connects_restarted():
    check_connects("epoll", "restart")


def test_epoll_connects_interrupted():
    check_connects("epoll", "norestart")


def test_killable_connects_restarted():
    check_connects_killable("blocking", "restart")


def test_killable_connects_interrupted():
    check_connects_killable("epoll", "norestart")


def test_accepts_restarted():
    check_accepts("restart")


def test_accepts_interrupted():
    check_accepts("norestart")


def test_long_accepts_interrupted():
    check_accepts("norestart", COUNT)


def test_go_connects():
    mounts, command = go_program("busy_client.go")
    program = load_program()
    with Lab() as lab:
        server = serve(lab.machine, [program.outside, "server", PORT, "epoll"], PORT)
        arm = lab.arm("sockhop", mounts=mounts)
        with hops_at_least(arm, COUNT):
            arm.run([*command, f"{lab.machine.address4}:{PORT}", COUNT])
        stop_server(server, f"{RUN}/server-{PORT}.log", COUNT)


if __name__ == "__main__":
    main(globals())
