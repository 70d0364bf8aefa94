"""The host's loopback and abstract sockets are out of reach, by any way and any race."""

import json
import os
import shutil
import subprocess
import sys

from scene import RUN, Loggers, Scene, as_user, main, parse, wait_for

PROGRAMS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs")
CLOSED = 9
SHORT, FULL = 10, 60


def check_ways(suffix):
    with Scene(ipv6=True) as scene, Loggers() as loggers:
        arm = scene.arm("sockhop")
        port = loggers.port
        scene.serve(port)
        out = arm.run(scene.program(f"ways{suffix}", scene.address, port, CLOSED, port)).stdout
        ways = parse(out)
        assert ways.pop("hopped") == (0, 0), "the connections of this test must hop"
        through = [name for name, (result, _) in ways.items() if result == 0]
        assert not through and len(ways) > 40, (through, out)
        loggers.expect_nobody()
        assert arm.hops() >= 10, arm.entry()


def test_every_deterministic_way():
    check_ways("")


def test_every_deterministic_way_of_i386():
    check_ways("_32")


def check_race(kind, seconds, suffix="", wins=True):
    """`wins`: the race must have been won, or it proved nothing."""
    with Scene() as scene, Loggers() as loggers:
        scene.serve(loggers.port)
        arm = scene.arm("sockhop")
        words = scene.program(f"race{suffix}", kind, seconds, scene.address, loggers.port)
        said = arm.run(words, timeout=seconds + 60).stdout.split()
        tries, won = int(said[1]), int(said[3])
        print(f"{kind}: {tries} tries, {won} won")
        assert tries > 100, said
        assert won > 0 or not wins, "the race was never won"
        loggers.expect_nobody()
        assert int(arm.entry().get("engine_restarts", 0)) == 0


def test_race_of_the_address():
    check_race("sockaddr", SHORT)


def test_race_of_dup2():
    check_race("dup2", SHORT)


def test_race_of_munmap():
    check_race("munmap", 5)


def test_race_of_i386():
    check_race("sockaddr", 5, "_32")


def test_race_of_dup2_of_i386():
    check_race("dup2", SHORT, "_32")


def test_race_of_the_words_of_i386():
    check_race("words", SHORT, "_32")


def long_race_of_the_words_of_i386():
    check_race("words", FULL, "_32")


def long_race_of_the_address():
    check_race("sockaddr", FULL)


def long_race_of_dup2():
    check_race("dup2", FULL)


def long_race_of_dup2_of_i386():
    check_race("dup2", FULL, "_32")


def check_accepted(relayed):
    """Clients come from the machine, or from the host itself over lo (then it is relayed)."""
    with Scene() as scene, Loggers() as loggers:
        port = scene.machine.host_port()
        arm = scene.arm("sockhop", ports=[f"{port}:80"])
        server = scene.program("accepted", 80, 5, loggers.port)
        out = f"{RUN}/accepted.log"
        process = arm.popen(server, out)
        place, address = (scene.arm("host"), "127.0.0.1") if relayed else (scene.machine,
                                                                           scene.machine.host4)
        client = ("import socket,sys\n"
                  "try: socket.create_connection((sys.argv[1], int(sys.argv[2])), 5).recv(1)\n"
                  "except ConnectionRefusedError: sys.exit(1)\nexcept OSError: pass")
        for _ in range(5):
            wait_for(lambda: place.run(["python3", "-c", client, address, port], check=False)
                     .returncode == 0, "the published port", alive=process)
        assert process.wait(20) == 0
        with open(out) as file:
            lines = file.read().splitlines()
        attempts = [line for line in lines if not line.startswith(("side", "bind"))]
        # The leash of an injected one cannot be changed; a relayed one reaches no other lo.
        assert lines.count("bind to lo -1 1") == (0 if relayed else 5), lines
        assert lines.count("side 0 0") == 5, lines
        assert len(attempts) == 25 and not [a for a in attempts if a.split()[-2] == "0"], lines
        loggers.expect_nobody()


def test_accepted_socket():
    check_accepted(relayed=False)


def test_relayed_socket():
    check_accepted(relayed=True)


def test_socket_passed_to_a_process_without_filter():
    with Scene() as scene, Loggers() as loggers:
        scene.serve(loggers.port)
        shared = f"{RUN}/shared"
        os.mkdir(shared)
        os.chmod(shared, 0o777)
        shutil.copy(f"{PROGRAMS}/use_passed.py", shared)
        helper = subprocess.Popen(
            as_user([sys.executable, f"{shared}/use_passed.py", f"{shared}/channel", loggers.port]),
            stdout=subprocess.PIPE, text=True)
        assert helper.stdout.readline() == "ready\n"
        arm = scene.arm("sockhop", mounts=[(shared, "/mnt/shared")])
        arm.run(scene.program("pass", "/mnt/shared/channel", scene.address, loggers.port))
        found = json.loads(helper.stdout.readline())
        assert helper.wait(10) == 0
        assert len(found) == 12 and not [name for name, error in found if error == 0], found
        loggers.expect_nobody()


if __name__ == "__main__":
    main(globals())
