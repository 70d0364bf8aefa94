"""Rows about bytes: iperf3 from a container to the other machine and back."""

import json

from bench.model import Row

ARMS = ("host", "slirp", "pasta", "b4ns", "sockhop")


def iperf(turn, *options):
    """Runs iperf3 in the arm against the other machine; answers its report."""
    argv = ["iperf3", "--client", turn.world.machine.address4, "--port", turn.world.iperf_server(),
            "--json", *options]
    return json.loads(turn.arm.run(argv, timeout=300).stdout)["end"]


def stream(*options):
    def measure(turn):
        seconds = 1 if turn.quick else 2
        end = iperf(turn, "--time", seconds, *options)
        return end["sum_received"]["bits_per_second"] / 1e9
    return measure


ROWS = [
    Row("stream.out.1", "Gbit/s", "higher", "iperf3, container to the other machine",
        ARMS, stream()),
    Row("stream.out.8", "Gbit/s", "higher", "the same with 8 connections",
        ARMS, stream("--parallel", "8")),
    Row("stream.in.1", "Gbit/s", "higher", "iperf3 --reverse, other machine to container",
        ARMS, stream("--reverse")),
]
