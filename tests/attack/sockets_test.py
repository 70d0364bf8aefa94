"""sockhop's own sockets, bind-mounted into a container, serve none of its processes."""

from scene import Scene, main, wait_for

from harness.process import runtime_dir, tail

SOCKETS = "/mnt/sockhop"
# What each socket does with a process of the container: prints one line, "name outcome".
KNOCK = """
import array, json, os, socket, sys
folder, mode = sys.argv[1], sys.argv[2]

def state(name, pid):
    return json.dumps({"ociVersion": "1.0.2", "fds": ["seccompFd"], "pid": pid, "state": {
        "ociVersion": "1.0.2", "id": name, "status": "creating", "pid": pid, "bundle": "/"}}).encode()

def knock(path, kind, text, descriptors=()):
    with socket.socket(socket.AF_UNIX, kind) as knocker:
        knocker.settimeout(20)
        try:
            knocker.connect(path)
            rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))]
            knocker.sendmsg([text], rights if descriptors else [])
            return "served" if mode == "stay" and knocker.recv(100) else "closed"
        except (ConnectionError, BrokenPipeError):
            return "closed"

if mode == "stay":
    print("control", knock(f"{folder}/sockhop.sock", socket.SOCK_STREAM,
                           b"PRI * HTTP/2.0\\r\\n\\r\\nSM\\r\\n\\r\\n" + bytes([0, 0, 0, 4, 0, 0, 0, 0, 0])))
    for name in os.listdir(f"{folder}/sessions"):
        print("session", knock(f"{folder}/sessions/{name}", socket.SOCK_SEQPACKET, b"hello"),
              flush=True)
# A container that has our filter gets no second notify fd from the kernel (EBUSY); that the daemon
# misses it in the message shows that it took the message in.
for number in range(1 if mode == "stay" else 200):
    if os.fork() == 0:
        knock(f"{folder}/seccomp.sock", socket.SOCK_STREAM, state(f"evil{number}", os.getpid()), [0])
        os._exit(0)
    os.wait()
print("done x")
"""


def check(flavour, mode):
    with Scene() as scene:
        daemon = scene.daemon
        other = scene.arm("sockhop", flavour=flavour, name="other")
        arm = scene.arm("sockhop", flavour=flavour, name="hostile",
                        mounts=[(f"{runtime_dir()}/sockhop", SOCKETS)])
        other.run(["true"])
        before = daemon.containers()
        assert set(before) == {"other", "hostile"}
        said = arm.run(["python3", "-c", KNOCK, SOCKETS, mode], check=False)
        lines = said.stdout.splitlines()
        assert lines and lines[-1] == "done x", said
        assert not [line for line in lines if line.endswith(" served")], lines
        if mode == "stay":
            assert len([line for line in lines if line.startswith("session ")]) == 2, lines
        wait_for(lambda: "refused" in tail(daemon.log, 10**6), "the log to tell it")
        if (flavour, mode) != ("shared", "leave"):  # nobody can tell that one from a runtime
            assert "sent no seccomp notify fd" not in tail(daemon.log, 10**6)
        after = daemon.containers()
        assert set(after) == {"other", "hostile"}, after
        for name, entry in after.items():
            assert not entry["unreachable"] and entry["guard_pid"] == before[name]["guard_pid"]


def test_container_with_its_own_network():
    check("own", "stay")


def test_container_that_shares_its_network():
    check("shared", "stay")


def test_process_that_ends_at_once():
    check("own", "leave")


def test_process_that_ends_at_once_and_shares_its_network():
    check("shared", "leave")


if __name__ == "__main__":
    main(globals())
