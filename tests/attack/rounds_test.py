"""Thousands of rounds against a hopped socket: nothing is reached, nothing is left over."""

import os

from scene import Loggers, Scene, Skip, hostile, main, wait_for

CLOSED = 9
SHORT, FULL = 10_000, 1_000_000


def session(arm):
    entry = arm.entry()
    return int(entry["guard_pid"]), int(entry["engine_pid"])


def kilobytes(pids):
    total = 0
    for pid in pids:
        with open(f"/proc/{pid}/status") as file:
            total += next(int(line.split()[1]) for line in file if line.startswith("VmRSS:"))
    return total


def descriptors(arm):
    return len(os.listdir(f"/proc/{session(arm)[0]}/fd"))


def check(kind, count, hops, suffix="", edit=None):
    """`hops`: how many connections must have hopped for the rounds to prove anything."""
    with Scene() as scene, Loggers() as loggers:
        scene.serve(loggers.port)
        arm = scene.arm("sockhop", edit=edit)

        def rounds(number):
            words = scene.program(f"rounds{suffix}", kind, number, scene.address, loggers.port,
                                  CLOSED, loggers.port)
            return arm.run(words, timeout=count / 1000 + 600)
        rounds(min(count // 10, 1000))
        pids, before, memory = session(arm), descriptors(arm), kilobytes(session(arm))
        said = rounds(count)
        words = said.stdout.split()
        assert words[::2] == ["rounds", "hopped", "reached"], said
        assert int(words[5]) == 0, said.stderr
        assert int(words[3]) >= hops, said.stdout
        loggers.expect_nobody()
        assert session(arm) == pids and int(arm.entry().get("engine_restarts", 0)) == 0
        wait_for(lambda: descriptors(arm) <= before + 2, f"no more than {before} descriptors")
        grown = kilobytes(pids) - memory
        assert grown < 4096, f"{grown} kB more"


def check_ring(count):
    with Scene() as scene, Loggers() as loggers:
        scene.serve(loggers.port)
        words = scene.program("ring", count, scene.address, loggers.port, CLOSED, loggers.port)
        refused = scene.arm("sockhop", name="refused", edit=hostile).run(words, check=False)
        assert refused.returncode == 1 and "not implemented" in refused.stderr, refused
        arm = scene.arm("sockhop", edit=hostile, profile=["--allow-io-uring"])
        said = arm.run(words, timeout=count / 1000 + 120)
        figures = dict(zip(said.stdout.split()[::2], map(int, said.stdout.split()[1::2])))
        assert figures["reached"] == 0 and figures["stayed"] == 2, said
        assert figures["hopped"] >= count // 2, said
        loggers.expect_nobody()
        assert int(arm.entry().get("engine_restarts", 0)) == 0


def test_io_uring_that_a_policy_allows():
    check_ring(SHORT // 4)


def long_io_uring_that_a_policy_allows():
    check_ring(FULL // 4)


def check_pages(kind, count):
    with Scene() as scene:
        scene.serve(7300)
        arm = scene.arm("sockhop", edit=hostile)
        words = scene.program("pages", kind, count, scene.address, 7300)
        done = arm.run(words, check=False, timeout=count / 1000 + 120)
        if done.returncode == 77:
            raise Skip("no userfaultfd for a container here")
        figures = dict(zip(done.stdout.split()[::2], map(int, done.stdout.split()[1::2])))
        assert figures["other"] == 0, done
        assert figures["faults"] > 0 and figures["hopped"] > 0, done.stdout
        if kind == "fault":
            assert figures == {"hopped": count, "faults": 2 * count, "other": 0}, figures
        assert int(arm.entry().get("engine_restarts", 0)) == 0
        pids = session(arm)
        arm.run(words, timeout=count / 1000 + 120)
        assert session(arm) == pids


def test_page_whose_rights_change():
    check_pages("mprotect", SHORT // 2)


def test_page_that_userfaultfd_holds_back():
    check_pages("fault", SHORT // 10)


def long_page_whose_rights_change():
    check_pages("mprotect", FULL)


def test_unconnected_by_every_route():
    check("unspec", SHORT, SHORT * 3 // 4)


def test_unconnected_by_every_route_of_i386():
    check("unspec", 2000, 1500, "_32")


def test_interface_requests():
    check("ioctl", SHORT, 1)


def test_interface_requests_of_i386():
    check("ioctl", 2560, 1, "_32")


def test_packet_info_that_names_lo():
    check("pktinfo", SHORT, SHORT // 3)


def test_repair_with_all_capabilities():
    check("repair", SHORT, SHORT * 3 // 4, edit=hostile)


def test_nested_namespaces():
    check("nested", SHORT // 5, SHORT // 8, edit=hostile)


def long_unconnected_by_every_route():
    check("unspec", FULL, FULL * 3 // 4)


def long_interface_requests():
    check("ioctl", FULL, 1)


def long_packet_info_that_names_lo():
    check("pktinfo", FULL, FULL // 3)


def long_repair_with_all_capabilities():
    check("repair", FULL, FULL * 3 // 4, edit=hostile)


if __name__ == "__main__":
    main(globals())
