"""The same transcript of connect, poll and epoll on the host, in a plain container and with ours."""

import difflib

from harness import Lab, main
from harness.languages import c_program
from harness.load import load_program
from harness.servers import serve

PORT, REFUSED, SILENT = 7000, 7001, 7002


def transcripts(addresses, *options):
    """Compares the arms for each of the addresses that the function `addresses` gives of a Lab."""
    mount, program = c_program("connect_semantics.c", *options)
    with Lab(ipv6=True) as lab:
        serve(lab.machine, [load_program().outside, "server", PORT, "epoll"], PORT)
        lab.machine.run(["nft", "-f", "-"], input="table inet silent { chain input { "
                        "type filter hook input priority 0; "
                        f"tcp dport {SILENT} drop\n }}\n}}\n")
        arms = list(lab.arms("host", "plain", "sockhop", mounts=[mount]))
        for address in addresses(lab):
            said = {}
            for arm in arms:
                path = mount[0] + "/connect_semantics" if arm.name == "host" else program
                said[arm.name] = arm.run([path, address, PORT, REFUSED, SILENT]).stdout
            for arm in ("plain", "sockhop"):
                difference = difflib.unified_diff(said["host"].splitlines(), said[arm].splitlines(),
                                                  "host", arm, n=8, lineterm="")
                assert said[arm] == said["host"], "\n".join([address, *difference])
        assert arms[-1].hops() >= 10, "nothing hopped"


def test_ipv4():
    transcripts(lambda lab: [lab.machine.address4])


def test_ipv6():
    transcripts(lambda lab: [lab.machine.address6])


def test_mapped():
    transcripts(lambda lab: [f"::ffff:{lab.machine.address4}"])


def test_i386():
    transcripts(lambda lab: [lab.machine.address4], "-m32")


if __name__ == "__main__":
    main(globals())
