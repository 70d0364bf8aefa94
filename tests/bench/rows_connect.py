"""Rows about connect(): the mean time of socket + connect + close."""

import json

from bench.model import Row

ARMS = ("host", "slirp", "pasta", "b4ns", "sockhop")
CROWD = ("--fds", 10000, "--sets", 4, "--entries", 100)


def cycle(turn, address, *options):
    argv = [turn.arm.program("bench_connect"), "--address", address,
            "--port", turn.world.connect_server(), "--ms", 500 if turn.quick else 1000, *options]
    return json.loads(turn.arm.run(argv).stdout)["mean_us"]


def warm(turn):
    return cycle(turn, turn.world.machine.address4)


def rtt(turn):
    return cycle(turn, turn.world.delayed_address())


def by_epoll(turn):
    return cycle(turn, turn.world.machine.address4, "--mode", "epoll")


def crowded(turn):
    return cycle(turn, turn.world.machine.address4, *(() if turn.label == "warm" else CROWD))


ROWS = [
    Row("connect.warm", "us", "lower", "socket + connect + close, blocking, no network delay",
        ARMS, warm),
    Row("connect.rtt", "us", "lower", "the same over a round trip of 0.5 ms", ARMS, rtt),
    Row("connect.10kfd", "us", "lower",
        "connect.warm in a process with 10,000 fds and 4 epoll sets of 100 (warm: without)",
        ("host", "warm", "sockhop"), crowded, within={"warm": "sockhop"}),
    Row("connect.epoll", "us", "lower", "non-blocking, in an epoll set before connect",
        ARMS, by_epoll),
]
