"""The scene itself: what every other e2e test compares with works without sockhop."""

from harness import HarnessError, Lab, main, wait_for
from harness.servers import http_server, iperf_server


def test_baseline():
    with Lab(ipv6=True) as lab:
        http_server(lab.machine, 8000)
        for arm in lab.arms("host", "plain"):
            for address in (lab.machine.address4, f"[{lab.machine.address6}]"):
                answer = arm.run(["curl", "-s", "-m", "10", f"http://{address}:8000/"])
                assert "hello from the machine" in answer.stdout, (arm.name, address)


def test_shared_network():
    with Lab() as lab:
        iperf_server(lab.machine)
        arm = lab.arm("plain", flavour="shared")
        arm.run(["iperf3", "-c", lab.machine.address4, "-n", "10M"])
        arm.run(["iperf3", "-c", lab.machine.address4, "-n", "10M", "-R"])


def test_published():
    with Lab() as lab:
        arm = lab.arm("plain")
        http_server(arm, 80, text="hello from the container")
        port = lab.machine.host_port()
        arm.publish(port, 80)
        url = f"http://{lab.machine.host4}:{port}/"
        assert "from the container" in lab.machine.run(["curl", "-s", "-m", "10", url]).stdout


def test_container_end_leaves_nothing():
    with Lab() as lab:
        arm = lab.arm("plain")
        pid = arm.container.pid()
        arm.container.kill()
        try:
            arm.run(["true"])
        except HarnessError:
            pass
        else:
            raise AssertionError("a killed container runs programs")
        wait_for(lambda: lab.kit.run(["kill", "-0", str(pid)], check=False).returncode != 0,
                 "end of the container's init")


if __name__ == "__main__":
    main(globals())
