"""Rootless Podman with slirp4netns: `--runtime sockhop-runtime` is all that changes."""

import contextlib
import json
import os
import signal
import time

from podman import Podman

from harness import Lab, main, run, wait_for
from harness.isolate import RUN, pure_cgroup2, require_programs
from harness.process import as_user, runtime_dir, write_file
from harness.servers import HTTP, http_server

SERVE = ["python3", "-c", HTTP, "80", "hello from inside"]


def wrapped(lab, name="sockhop-runtime", config="", **options):
    """Podman with our runtime, called `name`; `config`: its runtime.toml."""
    folder = f"{RUN}/wrapper"
    os.makedirs(folder, exist_ok=True)
    # A link, as `cmake --install` makes them: the programs lie where it points to.
    with contextlib.suppress(FileExistsError):
        os.symlink(f"{lab.bin}/sockhop-runtime", f"{folder}/{name}")
    write_file(f"{folder}/{name}.toml", config)
    return Podman(f"{folder}/{name}", **options)


def url(lab):
    return f"http://{lab.machine.address4}:8000/"


def fetch(lab, podman, name):
    return podman.execute(name, "curl", "-sS", "-m", "10", url(lab)).stdout


def published(lab, **options):
    return lab.machine.run(["curl", "-sS", "-m", "10",
                            f"http://{lab.machine.host4}:{lab.machine.host_port()}/"], **options)


def ports(lab):
    return ["--annotation", f"sockhop/ports={lab.machine.host_port()}:80"]


def test_connects_hop():
    with Lab() as lab:
        http_server(lab.machine, 8000)
        lab.daemon
        plain = Podman()
        told = plain.run("curl", "-sS", "-m", "10", url(lab)).stdout
        podman = wrapped(lab)
        assert podman.run("curl", "-sS", "-m", "10", url(lab)).stdout == told
        ident = podman.start("web", "sleep", "1000")
        for count in (1, 2):
            assert fetch(lab, podman, "web") == told
            assert lab.daemon.hops(ident) == count, lab.daemon.containers()
        assert lab.daemon.hops(plain.start("other", "sleep", "1000")) == 0
        podman.remove("web", "other")
        wait_for(lambda: not lab.daemon.containers(), "end of the session")


def test_published_port_injects():
    with Lab() as lab:
        lab.daemon
        podman = wrapped(lab)
        ident = podman.start("web", *SERVE, options=ports(lab))
        wait_for(lambda: published(lab, check=False).returncode == 0, "the server")
        assert lab.machine.address4 in published(lab).stdout, "the server sees the true client"
        entry = lab.daemon.containers()[ident]
        assert int(entry["ports"][0]["injected"]) >= 2, entry
        # The same container again: its registration ended with it, and comes again.
        podman.command("restart", "-t", "0", "web")
        wait_for(lambda: published(lab, check=False).returncode == 0, "the server once more")
        podman.remove("web")
        wait_for(lambda: published(lab, check=False).returncode == 7, "the end of the port")


def test_exit_status_and_signals():
    with Lab() as lab:
        lab.daemon
        podman = wrapped(lab)
        assert podman.run("sh", "-c", "exit 7", check=False).returncode == 7
        assert podman.run("no-such-program", check=False).returncode == 127
        podman.start("web", "sh", "-c", "trap 'exit 3' USR1; while :; do sleep 0.1; done")
        podman.command("kill", "-s", "USR1", "web")
        assert podman.command("wait", "web").stdout.strip() == "3"


def test_failed_start_frees_its_port():
    with Lab() as lab:
        lab.daemon
        # Before the runtime has sent its notify fd: no end of a container frees the port.
        done = wrapped(lab, config='runtime = "false"').run("true", options=ports(lab), check=False)
        assert done.returncode != 0
        lab.daemon.register("another", [f"{lab.machine.host_port()}:80"])
        lab.daemon.command("unregister", "another")
        done = wrapped(lab).run("no-such-program", options=ports(lab), check=False)
        assert done.returncode == 127, done
        lab.daemon.register("another", [f"{lab.machine.host_port()}:80"])


def test_registration_is_made_again():
    """A container that starts again may find its own registration not yet gone."""
    with Lab() as lab:
        lab.daemon
        podman = wrapped(lab)
        ident = podman.create("web", *SERVE, options=ports(lab))
        lab.daemon.register(ident, [f"{lab.machine.host_port()}:80"])
        podman.command("start", "web")
        wait_for(lambda: published(lab, check=False).returncode == 0, "the server")


def test_what_is_asked_wrongly_is_the_engines_error():
    with Lab() as lab:
        lab.daemon.register("db", [f"{lab.machine.host_port()}:80"])
        podman = wrapped(lab)
        for annotation, hint in ((f"sockhop/ports={lab.machine.host_port()}:80", "is in use"),
                                 ("sockhop/ports=80", "[IP:]HOST:CONTAINER"),
                                 ("sockhop/rules=stay", "stay|hop|deny"),
                                 ("sockhop/accelerate=maybe", "true or false"),
                                 ("sockhop/port=80:80", "sockhop/ports")):
            done = podman.run("true", options=["--annotation", annotation], check=False)
            assert done.returncode != 0 and hint in done.stderr, (annotation, done)
        done = wrapped(lab, config="runtime = 3").run("true", check=False)
        assert done.returncode != 0 and "line 1: runtime must be a string" in done.stderr, done
        done = wrapped(lab, config='runtime = "nosuch"').run("true", check=False)
        assert done.returncode != 0 and "nosuch is not in PATH" in done.stderr, done


def test_left_alone():
    with Lab() as lab:
        lab.daemon
        podman = wrapped(lab)
        podman.start("web", "sleep", "1000", options=["--annotation", "sockhop/accelerate=false"])
        assert lab.daemon.containers() == {}


def test_crun():
    """Under crun's own name, which Podman wants to see for --cgroups=disabled."""
    require_programs(["crun"])
    with Lab() as lab:
        pure_cgroup2()
        http_server(lab.machine, 8000)
        lab.daemon
        podman = wrapped(lab, "crun")
        ident = podman.start("web", *SERVE, options=["--cgroups=disabled", *ports(lab)])
        assert "hello" in fetch(lab, podman, "web")
        assert lab.daemon.hops(ident) == 1, lab.daemon.containers()
        wait_for(lambda: published(lab, check=False).returncode == 0, "the server")


def unaccelerated(podman, hint):
    """It runs, in less than the 5 s that nothing may take, and its log says what to do."""
    begin = time.monotonic()
    podman.start("web", "sleep", "1000")
    assert time.monotonic() - begin < 10, "what is over 5 s is a slow machine's"
    told = wait_for(lambda: podman.command("logs", "web").stderr, "the message in the log")
    assert "without acceleration" in told and hint in told, told
    podman.remove("web")


def refused(podman, hint):
    done = podman.run("true", options=["--annotation", "sockhop/required=true"], check=False)
    assert done.returncode != 0 and hint in done.stderr, done


@contextlib.contextmanager
def stopped_daemon(lab):
    lab.daemon.process.send_signal(signal.SIGSTOP)
    yield
    lab.daemon.process.send_signal(signal.SIGCONT)


@contextlib.contextmanager
def directory_of_another(lab):
    """Not mode 0: the engine may read everything of its own user."""
    folder = f"{runtime_dir()}/sockhop"
    owner = os.stat(folder)
    os.chown(folder, 0, 0)
    yield
    os.chown(folder, owner.st_uid, owner.st_gid)


@contextlib.contextmanager
def killed_daemon(lab):
    lab.daemon.process.kill()
    lab.daemon.process.wait()
    yield
    lab.restart_daemon()


@contextlib.contextmanager
def missing_socket(lab):
    os.rename(lab.daemon.socket, f"{lab.daemon.socket}.away")
    yield
    os.rename(f"{lab.daemon.socket}.away", lab.daemon.socket)


def starts(count):
    with Lab() as lab:
        podman = wrapped(lab, config="patience = 0.5")
        unaccelerated(podman, "systemctl --user start sockhopd")
        lab.daemon
        for state, hint in ((stopped_daemon, "restart it"), (missing_socket, "sockhopd does not run"),
                            (directory_of_another, "mode 700"), (killed_daemon, "start it")):
            with state(lab):
                for _ in range(count):
                    unaccelerated(podman, hint)
                refused(podman, hint)
            ident = podman.start("web", "sleep", "1000")
            assert ident in lab.daemon.containers(), "accelerated again"
            podman.remove("web")


def test_starts_without_a_daemon():
    starts(3)


def test_long_starts_without_a_daemon():
    starts(50)


def test_quiet_keeps_the_containers_output_clean():
    with Lab() as lab:
        podman = wrapped(lab, config="quiet = true")
        podman.start("web", "sleep", "1000")
        assert podman.command("logs", "web").stderr == ""


def test_a_container_without_profile_gets_the_engines():
    with Lab() as lab:
        lab.daemon
        unconfined = ["--security-opt", "seccomp=unconfined"]
        config = "cat /proc/self/status"
        mode = lambda podman: [line for line in podman.run(  # noqa: E731
            "sh", "-c", config, options=unconfined).stdout.splitlines() if "Seccomp:" in line]
        assert mode(Podman()) == ["Seccomp:\t0"]
        assert mode(wrapped(lab)) == ["Seccomp:\t2"]
        # Not allow-all: the profile refuses vmsplice (EPERM) before its descriptor does (EBADF).
        vmsplice = ("import ctypes; libc = ctypes.CDLL(None, use_errno=True);"
                    "libc.vmsplice(-1, 0, 0, 0); print(ctypes.get_errno())")

        def errno_in(podman):
            return podman.run("python3", "-c", vmsplice, options=unconfined).stdout.strip()

        assert errno_in(Podman()) == "9"
        assert errno_in(wrapped(lab)) == "1"
        assert errno_in(wrapped(lab, config='default-profile = "none"')) == "9"


def test_recipe():
    """examples/podman/containers.conf, with the folder that the programs lie in here."""
    with Lab() as lab:
        lab.daemon
        folder = f"{RUN}/bin-installed"
        os.mkdir(folder)
        os.symlink(f"{lab.bin}/sockhop-runtime", f"{folder}/sockhop-runc")
        with open(f"{os.path.dirname(__file__)}/../../examples/podman/containers.conf") as file:
            text = file.read().replace("/usr/local/bin", folder)
        write_file(f"{RUN}/containers.conf", text)
        podman = Podman(runtime=None, config=f"{RUN}/containers.conf")
        ident = podman.start("web", *SERVE, options=ports(lab))
        assert ident in lab.daemon.containers()
        wait_for(lambda: published(lab, check=False).returncode == 0, "the server")


def test_called_by_hand():
    """As runc would be: same words, same answers, same status."""
    with Lab() as lab:
        runtime = f"{lab.bin}/sockhop-runtime"
        for words in (["--version"], ["state", "nobody"], ["create"], ["nonsense"],
                      ["--root", "/nowhere", "list"], ["create", "--bundle", "/nowhere", "web"]):
            ours = run(as_user([runtime, *words]), check=False)
            theirs = run(as_user(["runc", *words]), check=False)
            assert ours.returncode == theirs.returncode, (words, ours, theirs)
            assert ours.stdout == theirs.stdout, (words, ours, theirs)
        log = f"{runtime_dir()}/log"
        bundle = f"{runtime_dir()}/bundle"
        os.mkdir(bundle)
        write_file(f"{bundle}/config.json", json.dumps({"annotations": {"sockhop/ports": "x"}}))
        done = run(as_user([runtime, "--log", log, "--log-format", "json", "create", "--bundle",
                            bundle, "web"]), check=False)
        with open(log) as file:
            entry = json.loads(file.readline())
        assert done.returncode == 1 and entry["level"] == "error", (done, entry)
        assert "[IP:]HOST:CONTAINER" in entry["msg"], entry


if __name__ == "__main__":
    main(globals())
