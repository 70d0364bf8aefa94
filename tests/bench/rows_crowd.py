"""Rows about many processes and containers: fresh ones, parallel ones, blocked ones, hundreds."""

import json
from concurrent.futures import ThreadPoolExecutor

from harness.crowd import Crowd
from harness.process import HarnessError, run, tail, wait_for

from bench import processes
from bench.arms import network_of
from bench.model import Row

SUBORDINATE = 1000  # any uid of a container but its root's, which is the user of the host
CONTAINERS, PER_CONTAINER = 4, 2
BLOCKED = 200
PATIENCE = 60


def milliseconds(turn):
    return 500 if turn.quick else 1000


def to_machine(turn):
    return ["--address", turn.world.machine.address4, "--port", turn.world.connect_server()]


def cold(turn):
    uid = SUBORDINATE if turn.label == "subuid" else 0
    argv = [turn.arm.program("bench_cold"), *to_machine(turn), "--ms", milliseconds(turn),
            "--uid", uid]
    return json.loads(turn.arm.run(argv).stdout)["mean_us"]


def crew(turn):
    """The arm and as many others of its kind; the host is one, however often."""
    def make():
        return [turn.arm, *(turn.arm.another(number) for number in range(2, CONTAINERS + 1))]
    return turn.world.shared(f"crew of {turn.label}", make)


def cycles_of(text):
    return sum(json.loads(line)["cycles"] for line in text.splitlines())


def parallel(turn):
    """Connects of all processes in a second, the naps of bench_connect among them."""
    words = [turn.arm.program("bench_connect"), *to_machine(turn), "--ms", milliseconds(turn)]
    one = " ".join(map(str, words))
    script = " & ".join([one] * PER_CONTAINER) + " & wait"
    with ThreadPoolExecutor(CONTAINERS) as pool:
        said = pool.map(lambda arm: arm.run(["sh", "-c", script]).stdout, crew(turn))
        return sum(map(cycles_of, said)) * 1000 / milliseconds(turn)


class Blocked:
    """A container beside the measured one whose connects wait while this is entered."""

    def __init__(self, turn):
        self.world = turn.world
        self.arm = turn.world.shared("blocked", lambda: turn.arm.another("blocked"))
        self.port = turn.world.silent_port()

    def count(self):
        return len(run(["ss", "-Htn", "state", "syn-sent", "dst", self.world.machine.address4,
                        "and", "dport", "=", f":{self.port}"]).stdout.splitlines())

    def __enter__(self):
        hold = (f"{self.arm.program('bench_hold')} --address {self.world.machine.address4} "
                f"--port {self.port} --count {BLOCKED}")
        script = f"{hold} >/dev/null 2>&1 </dev/null & echo $!"
        self.pid = self.arm.run(["sh", "-c", script]).stdout.strip()
        wait_for(lambda: self.count() >= BLOCKED, f"{BLOCKED} blocked connects", timeout=PATIENCE)

    def __exit__(self, kind, error, trace):
        if error is None and self.count() < BLOCKED:
            raise HarnessError("the blocked connects ended while beside them was measured")
        self.arm.run(["kill", "-KILL", self.pid])
        wait_for(lambda: self.count() == 0, "end of the blocked connects", timeout=PATIENCE)


def p99(turn):
    argv = [turn.arm.program("bench_connect"), *to_machine(turn), "--ms", milliseconds(turn)]
    return json.loads(turn.arm.run(argv).stdout)["p99_us"]


def blocked(turn):
    if turn.label == "alone":
        return p99(turn)
    with Blocked(turn):
        return p99(turn)


def start_hundreds(turn):
    """Containers that have made connections, 100,000 and more all together, and now sleep."""
    count = 50 if turn.quick else 500
    connect = f"/opt/bench/bench_connect {' '.join(map(str, to_machine(turn)))} --ms 50"
    crowd = Crowd(network_of(turn.world)[0], turn.arm.daemon,
                  f"sh -c '{connect} && exec sleep infinity'", [(turn.world.programs, "/opt/bench")])
    crowd.start(count)
    crowd.open_gate()
    for name in crowd.names:
        wait_for(lambda n=name: "cycles" in tail(crowd.log(n)), f"connections of {name}: "
                 f"{tail(crowd.log(name))}", timeout=PATIENCE)
    return crowd


def rss_of_hundreds(turn):
    crowd = turn.world.shared("hundreds", lambda: start_hundreds(turn))
    family = processes.family(turn.arm.daemon.process.pid)
    sessions = [pid for pid in family if processes.name_of(pid) == "sockhop-session"]
    if len(sessions) < 2 * len(crowd.names):
        raise HarnessError(f"{len(sessions)} processes of {len(crowd.names)} sessions")
    return {"": sum(processes.resident_megabytes(pid) for pid in family if pid not in sessions),
            "session": processes.dirty_megabytes_of_a_session(sessions)}


ROWS = [
    Row("connect.cold", "us", "lower",
        "fork + exec + first connect of a fresh process (subuid: as another uid of the container)",
        ("host", "slirp", "sockhop", "subuid"), cold, within={"subuid": "sockhop"}),
    Row("connect.parallel", "1/s", "higher", "connects of 8 processes in 4 containers",
        ("host", "slirp", "sockhop"), parallel),
    Row("connect.blocked", "us", "lower",
        "99th percentile of connect.warm beside a container with 200 blocked connects",
        ("alone", "sockhop"), blocked, within={"alone": "sockhop"}),
]
# At the end of a full run: its containers stay until then.
HUNDREDS = [
    Row("daemon.rss.500", "MB", "lower",
        "daemon.rss with 500 containers more (--quick: 50); .session: the mean of all",
        ("sockhop",), rss_of_hundreds, repetitions=3),
]
