"""sockhopd as the test user, and its command line."""

import json
import os

from .isolate import RUN
from .process import HarnessError, as_user, run, runtime_dir, start, stop, tail, wait_for


class Daemon:
    """`prefix`: a command line that runs sockhopd, as prlimit does. `directory`: its
    XDG_RUNTIME_DIR; a user may run a second one in another."""

    def __init__(self, bin_dir, *options, prefix=(), directory=None):
        self.bin = bin_dir
        self.directory = directory or runtime_dir()
        self.log = f"{RUN}/sockhopd.log" if directory is None else f"{directory}.log"
        self.socket = f"{self.directory}/sockhop/seccomp.sock"
        if not os.access(f"{bin_dir}/sockhopd", os.X_OK):
            raise HarnessError("sockhopd is not built: run tests/run.sh, which builds it")
        self.process = start(self._as_user([*prefix, f"{bin_dir}/sockhopd", *options]), self.log)
        try:
            wait_for(self._answers, "sockhopd to answer", alive=self.process)
        except HarnessError as error:
            raise HarnessError(f"{error}\n{tail(self.log)}") from error

    def _as_user(self, argv):
        return as_user(["env", f"XDG_RUNTIME_DIR={self.directory}", *argv])

    def _answers(self):
        # The socket file alone may be that of a daemon that was killed.
        return os.path.exists(self.socket) and self.command("ps", check=False).returncode == 0

    def command(self, *args, check=True):
        """`sockhop ARGS...` as the user who runs the daemon."""
        return run(self._as_user([f"{self.bin}/sockhop", *args]), check=check)

    def apply_profile(self, config_path, *options):
        self.command("profile", "apply", config_path, "--in-place", "--listener", self.socket,
                     *options)

    def register(self, name, ports=(), *options):
        """`ports`: words as -p takes them, [IP:]HOST:CONT."""
        published = [word for port in ports for word in ("-p", port)]
        return self.command("register", name, *published, *options)

    def containers(self):
        """`sockhop ps --json`, by container id."""
        listed = json.loads(self.command("ps", "--json").stdout)
        if isinstance(listed, dict):
            listed = listed["containers"]
        return {entry["id"]: entry for entry in listed}

    def hops(self, name):
        # proto3's JSON writes 64-bit numbers as text, and leaves out what is zero.
        return int(self.containers().get(name, {}).get("hops", 0))

    def close(self):
        stop(self.process)
