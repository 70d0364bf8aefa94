"""Nested namespaces stay; whoever the process is, its connections hop."""

import os
import shutil

from harness import Lab, main, wait_for
from harness.cases import Cases
from harness.container import hostile
from harness.isolate import RUN
from harness.process import tail

AS_1000 = ["setpriv", "--reuid=1000", "--regid=1000", "--clear-groups"]


def hidden_pids(config):
    hostile(config)
    for mount in config["mounts"]:
        if mount["destination"] == "/proc":
            mount["options"] = ["nosuid", "noexec", "nodev", "hidepid=2"]


def test_nested_namespaces():
    with Lab() as lab:
        cases = Cases(lab, "cases_scope.c", arms=("plain", "sockhop"), edit=hostile)
        cases.compare("nested", "nested-users", "one-thread", "there-and-back")


def test_nested_server_is_not_published():
    with Lab() as lab:
        port = lab.machine.host_port()
        cases = Cases(lab, "cases_scope.c", arms=("sockhop",), edit=hostile, ports=[f"{port}:5202"])
        arm, log = cases.arms["sockhop"], f"{RUN}/nested.log"
        server = arm.popen(cases.argv(arm, "nested-server", "patience=1500"), log)
        wait_for(lambda: "listen: ok" in tail(log), "the nested server", alive=server)
        tries = 0
        while server.poll() is None:
            found = lab.machine.run(["curl", "-sS", "-m", "5", f"http://{lab.machine.host4}:{port}/"],
                                    check=False)
            assert found.returncode == 7, found
            tries += 1
        assert tries > 2 and "somebody came: 0" in tail(log), tail(log)


def test_identity():
    with Lab() as lab:
        Cases(lab, "cases_scope.c", arms=("plain", "sockhop"), edit=hostile).compare("identity")


def test_hidden_pids():
    with Lab() as lab:
        cases = Cases(lab, "cases_scope.c", arms=("plain", "sockhop"), edit=hidden_pids)
        cases.compare("identity")
        cases.compare("plain-identity", prefix=AS_1000)


def test_other_users_of_the_container():
    with Lab() as lab:
        cases = Cases(lab, "cases_scope.c", arms=("host", "plain", "sockhop"))
        assert "uid 1000 euid 1000" in cases.run("sockhop", "plain-identity", prefix=AS_1000)
        cases.compare("plain-identity", prefix=AS_1000)


def test_set_uid_program():
    with Lab() as lab:
        cases = Cases(lab, "cases_scope.c", arms=("plain", "sockhop"))
        for arm in cases.arms.values():
            target = f"{arm.container.bundle}/rootfs/tmp/set_uid"
            shutil.copy(f"{cases.mount[0]}/cases_scope", target)
            owner = os.stat(f"{arm.container.bundle}/rootfs")
            os.chown(target, owner.st_uid, owner.st_gid)
            os.chmod(target, 0o4755)
        cases.inside = "/tmp/set_uid"
        assert "uid 1000 euid 0" in cases.run("sockhop", "plain-identity", prefix=AS_1000)
        cases.compare("plain-identity", prefix=AS_1000)


def test_second_filter():
    with Lab() as lab:
        cases = Cases(lab, "cases_scope.c")
        cases.compare("own-filter", "listener=0")
        # The kernel has room for one listener; who wants a second one is told so, and goes on.
        said = cases.run("sockhop", "own-filter", "listener=1")
        assert "listener: EBUSY" in said, said
        assert "after the listener: hop, wanted hop" in said, said


if __name__ == "__main__":
    main(globals())
