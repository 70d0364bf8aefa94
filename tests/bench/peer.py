"""The peer, bypass4netns, as nerdctl starts it for a container.

Its log goes nowhere: after the end of its container it writes megabytes a second.
"""

import os

from harness.process import as_user, runtime_dir, start, stop, wait_for

# What nerdctl since 1.7.3 notifies.
NOTIFIED = ["bind", "close", "connect", "setsockopt", "fcntl", "_exit", "exit_group",
            "getpeername"]


class Peer:
    def __init__(self, program, host_port, port):
        self.socket = f"{runtime_dir()}/bench-b4ns.sock"
        self.process = start(as_user([
            _reachable(program), "--socket", self.socket,
            "--com-socket", f"{runtime_dir()}/bench-b4ns-com.sock",
            "--pid-file", f"{runtime_dir()}/bench-b4ns.pid",
            "--ignore", "127.0.0.0/8,10.0.0.0/8", "--publish", f"{host_port}:{port}"]))
        wait_for(lambda: os.path.exists(self.socket), "bypass4netns", alive=self.process)

    def edit_config(self, config):
        seccomp = config["linux"]["seccomp"]
        for rule in seccomp["syscalls"]:
            rule["names"] = [name for name in rule["names"] if name not in NOTIFIED]
        kept = [rule for rule in seccomp["syscalls"] if rule["names"]]
        seccomp["syscalls"] = [{"names": NOTIFIED, "action": "SCMP_ACT_NOTIFY"}, *kept]
        seccomp["listenerPath"] = self.socket

    def close(self):
        stop(self.process, timeout=1)


def _reachable(program):
    """A copy that the test user may execute; the given path may lie where it may not look."""
    from shutil import copy
    from harness.isolate import RUN
    target = f"{RUN}/bypass4netns"
    copy(program, target)
    os.chmod(target, 0o755)
    return target
