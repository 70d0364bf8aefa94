"""Many small containers at once, each with one program that waits at a common gate.

    crowd = Crowd(lab.kit, lab.daemon, "load client 198.51.100.2 7000 20 blocking", [program.mount])
    crowd.start(50)
    crowd.open_gate()

They share one root file system and RootlessKit's own network, so that one takes a tenth of a
Container's time. A container ends with its program.
"""

import copy
import json
import os
from concurrent.futures import ThreadPoolExecutor

from .container import Container
from .isolate import RUN
from .process import HarnessError, start, tail, user_entry

GATE = "/mnt/gate"


class Crowd:
    def __init__(self, kit, daemon, command, mounts=(), name="crowd"):
        self.kit, self.name = kit, name
        self.gate = f"{RUN}/{name}-gate"
        os.mkdir(self.gate)
        os.mkfifo(f"{self.gate}/fifo")
        os.chown(f"{self.gate}/fifo", user_entry().pw_uid, user_entry().pw_gid)
        words = ["sh", "-c", f": <{GATE}/fifo; exec {command}"]
        pattern = Container(kit, f"{name}-pattern", mounts=[(self.gate, GATE), *mounts],
                            edit=lambda config: config["process"].update(args=words))
        daemon.apply_profile(pattern.config_path)
        with open(pattern.config_path) as file:
            self._config = json.load(file)
        self._config["root"]["path"] = f"{pattern.bundle}/rootfs"
        self.names = []

    def log(self, name):
        return f"{RUN}/{name}/log"

    def pid(self, name):
        """The first process of the container, as this test sees it."""
        with open(f"{RUN}/{name}/pid") as file:
            return int(file.read())

    def start(self, count):
        names = [f"{self.name}-{number}" for number in range(count)]
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(self._start_one, names))
        self.names += names

    def _start_one(self, name):
        bundle = f"{RUN}/{name}"
        os.mkdir(bundle)
        config = copy.deepcopy(self._config)
        config["hostname"] = name
        with open(f"{bundle}/config.json", "w") as file:
            json.dump(config, file)
        os.chown(bundle, user_entry().pw_uid, user_entry().pw_gid)
        running = start(self.kit.argv(["runc", "run", "--detach", "--no-new-keyring", "--pid-file",
                                       f"{bundle}/pid", "--bundle", bundle, name]), self.log(name))
        if running.wait(120) != 0:
            raise HarnessError(f"runc run {name}: {tail(self.log(name))}")

    def open_gate(self):
        """All begin; who waits has opened the FIFO, and is let through by its other end."""
        os.close(os.open(f"{self.gate}/fifo", os.O_WRONLY))
