"""sockhop-hook: Podman's precreate and OCI's createRuntime and poststop, and what they refuse."""

import json
import os
import subprocess

from podman import Podman

from harness import Lab, main, run, wait_for
from harness.isolate import RUN, pure_cgroup2, require_programs
from harness.process import as_user, runtime_dir, start, write_file
from harness.servers import HTTP, http_server

SERVE = ["python3", "-c", HTTP, "80", "hello from inside"]
STAGES = ("precreate", "createRuntime", "poststop")


def hooks_dir(lab):
    """The files that `cmake --install` lays out, with the folder that the program lies in here."""
    folder = f"{RUN}/hooks.d"
    os.mkdir(folder)
    for stage in STAGES:
        with open(f"{lab.build_dir}/hook/hooks.d/sockhop-{stage}.json") as file:
            hook = json.load(file)
        hook["hook"]["path"] = f"{lab.bin}/{os.path.basename(hook['hook']['path'])}"
        write_file(f"{folder}/sockhop-{stage}.json", json.dumps(hook))
    return folder


def hook(lab, stage, text, **env):
    """Runs it as an engine does: with an environment of its own, in a user namespace of the user."""
    words = ["env", "-i", *(f"{key}={value}" for key, value in env.items()),
             f"{lab.bin}/sockhop-hook", stage]
    return run(as_user(["unshare", "--user", "--map-root-user", *words]), input=text, check=False)


def podman_works(lab, podman, extra=()):
    http_server(lab.machine, 8000)
    port = lab.machine.host_port()
    ident = podman.start("web", *SERVE, options=[
        *extra, "--annotation", f"sockhop/ports={port}:80", "--annotation", "sockhop/rules=stay ::1/128"])
    url = f"http://{lab.machine.address4}:8000/"
    assert "hello" in podman.execute("web", "curl", "-sS", "-m", "10", url).stdout
    assert lab.daemon.hops(ident) == 1, lab.daemon.containers()
    fetch = ["curl", "-sS", "-m", "10", f"http://{lab.machine.host4}:{port}/"]
    wait_for(lambda: lab.machine.run(fetch, check=False).returncode == 0, "the server")
    other = podman.start("other", "sleep", "1000", options=extra)
    assert other not in lab.daemon.containers(), "no annotation, no hook"
    podman.remove("web", "other")
    wait_for(lambda: not lab.daemon.containers(), "the end of session and registration")


def test_podman_with_runc():
    with Lab() as lab:
        lab.daemon
        podman_works(lab, Podman(hooks_dir=hooks_dir(lab)))


def test_podman_with_crun():
    """crun connects to the listener before createRuntime: whichever comes first."""
    require_programs(["crun"])
    with Lab() as lab:
        pure_cgroup2()
        lab.daemon
        podman_works(lab, Podman("crun", hooks_dir=hooks_dir(lab)), ["--cgroups=disabled"])


def test_podman_without_a_daemon():
    with Lab() as lab:
        podman = Podman(hooks_dir=hooks_dir(lab))
        on = ["--annotation", "sockhop/accelerate=true"]
        assert podman.run("echo", "runs", options=on).stdout == "runs\n"
        done = podman.run("true", options=["--annotation", "sockhop/required=true"], check=False)
        assert done.returncode != 0 and "start sockhopd" in done.stderr, done
        done = podman.run("true", options=["--annotation", "sockhop/ports=80"], check=False)
        assert done.returncode != 0 and "[IP:]HOST:CONTAINER" in done.stderr, done


def test_precreate_by_hand():
    with Lab() as lab:
        config = json.dumps({"ociVersion": "1.0.2", "linux": {}, "big": 2**63})
        down = hook(lab, "precreate", config)
        assert down.returncode == 0 and json.loads(down.stdout) == json.loads(config), down
        assert "without acceleration" in down.stderr and "start sockhopd" in down.stderr, down
        lab.daemon
        # Without XDG_RUNTIME_DIR it finds the daemon of the user whom the namespace belongs to.
        for env in ({}, {"XDG_RUNTIME_DIR": runtime_dir()}):
            up = hook(lab, "precreate", config, **env)
            section = json.loads(up.stdout)["linux"]["seccomp"]
            assert up.returncode == 0 and not up.stderr, up
            assert section["listenerPath"] == lab.daemon.socket, section["listenerPath"]
            assert section["defaultAction"] == "SCMP_ACT_ERRNO", "the engine's default"
            assert json.loads(up.stdout)["big"] == 2**63
        wrong = '{"annotations":{"sockhop/ports":"1"}}'
        told = hook(lab, "precreate", wrong)
        assert told.returncode == 0 and json.loads(told.stdout) == json.loads(wrong), told
        for bad in ("", "{", "[]"):
            done = hook(lab, "precreate", bad)
            assert done.returncode == 1 and done.stdout == "" and "sockhop: " in done.stderr, done


def test_states_by_hand():
    with Lab() as lab:
        lab.daemon
        bundle, port = f"{runtime_dir()}/bundle", lab.machine.host_port()
        os.mkdir(bundle)
        os.chmod(bundle, 0o755)

        def create(annotations, listener=lab.daemon.socket):
            seccomp = {"defaultAction": "SCMP_ACT_ALLOW", "listenerPath": listener}
            config = {"annotations": annotations, "linux": {"seccomp": seccomp}}
            write_file(f"{bundle}/config.json", json.dumps(config))
            return hook(lab, "createRuntime", json.dumps({"id": "web", "bundle": bundle}))

        assert create({}).returncode == 0 and not lab.daemon.containers()
        done = create({"sockhop/ports": f"{port}:80"}, listener="/elsewhere")
        assert done.returncode == 0 and "no rules of sockhop" in done.stderr, done
        assert create({"sockhop/ports": f"{port}:80"}).returncode == 0
        assert lab.daemon.containers()["web"]["registered"]
        assert create({"sockhop/ports": "80"}).returncode == 1
        assert create({"sockhop/required": "true"}, listener="/elsewhere").returncode == 1
        lab.daemon.register("db", [f"{port + 1}:80"])
        done = create({"sockhop/ports": f"{port + 1}:80"})
        assert done.returncode == 1 and "is in use" in done.stderr, done
        assert create({"sockhop/ports": f"{port}:80"}).returncode == 0
        # As crun has it at poststop: no bundle, pid 0.
        assert hook(lab, "poststop", '{"id":"web","pid":0,"status":"stopped"}').returncode == 0
        assert list(lab.daemon.containers()) == ["db"]


def test_poststop_always_ends_well():
    with Lab() as lab:
        for text in ("", "{", "[]", '{"id":1}', '{"id":"../x"}', '{"id":"web"}', "x" * 100000):
            done = hook(lab, "poststop", text)
            assert done.returncode == 0 and not done.stdout and not done.stderr, (text[:20], done)
        for text in ("", "{", '{"id":"web"}', '{"id":"web","bundle":"/nowhere"}'):
            assert hook(lab, "createRuntime", text).returncode == 1, text
        for stage in ("", "postStop", "prestart", "--nonsense"):
            assert hook(lab, stage, "{}").returncode == 2, stage
        # A caller that never ends its input: given up, well below the 10 s that Podman waits.
        silent = start(as_user([f"{lab.bin}/sockhop-hook", "poststop"]), stdin=subprocess.PIPE)
        assert silent.wait(30) == 0


if __name__ == "__main__":
    main(globals())
