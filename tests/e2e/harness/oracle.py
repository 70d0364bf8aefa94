"""Did a connection hop? Asked of the daemon's counters and of the kernel's namespace cookies."""

import contextlib
import json
import socket
import sys

from .languages import INSIDE
from .process import wait_for

SO_NETNS_COOKIE = 71


def host_cookie():
    with socket.socket() as probe:
        cookie = probe.getsockopt(socket.SOL_SOCKET, SO_NETNS_COOKIE, 8)
    return int.from_bytes(cookie, sys.byteorder)


@contextlib.contextmanager
def hops_at_least(arm, count):
    """The block makes so many connections hop; an arm other than sockhop has no such duty."""
    if arm.name != "sockhop":
        yield
        return
    before = arm.hops()
    yield
    after = arm.hops()
    assert after - before >= count, \
        f"{after - before} hops, not {count}: {arm.lab.daemon.containers()}"


def probe(arm, destinations, **options):
    """Connects to each (host, port) from inside; answers probe.py's outcomes."""
    words = [str(word) for destination in destinations for word in destination]
    return json.loads(arm.run(["python3", f"{INSIDE}/probe.py", *words], **options).stdout)


def injected(arm):
    """Connections that the container got from its published ports."""
    entry = arm.lab.daemon.containers().get(arm.container.name, {})
    return sum(int(port.get("injected", 0)) for port in entry.get("ports", []))


def wait_for_injected(arm, count):
    """A counter may be told a moment after the connection was served."""
    wait_for(lambda: injected(arm) >= count, f"{count} injected connections")
