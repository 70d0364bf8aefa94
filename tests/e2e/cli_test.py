"""`sockhop` beside a real container: what it tells is true, and what it sets happens."""

import os

from harness import Lab, main, run, wait_for
from harness.isolate import RUN
from harness.oracle import hops_at_least, wait_for_injected
from harness.process import as_user, write_file
from harness.servers import http_server, listening, serve


def fetch(lab, arm):
    url = f"http://{lab.machine.address4}:8000/"
    assert "hello" in arm.run(["curl", "-sS", "-m", "10", url]).stdout


def stays(arm):
    """How often each reason was told, by its words."""
    return {each["name"]: int(each["value"]) for each in arm.entry().get("stays", [])}


def words(lab, *command):
    return lab.daemon.command(*command).stdout


def refused(lab, *command, code=1):
    done = lab.daemon.command(*command, check=False)
    assert done.returncode == code, (command, done)
    assert done.stderr.startswith("sockhop: "), (command, done)
    return done.stderr


def reach(lab, port):
    """curl's status from another machine: 0 it answered, 7 refused."""
    return lab.machine.run(["curl", "-sS", "-m", "10", "-o", "/dev/null",
                            f"http://{lab.machine.host4}:{port}/"], check=False).returncode


def test_ps():
    with Lab() as lab:
        http_server(lab.machine, 8000)
        port = lab.machine.host_port()
        arm = lab.arm("sockhop", name="web", ports=[f"{port}:80"])
        table = words(lab, "ps")
        assert f"port 0.0.0.0:{port}->80/tcp reserved, 0 injected" in table, table
        http_server(arm, 80)
        wait_for(lambda: f"port 0.0.0.0:{port}->80/tcp listening" in words(lab, "ps"), "listening")
        with hops_at_least(arm, 2):
            fetch(lab, arm)
            fetch(lab, arm)
        arm.run(["curl", "-sS", "-o", "/dev/null", "http://127.0.0.1:80/"])
        assert reach(lab, port) == 0
        wait_for_injected(arm, 1)
        table = words(lab, "ps")
        head, row, *details = table.splitlines()
        assert head.split() == ["CONTAINER", "STATE", "HOPS", "SERVED"], table
        assert row.split()[:2] == ["web", "on"] and int(row.split()[2]) >= 2, table
        assert int(row.split()[3]) >= 1, table
        assert any("1 injected" in line for line in details), table
        assert any("stayed" in line and "loopback" in line for line in details), table
        entry = arm.entry()
        assert entry["running"] and entry["registered"] and entry["accelerate"], entry
        assert entry["ports"][0]["listening"] and int(entry["hops"]) >= 2, entry
        assert any("loopback" in reason for reason in stays(arm)), entry


def test_explain():
    with Lab() as lab:
        arm = lab.arm("sockhop", name="web", register=("--rule", "deny 203.0.113.0/24:25"))
        said = words(lab, "explain", "web", f"{lab.machine.address4}:80").splitlines()
        assert said[0].startswith("hop: "), said
        assert len(said) >= 3 and all(line.startswith("  ") for line in said[1:]), said
        said = words(lab, "explain", "web", "127.0.0.1:80")
        assert said.startswith("stay: ") and "loopback" in said, said
        said = words(lab, "explain", "web", "203.0.113.7:25")
        assert said.startswith("deny: ") and "rule" in said, said
        refused(lab, "explain", "web", "198.51.100.1", code=2)
        refused(lab, "explain", "web", "[::1:80", code=2)
        refused(lab, "explain", "web", "198.51.100.1:65536", code=2)
        assert "sockhop ps" in refused(lab, "explain", "nobody", "198.51.100.1:80")
        arm.container.kill()


def test_off_and_on():
    with Lab() as lab:
        http_server(lab.machine, 8000)
        arm = lab.arm("sockhop", name="web")
        arm.run(["true"])
        lab.daemon.command("off", "web")
        assert arm.entry()["accelerate"] is False and "off" in words(lab, "ps")
        hops, before = arm.hops(), stays(arm)
        fetch(lab, arm)
        assert arm.hops() == hops
        new = {name for name, count in stays(arm).items() if count > before.get(name, 0)}
        assert any("off" in name for name in new), new
        lab.daemon.command("on", "web")
        with hops_at_least(arm, 1):
            fetch(lab, arm)
        assert "sockhop ps" in refused(lab, "off", "nobody")
        assert "sockhop ps" in refused(lab, "on", "nobody")


def test_register_while_it_runs():
    with Lab() as lab:
        port = lab.machine.host_port()
        arm = lab.arm("sockhop", name="web")
        http_server(arm, 80)
        assert reach(lab, port) == 7
        for _ in range(5):
            lab.daemon.register("web", [f"{port}:80"])
            assert reach(lab, port) == 0, "its server listened before the port was published"
            lab.daemon.command("unregister", "web")
            assert reach(lab, port) == 7
            assert listening(arm, 80), "the server itself goes on"


# Keeps a connection in the way of its next listener (socket(7), SO_REUSEADDR) until it is told.
IN_THE_WAY = """
import os, socket, struct, time
first = socket.create_server(("", 80))
connection = first.accept()[0]
connection.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 0)
first.close()
second = socket.create_server(("", 80))
while not os.path.exists("/tmp/go"):
    time.sleep(0.01)
connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
connection.close()
second.accept()[0].sendall(b"HTTP/1.0 204 No Content\\r\\n\\r\\n")
"""


def test_a_host_that_cannot_listen_is_named():
    with Lab() as lab:
        port = lab.machine.host_port()
        name = f"port 0.0.0.0:{port}->80/tcp"
        arm = lab.arm("sockhop", name="web", ports=[f"{port}:80"])
        serve(arm, ["python3", "-c", IN_THE_WAY], 80)
        lab.machine.popen(["curl", "-sS", f"http://{lab.machine.host4}:{port}/"])
        wait_for(lambda: f"{name} cannot listen (Address already in use)" in words(lab, "ps"),
                 "ps to say that the host refuses")
        assert arm.entry()["ports"][0]["problem"] == "Address already in use", arm.entry()
        with open(lab.daemon.log) as log:
            told = [line for line in log if f"port 0.0.0.0:{port}:80/tcp" in line]
        assert len(told) == 1 and "Address already in use" in told[0], told
        assert f"sport = :{port}" in told[0], told
        arm.run(["touch", "/tmp/go"])
        wait_for(lambda: reach(lab, port) == 0, "the host to listen")


def test_register_before_its_server_listens():
    with Lab() as lab:
        port = lab.machine.host_port()
        arm = lab.arm("sockhop", name="web")
        lab.daemon.register("web", [f"{port}:80"])
        assert reach(lab, port) == 7
        http_server(arm, 80)
        assert reach(lab, port) == 0


def test_refusals_say_what_to_do():
    with Lab() as lab:
        lab.arm("sockhop", name="web", ports=["127.0.0.1:7788:80"])
        for bad in ("x", "80", "80:", ":80", "0:80", "80:0", "65536:80", "80:65536", "-1:80",
                    "80:80/sctp", "1.2.3:80:80", "::1:80:80", "80:80:80:80", ""):
            said = refused(lab, "register", "db", "-p", bad, code=2)
            assert "[IP:]HOST:CONTAINER" in said, (bad, said)
        assert "unregister" in refused(lab, "register", "web", "-p", "7789:80")
        assert "is in use" in refused(lab, "register", "db", "-p", "127.0.0.1:7788:80")
        assert "7790" in refused(lab, "register", "db", "-p", "7790:80", "-p", "7790:81")
        assert "TCP" in refused(lab, "register", "db", "-p", "7790:80/udp")
        assert "198.51.100.77" in refused(lab, "register", "db", "-p", "198.51.100.77:7790:80")
        for bad in ("stay", "go 10.0.0.0/8", "hop 10.0.0.0/33", "stay 10.0.0.0/8:70000",
                    "stay 10.0.0.0/8/sctp", ""):
            said = refused(lab, "register", "db", "--rule", bad)
            assert "write stay|hop|deny" in said, (bad, said)
        for bad in ("", "a b", "x/y", "y" * 1025, "tab\t"):
            assert "container id" in refused(lab, "register", bad, "-p", "7790:80"), bad
        many = [word for port in range(20000, 20241) for word in ("-p", f"{port}:80")]
        assert "240" in refused(lab, "register", "db", *many)
        assert "sockhop ps" in refused(lab, "unregister", "nobody")
        assert list(lab.daemon.containers()) == ["web"], "what is refused leaves nothing"
        lab.daemon.command("unregister", "web")
        assert "no registration" in refused(lab, "unregister", "web")
        low = lab.daemon.command("register", "db", "-p", "80:80", check=False)
        assert low.returncode == 0 or "ip_unprivileged_port_start" in low.stderr, low


def test_wait_killable_where_runtime_and_kernel_can():
    with Lab() as lab:
        config = f"{RUN}/config.json"
        write_file(config, "{}")
        versions = {"crun": "crun version 1.8.1", "runc": "runc version 1.1.5",
                    "new": "runc version 1.5.0\nlibseccomp: 2.6.0"}
        for name, version in versions.items():
            write_file(f"{RUN}/{name}", f"#!/bin/sh\necho '{version}'\n", 0o755)

        def has_flag(*options, config_home="/nonexistent"):
            done = run(as_user(["env", f"XDG_CONFIG_HOME={config_home}", f"{lab.bin}/sockhop",
                                "profile", "apply", config, *options]))
            return "SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV" in done.stdout
        assert not has_flag()
        assert has_flag("--wait-killable")
        assert has_flag("--runtime", f"{RUN}/crun")
        assert has_flag("--runtime", f"{RUN}/new")
        assert not has_flag("--runtime", f"{RUN}/runc"), "it would refuse the profile"
        assert not has_flag("--runtime", f"{RUN}/crun", "--without", "wait-killable")
        os.mkdir(f"{RUN}/sockhop")
        write_file(f"{RUN}/sockhop/sockhop.toml", 'without = ["wait-killable"]')
        assert not has_flag("--runtime", f"{RUN}/crun", config_home=RUN)


if __name__ == "__main__":
    main(globals())
