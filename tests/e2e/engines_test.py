"""The other ways a container comes about: crun, and pasta in the place of slirp4netns."""

from harness import Lab, main
from harness.isolate import pure_cgroup2, require_programs
from harness.oracle import hops_at_least
from harness.servers import http_server


def fetch_in(lab, arm):
    with hops_at_least(arm, 1):
        url = f"http://{lab.machine.address4}:8000/"
        assert "hello" in arm.run(["curl", "-sS", "-m", "10", url]).stdout, arm.name


def test_crun():
    require_programs(["crun"])
    with Lab() as lab:
        pure_cgroup2()
        http_server(lab.machine, 8000)
        for arm in lab.arms("plain", "sockhop", runtime="crun"):
            fetch_in(lab, arm)


def test_pasta():
    require_programs(["pasta"])
    with Lab(uplink="pasta") as lab:
        http_server(lab.machine, 8000)
        for arm in lab.arms("plain", "sockhop", flavour="shared"):
            fetch_in(lab, arm)


if __name__ == "__main__":
    main(globals())
