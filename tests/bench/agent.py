"""Runs programs in a container for as long as it lives, without an `exec` for each.

This file is the first process of a bench container (main, at its end) and the way to talk to it
(Agent). An `exec` would bring one more notify fd; the peer spins for ever on the fd of an exec that
has ended, and would take its processor from every arm that runs after it.
"""

import json
import os
import socket
import subprocess
import sys
import time

SOCKET = "/run/bench-agent.sock"
SOURCE = "/opt/bench-agent.py"
ARGV = ["/usr/bin/python3", SOURCE]


class Agent:
    """The outside: `root` is the container's root directory as seen from the host."""

    def __init__(self, root):
        self.path = f"{root}{SOCKET}"

    def ask(self, request, timeout):
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(timeout)
            connection.connect(self.path)
            connection.sendall(json.dumps(request).encode())
            connection.shutdown(socket.SHUT_WR)
            return json.loads(_read_all(connection))

    def wait(self, timeout=15):
        """Until the agent answers; OSError if it does not in time."""
        end = time.monotonic() + timeout
        while True:
            try:
                return self.ask({"argv": ["true"]}, 2)
            except (OSError, ValueError):
                if time.monotonic() > end:
                    raise
                time.sleep(0.02)

    def run(self, argv, timeout=60):
        """Runs to the end; answers a CompletedProcess."""
        argv = [str(word) for word in argv]
        answer = self.ask({"argv": argv, "timeout": timeout}, timeout + 5)
        return subprocess.CompletedProcess(argv, answer["code"], answer["stdout"],
                                           answer["stderr"])

    def start(self, argv):
        """Starts a program that lives until the container ends."""
        self.ask({"argv": [str(word) for word in argv], "background": True}, 10)


def _read_all(connection):
    return b"".join(iter(lambda: connection.recv(65536), b""))


def answer_to(request):
    if request.get("background"):
        subprocess.Popen(request["argv"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                         stderr=subprocess.DEVNULL)
        return {}
    done = subprocess.run(request["argv"], stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, check=False, timeout=request.get("timeout"))
    return {"code": done.returncode, "stdout": done.stdout, "stderr": done.stderr}


def main():
    with socket.socket(socket.AF_UNIX) as listener:
        if os.path.exists(SOCKET):
            os.unlink(SOCKET)
        listener.bind(SOCKET)
        listener.listen()
        while True:
            connection, _ = listener.accept()
            with connection:
                try:
                    reply = answer_to(json.loads(_read_all(connection)))
                except (OSError, ValueError, subprocess.SubprocessError) as error:
                    reply = {"code": 127, "stdout": "", "stderr": str(error)}
                try:
                    connection.sendall(json.dumps(reply).encode())
                except OSError:
                    pass  # whoever asked has lost patience


if __name__ == "__main__":
    sys.exit(main())
