"""What a container does stays in the container: others do not wait, nothing is left, no way in."""

import contextlib
import os
import signal

from fuse_never import NeverFs
from scene import RUN, Scene, Skip, main, wait_for
from scene import hostile as hostile_edit

PORT = 7200
HELD = 7201
SLOWER = 3.0


def median_of_connects(arm, scene, count=200):
    said = arm.run(scene.program("load", "latency", count, scene.address, PORT)).stdout.split()
    assert said[1] == "0", said
    return float(said[3])


def begun(arm, words, log):
    process = arm.popen(words, log)

    def told():
        with open(log) as file:
            return file.read()
    wait_for(told, f"{words[0]} to begin", alive=process)
    return process


def pids_of(name):
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            with open(f"/proc/{pid}/stat") as file:
                program, rest = file.read().split("(", 1)[1].rsplit(")", 1)
            if program == name[:15] and rest.split()[0] != "Z":
                found.append(int(pid))
    return found


def check_others_go_on(scene, hostile, attack, release=lambda: None):
    """`attack()` blocks what serves `hostile`; another container is as fast as before.

    `release()`: what would end with the hostile container if it were not the test's.
    """
    scene.serve(PORT)
    other = scene.arm("sockhop", name="other")
    alone = min(median_of_connects(other, scene) for _ in range(3))
    attack()
    beside = min(median_of_connects(other, scene) for _ in range(3))
    print(f"alone {alone} us, beside the attack {beside} us")
    assert beside <= SLOWER * alone
    session = pids_of("sockhop-session")
    assert len(session) >= 4, session
    # A session that is stuck ends with its container all the same.
    hostile.container.kill()
    release()
    wait_for(lambda: len(pids_of("sockhop-session")) <= len(session) - 2, "the stuck session's end")
    wait_for(lambda: hostile.container.name not in scene.daemon.containers(), "the end of the list")
    median_of_connects(other, scene, 20)


def test_page_that_never_comes():
    if not os.path.exists("/dev/fuse"):
        raise Skip("no /dev/fuse here")
    with Scene() as scene, NeverFs(f"{RUN}/never") as never:
        hostile = scene.arm("sockhop", name="hostile", mounts=[(never.target, "/mnt/never")])
        words = scene.program("block", "page", "/mnt/never/page")
        # A request that its server has taken up waits even under SIGKILL, until the server ends.
        check_others_go_on(scene, hostile, lambda: begun(hostile, words, f"{RUN}/hostile.log"),
                           never.abort)


def test_listener_that_toggles():
    with Scene() as scene:
        port = scene.machine.host_port()
        hostile = scene.arm("sockhop", name="hostile", ports=[f"{port}:80"])

        def attack():
            begun(hostile, scene.program("block", "toggle", 80), f"{RUN}/hostile.log")
            client = ("import socket,sys\nfor i in range(200):\n"
                      "  socket.create_connection((sys.argv[1], int(sys.argv[2])), 5).close()")
            scene.machine.run(["python3", "-c", client, scene.machine.host4, port], check=False)
        check_others_go_on(scene, hostile, attack)


def test_blocked_connects_of_another_container():
    with Scene() as scene:
        scene.blackhole(HELD)
        hostile = scene.arm("sockhop", name="hostile")
        words = scene.program("load", "hold", 200, scene.address, HELD)
        check_others_go_on(scene, hostile, lambda: begun(hostile, words, f"{RUN}/hostile.log"))


def check_end(prepare):
    """`prepare(scene, arm)` leaves calls open; then the container's init is killed."""
    with Scene() as scene:
        scene.serve(PORT)
        scene.daemon.command("ps")
        keeper = pids_of("sockhopd")[0]
        before = len(os.listdir(f"/proc/{keeper}/fd"))
        arm = scene.arm("sockhop", ports=[f"{scene.machine.host_port()}:80"])
        prepare(scene, arm)
        sessions = pids_of("sockhop-session")
        lines = log_lines(scene)
        os.kill(arm.container.pid(), signal.SIGKILL)
        wait_for(lambda: not set(sessions) & set(pids_of("sockhop-session")), "end of the session")
        wait_for(lambda: arm.container.name not in scene.daemon.containers(), "end of the list")
        wait_for(lambda: len(os.listdir(f"/proc/{keeper}/fd")) <= before, "the keeper's fds")
        wait_for(lambda: log_lines(scene) <= lines + 1, "silence")
        # The published port is free again.
        scene.daemon.register("next", [f"{scene.machine.host_port()}:80"])


def log_lines(scene):
    with open(scene.daemon.log) as file:
        return len(file.readlines())


def test_killed_in_blocked_connects():
    def prepare(scene, arm):
        scene.blackhole(HELD)
        begun(arm, scene.program("load", "hold", 50, scene.address, HELD), f"{RUN}/hold.log")
        wait_for(lambda: int(arm.entry().get("calls", 0)) >= 50, "the connects")
    check_end(prepare)


def test_killed_in_blocked_accepts():
    check_end(lambda scene, arm: arm.popen(scene.program("accepted", 80, 5, 1)) and wait_for(
        lambda: arm.run(["ss", "-Hltn"]).stdout.strip(), "the listener"))


def test_killed_among_calls():
    def prepare(scene, arm):
        arm.popen(scene.program("random_calls", 1, 10000000, scene.address, PORT))
        wait_for(lambda: int(arm.entry().get("calls", 0)) >= 1000, "some calls")
    check_end(prepare)


def test_landlock_stays():
    """Who restricted itself stays, and all that may descend from it; nobody else."""
    hops = {"refused", "failed", "parent", "older", "nephew", "younger"}
    stays = {"caller", "thread", "child", "orphan", "brother", "unclear"}
    with Scene() as scene:
        scene.serve(PORT)
        arm = scene.arm("sockhop")
        done = arm.run(scene.program("landlock", scene.address, PORT), check=False)
        if done.returncode == 77:
            raise Skip("no Landlock in this kernel")
        said = dict(line.split() for line in done.stdout.splitlines())
        assert said == {**dict.fromkeys(hops, "0"), **dict.fromkeys(stays, "1")}, done
        # One that the runtime brings later might be an heir's child, unless no_new_privs is unset.
        later = arm.run(scene.program("landlock", scene.address, PORT)).stdout
        hops -= {"failed", "older", "nephew"}
        assert {line.split()[0] for line in later.splitlines() if line.endswith(" 0")} == hops, later


def test_closed_attempt_is_gone():
    with Scene() as scene:
        server_port = PORT
        scene.serve(server_port)
        scene.blackhole(server_port)
        arm = scene.arm("sockhop")
        out = arm.run(scene.program("block", "close", scene.address, server_port)).stdout
        assert out == "closed interrupted 1\n", out
        assert arm.hops() >= 1 and scene.served() == 0
        # Its first retry comes after those of the attempts that were closed before it.
        last = scene.arm("host").popen(["python3", "-c", "import socket,sys; "
                                        "socket.create_connection((sys.argv[1], int(sys.argv[2])))",
                                        scene.address, server_port])
        wait_for(lambda: scene.address in scene.arm("host").run(["ss", "-Htn", "state", "syn-sent"])
                 .stdout, "the last attempt")
        scene.open_up()
        wait_for(lambda: last.poll() is not None, "the last attempt's end", timeout=20)
        wait_for(lambda: scene.served() >= 1, "its connection")
        assert last.returncode == 0 and scene.served() == 1, scene.served()
        left = scene.arm("host").run(["ss", "-Htn", "dst", scene.address]).stdout
        assert "SYN-SENT" not in left, left


def test_session_cannot_be_reached():
    """Container root neither sees nor kills it; root of its user namespace cannot look into it."""
    with Scene() as scene:
        scene.serve(PORT)
        arm = scene.arm("sockhop")
        median_of_connects(arm, scene, 5)
        seen = arm.run(["sh", "-c", "cat /proc/[0-9]*/comm; kill -9 -1; echo"], check=False).stdout
        assert "sockhop" not in seen, seen
        entry = arm.entry()
        for pid in (int(entry["guard_pid"]), int(entry["engine_pid"])):
            for part in ("mem", "environ", "maps", "map_files", "fd", "fdinfo", "stack", "syscall"):
                look = scene.kit.run(["sh", "-c", f"ls /proc/{pid}/{part}/ || head -c1 "
                                      f"/proc/{pid}/{part}"], check=False)
                assert look.returncode != 0 and not look.stdout, (pid, part, look)
            look = scene.kit.run(["python3", "-c", PTRACE, pid], check=False)
            assert look.stdout == "1\n", look  # EPERM
        assert arm.entry()["engine_pid"] == entry["engine_pid"]
        median_of_connects(arm, scene, 5)


def with_the_hosts_pids(config):
    hostile_edit(config)
    namespaces = config["linux"]["namespaces"]
    config["linux"]["namespaces"] = [one for one in namespaces if one["type"] != "pid"]
    # A new one can be mounted only by who owns the pid namespace.
    for mount in config["mounts"]:
        if mount["destination"] == "/proc":
            mount.update(type="bind", source="/proc", options=["rbind"])


def test_session_cannot_be_traced_by_root_that_sees_it():
    """A container that shares the pid namespace of its user, with every capability it can have."""
    with Scene() as scene:
        scene.serve(PORT)
        arm = scene.arm("sockhop", edit=with_the_hosts_pids)
        median_of_connects(arm, scene, 5)
        entry = arm.entry()
        for pid in (int(entry["guard_pid"]), int(entry["engine_pid"])):
            seen = arm.run(["cat", f"/proc/{pid}/comm"]).stdout
            assert seen.startswith("sockhop"), "it must be in sight, or this proves nothing"
            look = arm.run(["python3", "-c", PTRACE, pid], check=False)
            assert look.stdout == "1\n", look  # EPERM
            for part in ("mem", "environ", "maps", "fd", "fdinfo", "syscall", "root", "cwd", "exe"):
                look = arm.run(["sh", "-c", f"ls /proc/{pid}/{part}/. 2>/dev/null || head -c1 "
                                f"/proc/{pid}/{part} 2>/dev/null"], check=False)
                assert look.returncode != 0 and not look.stdout, (pid, part, look)
            take = arm.run(["python3", "-c", TAKE, pid], check=False)
            assert take.stdout == "1\n", take
        assert arm.entry()["engine_pid"] == entry["engine_pid"]


TAKE = """
import ctypes, sys
libc = ctypes.CDLL(None, use_errno=True)
pidfd = libc.syscall(434, int(sys.argv[1]), 0)
errors = set()
for number in range(64):
    ctypes.set_errno(0)
    errors.add(0 if libc.syscall(438, pidfd, number, 0) >= 0 else ctypes.get_errno())
print(*sorted(errors))
"""
PTRACE = """
import ctypes, sys
libc = ctypes.CDLL(None, use_errno=True)
failed = libc.ptrace(0x4206, int(sys.argv[1]), 0, 0)
print(ctypes.get_errno() if failed else 0)
"""


if __name__ == "__main__":
    main(globals())
