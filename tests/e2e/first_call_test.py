"""A container whose process nobody can name: its first notified call tells where it lives."""

import json
import os

from harness import Lab, main, wait_for
from harness.container import Container
from harness.isolate import expose
from harness.lab import Sockhop
from harness.oracle import hops_at_least, wait_for_injected
from harness.process import runtime_dir, start, tail
from harness.servers import http_server

PROGRAMS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs")
NOBODY = 4194303  # within the kernel's limit, and in no small pid namespace


class Nameless(Sockhop):
    """Its runtime's word comes from a nested pid namespace, with a pid that is nobody's there."""

    def __init__(self, lab, ports=()):
        self.lab, self.network = lab, lab.network
        self.container = Container(lab.kit, "nameless", lab.network)
        lab.daemon.apply_profile(self.container.config_path)
        path = f"{runtime_dir()}/hider.sock"
        log = f"{runtime_dir()}/hider.log"
        hider = start(lab.kit.argv(["unshare", "--pid", "--fork", "--kill-child", "python3",
                                    f"{expose(PROGRAMS, 'programs')}/pid_hider.py", path,
                                    lab.daemon.socket, NOBODY]), log)
        wait_for(lambda: os.path.exists(path), "the nested runtime", alive=hider)
        with open(self.container.config_path) as file:
            config = json.load(file)
        config["linux"]["seccomp"]["listenerPath"] = path
        with open(self.container.config_path, "w") as file:
            json.dump(config, file)
        if ports:
            lab.daemon.register("nameless", ports)
        self.container.start()


def fetch(lab, arm):
    url = f"http://{lab.machine.address4}:8000/"
    assert "hello" in arm.run(["curl", "-sS", "-m", "10", url]).stdout


def test_pid_of_nobody():
    with Lab() as lab:
        http_server(lab.machine, 8000)
        port = lab.machine.host_port()
        arm = Nameless(lab, [f"{port}:80"])
        entry = wait_for(lambda: arm.entry().get("guard_pid") and arm.entry(), "its session")
        assert entry["running"] and entry["hops"] == "0" and len(entry["ports"]) == 1, entry
        with hops_at_least(arm, 2):
            fetch(lab, arm)
            fetch(lab, arm)
        http_server(arm, 80)
        url = f"http://{lab.machine.host4}:{port}/"
        assert "hello" in lab.machine.run(["curl", "-sS", "-m", "10", url]).stdout
        wait_for_injected(arm, 1)
        log = tail(lab.daemon.log).splitlines()
        assert log and all("is found by its first call" in line for line in log), log
        inside = ["nsenter", "-t", arm.container.pid(), "-n", f"{lab.bin}/sockhop", "ps"]
        assert lab.kit.run(inside, check=False).returncode == 3, "its processes are not admitted"


def test_what_is_set_before_the_first_call():
    with Lab() as lab:
        http_server(lab.machine, 8000)
        arm = Nameless(lab)
        wait_for(lambda: arm.entry().get("guard_pid"), "its session")
        lab.daemon.command("off", "nameless")
        explained = lab.daemon.command("explain", "nameless", "198.51.100.1:80", check=False)
        assert "first makes a call" in explained.stderr, explained
        lab.restart_daemon()
        wait_for(lambda: arm.entry().get("running"), "the session to be found again")
        assert arm.entry()["accelerate"] is False
        fetch(lab, arm)
        assert arm.hops() == 0
        lab.daemon.command("on", "nameless")
        with hops_at_least(arm, 1):
            fetch(lab, arm)


def test_end_without_a_call():
    with Lab() as lab:
        arm = Nameless(lab)
        wait_for(lambda: arm.entry().get("guard_pid"), "its session")
        arm.container.kill()
        wait_for(lambda: not lab.daemon.containers(), "the end of its session")


if __name__ == "__main__":
    main(globals())
