"""Where connections go follows the networks of the moment: VPN, host's routes, IPv6, neighbours."""

from harness import Lab, main, run, wait_for
from harness.cases import echo_server
from harness.isolate import RUN
from harness.languages import c_program, programs_mount
from harness.oracle import host_cookie, probe, wait_for_injected
from harness.process import tail
from harness.servers import http_server, serve

from datagrams_test import Decoy

PORT = 7000

# Connects again and again; one word per attempt.
LOOP = """
import os, socket, sys
while not os.path.exists("/tmp/stop"):
    with socket.socket() as attempt:
        attempt.settimeout(0.2)
        try:
            attempt.connect((sys.argv[1], int(sys.argv[2])))
            print("ok", flush=True)
        except OSError:
            print("no", flush=True)
"""
ONE = """
import errno, socket, sys
with socket.socket(socket.AF_INET6) as attempt:
    attempt.settimeout(2)
    try:
        attempt.connect((sys.argv[1], int(sys.argv[2])))
        print("ok")
    except TimeoutError:
        print("timeout")
    except OSError as error:
        print(errno.errorcode[error.errno])
"""
COUNTER = """
import socket, sys
listener = socket.create_server(("0.0.0.0", int(sys.argv[1])), backlog=1024)
while True:
    listener.accept()[0].close()
    print("connection", flush=True)
"""


def lines(log):
    return tail(log, 10**6).splitlines()


def check_vpn(route):
    """`route`: what the VPN takes over, as `ip route replace` says it."""
    with Lab() as lab:
        serve(lab.machine, ["python3", "-c", COUNTER, PORT], PORT)
        served = f"{RUN}/server-{PORT}.log"
        for arm in lab.arms("plain", "sockhop"):
            log = f"{RUN}/{arm.name}.log"
            loop = arm.popen(["python3", "-c", LOOP, lab.machine.address4, PORT], log)
            wait_for(lambda: lines(log).count("ok") >= 20, "connections", alive=loop)
            inside = f"nsenter -t {arm.container.pid()} -n ip"
            lab.kit.run(["sh", "-ec", f"{inside} tuntap add dev tun0 mode tun; {inside} link set tun0 up;"
                         f"{inside} addr add 10.200.0.1/24 dev tun0;"
                         f"{inside} route replace {route.format(lab.machine.address4)} dev tun0"])
            tried = len(lines(log))
            # The attempt of that moment, and one more to be sure.
            wait_for(lambda: len(lines(log)) >= tried + 2, "attempts", alive=loop)
            before = lines(served).count("connection")
            wait_for(lambda: len(lines(log)) >= tried + 10, "further attempts", alive=loop)
            assert lines(served).count("connection") == before, f"{arm.name} leaks"
            assert lines(log)[-1] == "no", (arm.name, lines(log)[-15:])
            lab.kit.run(["sh", "-ec", f"{inside} link del tun0; {inside} route replace default via "
                         "10.88.0.1"])
            wait_for(lambda: lines(log)[-1] == "ok", "the network without VPN", alive=loop)
            arm.container.write("/tmp/stop", "")
            loop.wait(20)


def test_vpn_takes_the_default_route():
    check_vpn("default")


def test_vpn_takes_one_address():
    check_vpn("{}/32")


def results(arm, destinations):
    return [found["result"] for found in probe(arm, destinations)]


def test_no_ipv6():
    with Lab() as lab:
        http_server(lab.machine, 8000)
        plain, ours = lab.arms("plain", "sockhop", mounts=[programs_mount()])
        there = [(lab.machine.address6, 8000), (lab.machine.address4, 8000)]
        assert results(ours, there) == results(plain, there) == ["ENETUNREACH", "ok"]
        ours.container.write("/etc/hosts", f"{lab.machine.address6} two\n{lab.machine.address4} two\n")
        assert "hello" in ours.run(["curl", "-sS", "-m", "10", "http://two:8000/"]).stdout


def test_ipv6_of_the_host_goes():
    with Lab(ipv6=True) as lab:
        http_server(lab.machine, 8000)
        plain, ours = lab.arms("plain", "sockhop", mounts=[programs_mount()])
        there = [(lab.machine.address6, 8000), (lab.machine.address4, 8000)]
        assert results(ours, there) == results(plain, there) == ["ok", "ok"]
        run(["ip", "-6", "route", "add", "unreachable", f"{lab.machine.address6}/128"])
        try:
            said = [arm.run(["python3", "-c", ONE, lab.machine.address6, 8000]).stdout
                    for arm in (plain, ours)]
            assert said[0] == said[1] != "ok\n", said
            assert results(ours, there[1:]) == ["ok"]
        finally:
            run(["ip", "-6", "route", "del", "unreachable", f"{lab.machine.address6}/128"])


def test_network_of_the_host_changes():
    """The device goes and comes back with another address, as after a change of Wi-Fi."""
    with Lab() as lab:
        http_server(lab.machine, 8000)
        plain, ours = lab.arms("plain", "sockhop", mounts=[programs_mount()])
        machine = lab.machine
        for arm in (plain, ours):
            assert results(arm, [(machine.address4, 8000)]) == ["ok"]
        run(["ip", "link", "del", machine.device])
        slot = 4 * machine.slot
        here, there = f"203.0.113.{slot + 1}", f"203.0.113.{slot + 2}"
        run(["ip", "link", "add", machine.device, "type", "veth", "peer", "name", "eth0", "netns",
             machine.netns])
        run(["ip", "addr", "add", f"{here}/30", "dev", machine.device])
        run(["ip", "link", "set", machine.device, "up"])
        for words in (["addr", "add", f"{there}/30", "dev", "eth0"], ["link", "set", "eth0", "up"],
                      ["route", "add", "default", "via", here]):
            run(["ip", "-n", machine.netns, *words])
        for arm in (plain, ours):
            found = probe(arm, [(there, 8000)])[0]
            assert found["result"] == "ok", (arm.name, found)
            assert (found["cookie"] == host_cookie()) == (arm is ours), found


def test_first_calls_of_a_container():
    mount, program = c_program("first_call.c")
    with Lab(ipv6=True) as lab:
        echo_server(lab.machine)
        decoys = [Decoy("127.0.0.1")]
        decoys.append(Decoy("::1", decoys[0].port))
        logger = decoys[0].port
        words = [program, "::1", logger, "127.0.0.1", logger, lab.machine.address4, PORT,
                 lab.machine.address6, PORT, "::", logger]

        def edit(config):
            config["process"]["args"] = [str(word) for word in words]
        for number in range(3):
            for arm in (lab.arm("sockhop", name=f"first{number}", mounts=[mount], edit=edit),
                        *([lab.arm("plain", mounts=[mount], edit=edit)] if number == 0 else [])):
                log = f"{arm.container.bundle}/log"
                wait_for(lambda: "done" in tail(log), "the first calls")
                said = lines(log)[-1]
                assert said == "ECONNREFUSED ECONNREFUSED ok ok ECONNREFUSED done", (arm.name, said)
                if arm.name == "sockhop":
                    assert arm.hops() == 2, arm.entry()
        for decoy in decoys:
            decoy.expect_nobody()


def bound_server(lab, address, port):
    return serve(lab.arm("host"), ["python3", "-m", "http.server", "--bind", address, port], port)


def test_services_of_the_host():
    with Lab() as lab:
        host4, ports = lab.machine.host4, [lab.machine.host_port(number) for number in range(3)]
        for address, port in zip((host4, "0.0.0.0", "127.0.0.1"), ports):
            bound_server(lab, address, port)
        there = [(host4, port) for port in ports] + [("10.0.2.2", ports[1]), ("127.0.0.1", ports[2])]
        plain, ours = lab.arms("plain", "sockhop", mounts=[programs_mount()])
        found = results(plain, there)
        assert found[:3] == ["ok", "ok", "ECONNREFUSED"] and results(ours, there) == found, found
        closed = lab.arm("sockhop", name="closed", mounts=[programs_mount()],
                         register=["--rule", f"deny {host4}/32"])
        assert results(closed, there[:3]) == ["ECONNREFUSED"] * 3
        said = lab.daemon.command("explain", "closed", f"{host4}:{ports[0]}").stdout
        assert "deny" in said, said


def test_published_port_of_another_container():
    with Lab() as lab:
        first, second = lab.machine.host_port(), lab.machine.host_port(1)
        server = lab.arm("sockhop", name="server", ports=[f"{first}:80", f"127.0.0.1:{second}:81"])
        for port in (80, 81):
            http_server(server, port, text=f"hello from {port}")
        other = lab.arm("sockhop", name="other", mounts=[programs_mount()])
        url = f"http://{lab.machine.host4}:{first}/"
        assert "hello from 80" in other.run(["curl", "-sS", "-m", "10", url]).stdout
        assert set(results(other, [("127.0.0.1", second)] * 100)) == {"ECONNREFUSED"}
        again = lab.arm("host").run(["curl", "-sS", "-m", "10", f"http://127.0.0.1:{second}/"])
        assert "hello from 81" in again.stdout


MPTCP_SERVER = """
import socket, sys
listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262)
listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
listener.bind(("0.0.0.0", int(sys.argv[1])))
listener.listen()
assert listener.getsockopt(socket.SOL_SOCKET, 38) == 262, "SO_PROTOCOL"
while True:
    connection, _ = listener.accept()
    connection.recv(1000)
    connection.sendall(b"HTTP/1.0 200 OK\\r\\n\\r\\nhello from MPTCP\\n")
    connection.close()
"""


def test_listener_of_multipath_tcp():
    """Go's servers listen this way since 1.24."""
    with Lab() as lab:
        for number, kind in enumerate(("plain", "sockhop")):
            port = lab.machine.host_port(number)
            arm = lab.arm(kind, **({"ports": [f"{port}:80"]} if kind == "sockhop" else {}))
            server = serve(arm, ["python3", "-c", MPTCP_SERVER, 80], 80)
            if kind == "plain":
                arm.publish(port, 80)
            for place, address in ((lab.machine, lab.machine.host4), (lab.arm("host"), "127.0.0.1"),
                                   (arm, "127.0.0.1")):
                url = f"http://{address}:{80 if place is arm else port}/"
                answer = place.run(["curl", "-sS", "-m", "10", url], check=False)
                assert "hello from MPTCP" in answer.stdout, (kind, url, answer)
        # Its end closes the port on the host.
        wait_for_injected(arm, 1)
        arm.run(["sh", "-c", "kill -9 $(pidof python3)"])
        server.wait(20)
        wait_for(lambda: lab.machine.run(["curl", "-sS", "-m", "5", f"http://{lab.machine.host4}:{port}/"],
                                         check=False).returncode == 7, "the port to close")


if __name__ == "__main__":
    main(globals())
