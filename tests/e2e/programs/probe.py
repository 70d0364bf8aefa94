"""Connects to each address of the command line and prints what came of it, as JSON.

An address is HOST PORT, or HOST%SCOPE PORT; an outcome is an errno name or "ok" with the namespace
cookie of the socket.
"""

import errno
import json
import socket
import sys

SO_NETNS_COOKIE = 71


def outcome(host, port):
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    name = (host, port)
    if family == socket.AF_INET6:
        host, _, scope = host.partition("%")
        name = (host, port, 0, int(scope or 0))
    with socket.socket(family) as probe:
        probe.settimeout(10)
        try:
            probe.connect(name)
        except TimeoutError:
            return {"result": "timeout"}
        except OSError as error:
            return {"result": errno.errorcode[error.errno]}
        cookie = probe.getsockopt(socket.SOL_SOCKET, SO_NETNS_COOKIE, 8)
        return {"result": "ok", "cookie": int.from_bytes(cookie, sys.byteorder),
                "peer": probe.getpeername()[0], "own": probe.getsockname()[0]}


words = sys.argv[1:]
print(json.dumps([outcome(host, int(port)) for host, port in zip(words[::2], words[1::2])]))
