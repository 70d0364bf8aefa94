"""Rootless Docker: a runtime of its own, named in daemon.json (examples/docker) or --add-runtime."""

import json
import os

from docker import Docker

from harness import Lab, main, wait_for
from harness.isolate import RUN
from harness.servers import HTTP, http_server

SERVE = ["python3", "-c", HTTP, "80", "hello from inside"]


def recipe(lab):
    """examples/docker/daemon.json with the folder that the programs lie in here."""
    with open(f"{os.path.dirname(__file__)}/../../examples/docker/daemon.json") as file:
        text = file.read()
    path = json.loads(text)["runtimes"]["sockhop"]["path"]
    os.mkdir(f"{RUN}/installed")
    os.symlink(f"{lab.bin}/sockhop-runtime", f"{RUN}/installed/{os.path.basename(path)}")
    with open(f"{RUN}/daemon.json", "w") as file:
        file.write(text.replace(os.path.dirname(path), f"{RUN}/installed"))
    return f"{RUN}/daemon.json"


def fetch(docker, lab, name):
    words = ["curl", "-sS", "-m", "10", f"http://{lab.machine.address4}:8000/"]
    return docker.command("exec", name, *words).stdout


def published(lab, **options):
    return lab.machine.run(["curl", "-sS", "-m", "10",
                            f"http://{lab.machine.host4}:{lab.machine.host_port()}/"], **options)


def serves(lab):
    wait_for(lambda: published(lab, check=False).returncode == 0, "the server")
    return published(lab).stdout


def check_containers(lab, docker):
    ident = docker.start("web", "sleep", "1000")
    assert "hello" in fetch(docker, lab, "web")
    assert lab.daemon.containers()[ident]["running"]
    plain = docker.start("plain", "sleep", "1000", options=["--runtime", "runc"])
    assert "hello" in fetch(docker, lab, "plain")
    assert plain not in lab.daemon.containers()
    assert docker.run("sh", "-c", "exit 7", options=["--rm"], check=False).returncode == 7
    docker.command("rm", "-f", "web", "plain")
    wait_for(lambda: not lab.daemon.containers(), "end of the session")


def check_ports(lab, docker):
    """By Docker's own proxy, and by sockhop with the label in the place of -p."""
    port = lab.machine.host_port()
    docker.start("web", *SERVE, options=["-p", f"{port}:80"])
    assert "hello from inside" in serves(lab)
    docker.command("rm", "-f", "web")
    wait_for(lambda: published(lab, check=False).returncode == 7, "the end of the port")
    ident = docker.start("web", *SERVE, options=["--label", f"sockhop/ports={port}:80"])
    assert lab.machine.address4 in serves(lab), "the server sees the true client"
    entry = lab.daemon.containers()[ident]
    assert int(entry["ports"][0]["injected"]) >= 1, entry
    docker.command("restart", "-t", "0", "web")
    assert "hello from inside" in serves(lab)
    busy = docker.run("true", options=["--rm", "--label", f"sockhop/ports={port}:80"], check=False)
    assert busy.returncode != 0 and "is in use" in busy.stderr, busy
    docker.command("rm", "-f", "web")


def check_daemon_down(lab, docker):
    lab.daemon.close()
    docker.start("web", "sleep", "1000")
    assert "hello" in fetch(docker, lab, "web")
    told = wait_for(lambda: docker.command("logs", "web").stderr, "the message in the log")
    assert "without acceleration" in told and "start sockhopd" in told, told
    required = ["--rm", "--label", "sockhop/required=true"]
    refused = docker.run("true", options=required, check=False)
    assert refused.returncode != 0 and "start sockhopd" in refused.stderr, refused


def test_by_its_default_runtime():
    """One dockerd for all: its start is most of the time."""
    with Lab() as lab:
        http_server(lab.machine, 8000)
        lab.daemon
        docker = Docker(f"--config-file={recipe(lab)}")
        check_containers(lab, docker)
        check_ports(lab, docker)
        check_daemon_down(lab, docker)
        docker.close()


if __name__ == "__main__":
    main(globals())
