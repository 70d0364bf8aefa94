"""Programs in a container against servers on another machine: they work, and they hop."""

from harness import Lab, main, wait_for
from harness.languages import INSIDE, go_program, java, node, programs_mount
from harness.oracle import host_cookie, hops_at_least, probe
from harness.servers import http_server, iperf_server, redis_server, serve

BOTH = ("plain", "sockhop")
PROXY = """
daemon off; pid /tmp/nginx.pid; error_log stderr;
events {{}}
http {{ access_log off;
  server {{ listen 8080; location / {{ proxy_pass http://{address}:8000; }} }}
}}
"""


def test_curl():
    with Lab(ipv6=True) as lab:
        http_server(lab.machine, 8000)
        for arm in lab.arms(*BOTH):
            for address in (lab.machine.address4, f"[{lab.machine.address6}]"):
                with hops_at_least(arm, 1):
                    answer = arm.run(["curl", "-sS", "-m", "10", f"http://{address}:8000/"])
                assert "hello" in answer.stdout, (arm.name, address)


def test_cookie_is_the_hosts():
    with Lab() as lab:
        http_server(lab.machine, 8000)
        there = [(lab.machine.address4, 8000)]
        arm = lab.arm("sockhop", mounts=[programs_mount()])
        found = probe(arm, there)[0]
        assert found["cookie"] == host_cookie(), found
        assert found["own"] == arm.container.address, "the name must be the container's"
        plain = probe(lab.arm("plain", mounts=[programs_mount()]), there)[0]
        assert plain["cookie"] != host_cookie(), plain


def test_shared_network():
    with Lab() as lab:
        http_server(lab.machine, 8000)
        arm = lab.arm("sockhop", flavour="shared")
        with hops_at_least(arm, 1):
            arm.run(["curl", "-sS", "-m", "10", f"http://{lab.machine.address4}:8000/"])


def test_iperf3_both_directions():
    with Lab() as lab:
        iperf_server(lab.machine)
        for arm in lab.arms(*BOTH):
            for direction in ([], ["-R"]):
                with hops_at_least(arm, 2):  # one for control, one for data
                    arm.run(["iperf3", "-c", lab.machine.address4, "-n", "50M", *direction])


def test_nginx_proxy_pass():
    with Lab() as lab:
        http_server(lab.machine, 8000)
        for arm in lab.arms(*BOTH):
            arm.container.write("/tmp/proxy.conf", PROXY.format(address=lab.machine.address4))
            serve(arm, ["nginx", "-c", "/tmp/proxy.conf"], 8080)
            with hops_at_least(arm, 20):
                for _ in range(20):
                    answer = arm.run(["curl", "-sS", "-m", "10", "http://127.0.0.1:8080/"])
                    assert "hello from the machine" in answer.stdout, arm.name


def test_redis_benchmark():
    with Lab() as lab:
        redis_server(lab.machine)
        for arm in lab.arms(*BOTH):
            with hops_at_least(arm, 20):
                done = arm.run(["redis-benchmark", "-h", lab.machine.address4, "-n", "2000",
                                "-c", "20", "-q", "-t", "set,get"])
            assert "GET:" in done.stdout, done.stdout


def test_exec_brings_another_notify_fd():
    with Lab() as lab:
        http_server(lab.machine, 8000)
        arm = lab.arm("sockhop")
        fetch = ["curl", "-sS", "-m", "10", "-o", "/dev/null",
                 f"http://{lab.machine.address4}:8000/"]
        with hops_at_least(arm, 8):
            running = [arm.popen(fetch) for _ in range(8)]
            assert [process.wait(30) for process in running] == [0] * 8
        # The container lives on; what the ended execs brought must be gone again.
        wait_for(lambda: arm.entry().get("notify_fds") == 1, "notify fds of ended execs to close")


def fifty(mounts, command):
    """A client of programs/ makes 50 connections at once; each of them hops."""
    with Lab() as lab:
        http_server(lab.machine, 8000)
        for arm in lab.arms(*BOTH, mounts=[programs_mount(), *mounts]):
            with hops_at_least(arm, 50):
                done = arm.run([*command, lab.machine.address4, "8000"])
            assert done.stdout.strip() == "50", (arm.name, done.stdout, done.stderr)


def test_python_asyncio():
    fifty([], ["python3", f"{INSIDE}/asyncio_client.py"])


def test_node_net():
    mounts, command = node()
    fifty(mounts, [*command, f"{INSIDE}/net_client.js"])


def test_java_nio():
    mounts, command = java()
    fifty(mounts, [*command, f"{INSIDE}/NioClient.java"])


def test_go_net_http():
    mounts, command = go_program("http_client.go")
    fifty(mounts, command)


if __name__ == "__main__":
    main(globals())
