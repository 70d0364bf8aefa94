"""Nothing of sockhop is privileged on the host, and it says what is missing instead of hanging."""

import os
import signal
import stat
import time

from harness import Lab, main, run, wait_for
from harness.isolate import RUN
from harness.oracle import hops_at_least
from harness.process import as_user, runtime_dir, user_entry
from harness.servers import http_server

PROGRAMS = ("sockhopd", "sockhop-session", "sockhop-control", "sockhop")
NOTHING = "0" * 16
QUICKLY = 2  # seconds


def processes():
    """Program name -> pids, of ours."""
    found = {name: [] for name in PROGRAMS}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            name = os.path.basename(os.readlink(f"/proc/{pid}/exe"))
        except OSError:
            continue
        if name in found:
            found[name].append(int(pid))
    return found


def status(pid):
    with open(f"/proc/{pid}/status") as file:
        return dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)


def user_namespace(pid):
    return os.readlink(f"/proc/{pid}/ns/user")


def test_every_process_is_the_users():
    with Lab() as lab:
        http_server(lab.machine, 8000)
        arm = lab.arm("sockhop", ports=[f"{lab.machine.host_port()}:80"])
        arm.run(["curl", "-sS", "-m", "10", f"http://{lab.machine.address4}:8000/"])
        found = processes()
        uid = str(user_entry().pw_uid)
        host, child = user_namespace(os.getpid()), user_namespace(lab.kit.child)
        for name in ("sockhopd", "sockhop-control", "sockhop-session"):
            assert found[name], name
            for pid in found[name]:
                facts = status(pid)
                assert set(facts["Uid"].split()) == {uid}, (name, facts["Uid"])
                if user_namespace(pid) == host:
                    assert facts["CapEff"] == facts["CapPrm"] == NOTHING, (name, facts)
                    assert facts["CapAmb"] == NOTHING, (name, facts)
                else:
                    assert name == "sockhop-session", name
                    assert user_namespace(pid) == child, "capable in the child namespace only"
        assert any(user_namespace(pid) == child for pid in found["sockhop-session"])


def test_no_program_has_setuid_or_file_capabilities():
    with Lab() as lab:
        for name in PROGRAMS:
            path = f"{lab.bin}/{name}"
            assert not os.stat(path).st_mode & (stat.S_ISUID | stat.S_ISGID), name
            assert "security.capability" not in os.listxattr(path), name


def test_sockets_are_the_users_alone():
    with Lab() as lab:
        arm = lab.arm("sockhop")
        arm.run(["true"])
        for folder, _, names in os.walk(f"{runtime_dir()}/sockhop"):
            for path in [folder, *(f"{folder}/{name}" for name in names)]:
                facts = os.lstat(path)
                assert facts.st_uid == user_entry().pw_uid, path
                assert not facts.st_mode & 0o077, (path, oct(facts.st_mode))


def test_sigterm_ends_sockhopd_at_once():
    with Lab() as lab:
        arm = lab.arm("sockhop")
        arm.run(["true"])
        sessions = processes()["sockhop-session"]
        for number in (signal.SIGTERM, signal.SIGINT):
            pid = processes()["sockhopd"][0]
            os.kill(pid, number)
            wait_for(lambda: not processes()["sockhopd"], "end of sockhopd", timeout=QUICKLY)
            wait_for(lambda: not processes()["sockhop-control"], "end of control", timeout=QUICKLY)
            assert processes()["sockhop-session"] == sessions
            lab.restart_daemon()


def refusal(lab, *words, environment=()):
    """What sockhopd says when it cannot serve; it must say it quickly."""
    begun = time.monotonic()
    command = as_user(["env", *environment, f"{lab.bin}/sockhopd", *words])
    done = run(command, check=False, timeout=10)
    assert time.monotonic() - begun < QUICKLY, (words, "too slow")
    assert done.returncode == 1 and done.stderr.startswith("sockhopd: "), done
    return done.stderr


def write(name, text, mode=0o644):
    path = f"{RUN}/{name}"
    with open(path, "w") as file:
        file.write(text)
    os.chmod(path, mode)
    return path


def unreadable_home():
    os.makedirs(f"{RUN}/home/sockhop", exist_ok=True)
    write("home/sockhop/sockhop.toml", "", mode=0)
    return f"{RUN}/home"


def test_what_is_missing_is_said():
    with Lab() as lab:
        said = refusal(lab, environment=["-u", "XDG_RUNTIME_DIR"])
        assert "export XDG_RUNTIME_DIR=" in said, said
        assert "install -d" in refusal(lab, environment=["XDG_RUNTIME_DIR=/nonexistent"])
        secret = write("secret.toml", "", mode=0)
        said = refusal(lab, "--config", secret)
        assert secret in said and "this user can read" in said, said
        said = refusal(lab, environment=[f"XDG_CONFIG_HOME={unreadable_home()}"])
        assert "sockhop.toml" in said and "this user can read" in said, said
        said = refusal(lab, "--config", f"{RUN}/none.toml")
        assert "none.toml" in said and "--config" in said, said
        said = refusal(lab, "--config", write("bad.toml", "rules = [\n"))
        assert "bad.toml" in said and "line" in said, said
        said = refusal(lab, "--config", write("word.toml", 'names = "mine"\n'))
        assert "word.toml" in said and "container" in said, said
        said = refusal(lab, "--config", write("key.toml", 'name = "host"\n'))
        assert "key.toml" in said and "names" in said, said
        assert "write stay|hop|deny" in refusal(lab, "--rule", "stay everything")
        assert "directory" in refusal(lab, "--config", RUN)


def test_second_daemon_is_refused():
    with Lab() as lab:
        assert lab.daemon.containers() == {}
        assert "another sockhopd serves" in refusal(lab)
        assert lab.daemon.containers() == {}, "the first one serves on"


def check_without(*features):
    with Lab(daemon_options=[f"--without={feature}" for feature in features]) as lab:
        http_server(lab.machine, 8000)
        arm = lab.arm("sockhop")
        with hops_at_least(arm, 3):
            for _ in range(3):
                url = f"http://{lab.machine.address4}:8000/"
                assert "hello" in arm.run(["curl", "-sS", "-m", "10", url]).stdout


def test_without_sync_wake_up():
    check_without("sync-wake-up")


def test_without_wait_killable():
    check_without("wait-killable")


def test_without_pidfd_thread():
    check_without("pidfd-thread")


def test_without_awake_cores():
    check_without("awake-cores")


def test_without_all_of_them():
    check_without("sync-wake-up", "wait-killable", "pidfd-thread", "awake-cores")


def test_unknown_feature_is_refused():
    with Lab() as lab:
        said = refusal(lab, "--without=magic")
        assert "sync-wake-up" in said, said


if __name__ == "__main__":
    main(globals())
