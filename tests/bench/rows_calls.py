"""Row about calls that sockhop has no business with: they must cost what they cost without it."""

import json

from bench import stats
from bench.model import Row

CALLS = ("close", "fcntl", "setsockopt", "dup", "open", "fork_exit")


def plain_calls(turn):
    argv = [turn.arm.program("bench_calls"), "--ms", 900 if turn.quick else 1200]
    times = json.loads(turn.arm.run(argv).stdout)
    return {"": stats.geometric_mean([times[call] for call in CALLS]), **times}


ROWS = [
    Row("calls.plain", "ns", "lower", f"{', '.join(CALLS)}: geometric mean, and each",
        ("nofilter", "b4ns", "sockhop"), plain_calls),
]
