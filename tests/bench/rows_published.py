"""Rows about published ports: wrk on the other machine, nginx in the arm, 16 connections."""

import re

from harness.process import HarnessError

from bench.model import Row

ARMS = ("host", "rootlesskit", "pasta", "b4ns", "sockhop")


def requests_per_second(*options):
    def measure(turn):
        url = f"http://{turn.world.machine.host4}:{turn.arm.published()}/"
        done = turn.world.machine.run(["wrk", "--threads", 1, "--connections", 16, "--duration",
                                  "1s" if turn.quick else "2s", *options, url])
        if "Non-2xx" in done.stdout:
            raise HarnessError(f"wrk met errors:\n{done.stdout}")
        return float(re.search(r"Requests/sec:\s*([\d.]+)", done.stdout).group(1))
    return measure


ROWS = [
    Row("published.keepalive", "req/s", "higher", "wrk to a published nginx, 16 connections",
        ARMS, requests_per_second()),
    Row("published.close", "req/s", "higher", "the same, one request per connection",
        ARMS, requests_per_second("--header", "Connection: close")),
]
