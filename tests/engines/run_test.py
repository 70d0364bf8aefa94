"""`sockhop run`: a rootless sandbox without an engine."""

import os
import signal
import subprocess

import podman  # noqa: F401  for the path of the harness

from harness import Lab, main, run, wait_for
from harness.container import rootfs
from harness.isolate import RUN, require_programs
from harness.process import as_user, runtime_dir, start, tail, user_env
from harness.servers import HTTP, http_server

SERVE = ["python3", "-c", HTTP, "8080", "hello from inside"]


def words(lab, *rest):
    return as_user([f"{lab.bin}/sockhop", "run", *rest])


def sandbox(lab, *rest, **options):
    return run(words(lab, *rest), check=False, cwd="/", **options)


def url(lab):
    return f"http://{lab.machine.address4}:8000/"


def only_entry(lab):
    found = list(lab.daemon.containers().values())
    return found[0] if len(found) == 1 else None


def processes_of_user():
    """Programs of the test user, but for the daemon's own; zombies do not count."""
    uid = os.stat(runtime_dir()).st_uid
    found = set()
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if os.stat(f"/proc/{pid}").st_uid == uid:
                found.add(os.path.basename(os.readlink(f"/proc/{pid}/exe")))
        except OSError:
            pass
    return found - {"sockhopd", "sockhop-control"}


def hops(lab, *options):
    script = f"curl -sS -m 10 {url(lab)} && exec sleep 1000"
    log = f"{RUN}/run.log"
    open(log, "w").close()
    process = start(words(lab, *options, "--", "sh", "-c", script), log, cwd="/")
    wait_for(lambda: "hello from the machine" in tail(log), f"the answer: {tail(log)}",
             alive=process)
    wait_for(lambda: lab.daemon.hops(only_entry(lab)["id"]) == 1, "a hop")
    return process


def test_hops():
    with Lab() as lab:
        http_server(lab.machine, 8000)
        lab.daemon
        for options in (["--bind", "/"], ["--rootfs", rootfs()]):
            process = hops(lab, *options)
            # Nothing is cleaned up by hand: the end of `sockhop` is the end of all of it.
            process.kill()
            process.wait()
            wait_for(lambda: not processes_of_user(), "the end of everything")
            wait_for(lambda: not lab.daemon.containers(), "the end of the session")


def test_pasta():
    require_programs(["pasta"])
    with Lab() as lab:
        if not run(["ip", "-4", "route", "show", "default"]).stdout:
            print("skipped: pasta copies the interface of the default route; there is none")
            return
        http_server(lab.machine, 8000)
        lab.daemon
        done = sandbox(lab, "--bind", "/", "--network", "pasta", "--",
                       "curl", "-sS", "-m", "10", url(lab))
        assert done.returncode == 0 and "hello from the machine" in done.stdout, done
        wait_for(lambda: not processes_of_user(), "the end of pasta")


def test_publishes():
    with Lab() as lab:
        lab.daemon
        port = lab.machine.host_port()
        log = f"{RUN}/run.log"
        process = start(words(lab, "-p", f"{port}:8080", "--rule", "stay ::1/128", "--rootfs",
                              rootfs(), "--", *SERVE), log, cwd="/")
        fetch = ["curl", "-sS", "-m", "10", f"http://{lab.machine.host4}:{port}/"]
        wait_for(lambda: lab.machine.run(fetch, check=False).returncode == 0, "the server",
                 alive=process)
        assert lab.machine.address4 in lab.machine.run(fetch).stdout, "the true client"
        assert int(only_entry(lab)["ports"][0]["injected"]) >= 1
        busy = sandbox(lab, "-p", f"{port}:8080", "--bind", "/", "--", "true")
        assert busy.returncode == 1 and "is in use" in busy.stderr, busy
        process.send_signal(signal.SIGKILL)
        process.wait()
        wait_for(lambda: lab.machine.run(fetch, check=False).returncode == 7, "the end of the port")


def test_status_signals_and_streams():
    with Lab() as lab:
        lab.daemon
        for status in (0, 9, 255):
            assert sandbox(lab, "--bind", "/", "--", "sh", "-c", f"exit {status}").returncode == status
        done = sandbox(lab, "--bind", "/", "--", "sh", "-c", "cat; echo error >&2", input="words\n")
        assert (done.stdout, done.stderr) == ("words\n", "error\n"), done
        assert sandbox(lab, "--bind", "/", "--", "no-such-program").returncode != 0
        process = start(words(lab, "--bind", "/", "--", "sh", "-c", "trap 'exit 3' TERM; echo ready;"
                              "while :; do sleep 0.1; done"), cwd="/", stdout=subprocess.PIPE)
        assert process.stdout.readline() == b"ready\n"
        process.terminate()
        assert process.wait(20) == 3
        left = [name for name in os.listdir(runtime_dir()) if name.startswith("sockhop-run")]
        assert not left, left


def test_what_is_inside():
    with Lab() as lab:
        lab.daemon
        script = "id -u; hostname; cat /proc/1/comm; ls /proc/self/fd | wc -l; echo $XDG_RUNTIME_DIR"
        done = sandbox(lab, "--bind", "/", "--", "sh", "-c", script)
        uid, host, first, descriptors, xdg = done.stdout.splitlines()
        assert (uid, host, first, xdg) == ("0", "sandbox", "sh", runtime_dir()), done
        assert int(descriptors) == 4, "0, 1, 2 and the folder that ls reads"
        inside = sandbox(lab, "--rootfs", rootfs(), "--", "sh", "-c", "echo $XDG_RUNTIME_DIR; pwd")
        assert inside.stdout == "\n/\n", inside
        host = sandbox(lab, "--bind", "/", "--", "curl", "-m", "5", "http://127.0.0.1:1/")
        assert host.returncode == 7, host


def test_refusals():
    with Lab() as lab:
        for rest, status, hint in (
                (["--", "true"], 2, "--rootfs DIR or --bind /"),
                (["--bind", "/", "--rootfs", "/", "--", "true"], 2, "one of them"),
                (["--bind", "/usr", "--", "true"], 2, "--bind takes / only"),
                (["--rootfs", "/nowhere", "--", "true"], 2, "/nowhere"),
                (["--bind", "/"], 2, "COMMAND"),
                (["--bind", "/", "-p", "80", "--", "true"], 2, "[IP:]HOST:CONTAINER"),
                (["--bind", "/", "--rule", "stay", "--", "true"], 2, "stay|hop|deny"),
                (["--bind", "/", "--network", "vpnkit", "--", "true"], 2, "slirp4netns"),
                (["--bind", "/", "-p", f"{lab.machine.host_port()}:80", "--", "true"], 1,
                 "start sockhopd")):
            done = sandbox(lab, *rest)
            assert done.returncode == status and hint in done.stderr, (rest, done)
        plain = sandbox(lab, "--bind", "/", "--", "echo", "runs")
        assert plain.stdout == "runs\n" and "without acceleration" in plain.stderr, plain
        # A PATH without the programs, and no runtime directory.
        path = words(lab, "--bind", "/", "--", "true")
        at = path.index("-i") + 1
        for env, hint in (({"PATH": "/nowhere"}, "install the package slirp4netns"),
                          ({"XDG_RUNTIME_DIR": ""}, "XDG_RUNTIME_DIR")):
            changed = [f"{key}={value}" for key, value in {**user_env(), **env}.items()]
            done = run([*path[:at], *changed, *path[at + len(user_env()):]], check=False, cwd="/")
            assert done.returncode == 1 and hint in done.stderr, (env, done)


if __name__ == "__main__":
    main(globals())
