"""What the daemon's policies change: strict, host-local, udp."""

from harness import Lab, main
from harness.cases import Cases, echo_server

SECOND = 7005


def test_strict():
    with Lab(ipv6=True, daemon_options=["--strict=true"]) as lab:
        Cases(lab, "cases_strict.c").compare()


def check_host_local(wanted, *options):
    with Lab(daemon_options=options) as lab:
        port = lab.machine.host_port(5)
        cases = Cases(lab, "cases_host_local.c", arms=("plain", "sockhop"))
        echo_server(lab.arm("host"), port)
        cases.compare(f"server={port}", f"wanted={wanted}")


def test_host_address_stays():
    check_host_local("stay")


def test_host_address_hops_by_policy():
    check_host_local("hop", "--host-local=hop")


def check_udp(wanted, *options):
    with Lab(ipv6=True, daemon_options=options) as lab:
        echo_server(lab.machine, SECOND)
        cases = Cases(lab, "cases_udp_connect.c")
        cases.compare(f"second={SECOND}", f"wanted={wanted}")


def test_udp_stays():
    check_udp("stay")


def test_udp_hops_by_policy():
    check_udp("hop", "--udp=hop")


if __name__ == "__main__":
    main(globals())
