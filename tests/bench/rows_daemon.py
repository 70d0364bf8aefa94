"""Rows about what sockhop itself uses."""

from bench import processes
from bench.model import Row
from bench.rows_stream import iperf

BYTES = 10 * 2**30


def cpu(turn):
    """CPU seconds of all our processes while 10 GiB pass."""
    before = processes.cpu_seconds(processes.family(turn.arm.daemon.process.pid))
    end = iperf(turn, "--bytes", BYTES)
    after = processes.cpu_seconds(processes.family(turn.arm.daemon.process.pid))
    return (after - before) * BYTES / end["sum_received"]["bytes"]


def rss(turn):
    family = processes.family(turn.arm.daemon.process.pid)
    daemons = [pid for pid in family if processes.name_of(pid) != "sockhop-session"]
    sessions = [pid for pid in family if pid not in daemons]
    return {"": sum(map(processes.resident_megabytes, daemons)),
            "session": processes.dirty_megabytes_of_a_session(sessions)}


ROWS = [
    Row("daemon.cpu", "s", "lower", "CPU seconds of all our processes per 10 GiB",
        ("sockhop",), cpu),
    Row("daemon.rss", "MB", "lower",
        "VmRSS of sockhopd + sockhop-control; .session: Private_Dirty of guard + engine",
        ("sockhop",), rss, repetitions=3),
]
