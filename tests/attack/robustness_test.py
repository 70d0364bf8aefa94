"""Bad arguments, random calls, sheer numbers: a session lives, answers as Linux, keeps nothing."""

import os
import random
import re

from scene import Scene, main, parse, wait_for

CLOSED = 9
# What a connected host socket answers otherwise, and why:
KNOWN = re.compile("connected: (" + "|".join((
    "setsockopt empty device",  # the leash cannot be taken off
    "ioctl unknown",            # requests that sockhop does not know are refused
    "fastopen .*|sendm(m|)sg null",  # connected already: said before the name is looked at
    ".* read only.*",           # /proc/PID/mem writes where the process itself may only read
)) + ")")
PORT = 7100


def restarts(arm):
    return int(arm.entry().get("engine_restarts", 0))


def resident(pid):
    with open(f"/proc/{pid}/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmRSS:"))


def session(arm):
    entry = arm.entry()
    return int(entry["guard_pid"]), int(entry["engine_pid"])


def descriptors(arm):
    return len(os.listdir(f"/proc/{session(arm)[0]}/fd"))


def check_bad_calls(suffix):
    with Scene() as scene:
        scene.serve(PORT, "keep")
        words = scene.program(f"bad_calls{suffix}", scene.address, PORT, CLOSED)
        plain, ours = scene.arms("plain", "sockhop")
        expected, found = parse(plain.run(words).stdout), parse(ours.run(words).stdout)
        different = {name: (expected[name], found.get(name)) for name in expected
                     if found.get(name) != expected[name] and not KNOWN.fullmatch(name)}
        assert len(expected) > 1000
        assert not different, f"{len(different)}: (without, with sockhop): {different}"
        assert restarts(ours) == 0 and ours.hops() == 2, ours.entry()


def test_bad_arguments():
    check_bad_calls("")


def test_bad_arguments_of_i386():
    check_bad_calls("_32")


def check_random(count, suffix=""):
    seed = int(os.environ.get("SOCKHOP_SEED") or random.randrange(1, 1 << 30))
    print(f"SOCKHOP_SEED={seed}")
    with Scene() as scene:
        scene.serve(PORT)
        arm = scene.arm("sockhop", ports=[f"{scene.machine.host_port()}:80"])
        words = scene.program(f"random_calls{suffix}", seed, count, scene.address, PORT)
        assert arm.run(words, timeout=150).stdout == "done\n"
        assert int(arm.entry().get("calls", 0)) > count / 10, arm.entry()
        assert restarts(arm) == 0, arm.entry()
        median_of_connects(arm, scene, 20)


def median_of_connects(arm, scene, count):
    said = arm.run(scene.program("load", "latency", count, scene.address, PORT)).stdout.split()
    assert said[1] == "0", said
    return float(said[3])


def test_random_calls():
    check_random(20000)


def test_random_calls_of_i386():
    check_random(10000, "_32")


def long_random_calls():
    check_random(400000)


def check_load(kind, count):
    with Scene() as scene:
        scene.serve(PORT)
        arm = scene.arm("sockhop")
        warm = scene.program("load", kind, 100, scene.address, PORT)
        arm.run(warm)
        pids = session(arm)
        before, memory = descriptors(arm), sum(resident(pid) for pid in pids)
        said = arm.run(scene.program("load", kind, count, scene.address, PORT), timeout=150).stdout
        assert said in ("failed 0\n", f"killed {count}\n"), said
        wait_for(lambda: descriptors(arm) <= before + 2, f"descriptors: {before}", timeout=5)
        grown = sum(resident(pid) for pid in pids) - memory
        assert session(arm) == pids and grown < 4096, f"{grown} kB more"
        assert arm.hops() > count / 4, arm.entry()


def test_short_threads():
    check_load("threads", 3000)


def test_killed_children():
    check_load("children", 2000)


def long_killed_children():
    check_load("children", 20000)


def test_blocked_connects_beyond_the_slots():
    """More blocked connects than a session has slots: others of the container are still served."""
    with Scene() as scene:
        scene.serve(PORT)
        scene.blackhole(PORT + 1)
        arm = scene.arm("sockhop")
        alone = median_of_connects(arm, scene, 200)
        out = f"{os.path.dirname(scene.server_log)}/hold.log"
        holder = arm.popen(scene.program("load", "hold", 2000, scene.address, PORT + 1), out)
        wait_for(lambda: os.path.exists(out) and "holding" in open(out).read(), "the connects",
                 alive=holder)
        crowded = median_of_connects(arm, scene, 200)
        print(f"alone {alone} us, among 2,000 blocked connects {crowded} us")
        assert restarts(arm) == 0
        cpu = cpu_of(arm)
        median_of_connects(arm, scene, 1)
        assert cpu_of(arm) - cpu < 200, "ticks"
        arm.run(["sh", "-c", "kill -9 $(pidof attack_load)"])
        wait_for(lambda: holder.poll() is not None, "the end of the holder")
        median_of_connects(arm, scene, 20)


def cpu_of(arm):
    with open(f"/proc/{session(arm)[1]}/stat") as file:
        words = file.read().rsplit(")", 1)[1].split()
    return int(words[11]) + int(words[12])


if __name__ == "__main__":
    main(globals())
