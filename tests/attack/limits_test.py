"""A container uses up what the kernel counts per user; its own and other containers' calls go on."""

from scene import Scene, main, wait_for

PORT, WEB, HOST_PORT = 7200, 80, 27200

# Says "full" when nothing more can be had, and holds it.
HOG = """
import array, ctypes, socket, time
libc = ctypes.CDLL(None, use_errno=True)
instances = 0
while libc.inotify_init() >= 0:
    instances += 1
flying, pairs = 0, []
one = array.array("i", [0] * 250).tobytes()
try:
    while flying < 100000:
        pair = socket.socketpair()
        pairs.append(pair)
        pair[0].sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, one)])
        flying += 250
except OSError as error:
    print("full", instances, flying, error.errno, flush=True)
time.sleep(600)
"""
ETOOMANYREFS, EMFILE = 109, 24
# Started before the limits are used up: a runtime cannot hand over a notify fd afterwards.
CLIENT = """
import os, socket, sys, time
print("started", flush=True)
while not os.path.exists("/go"):
    time.sleep(0.01)
for _ in range(20):
    socket.create_connection((sys.argv[1], int(sys.argv[2])), 10).close()
print("connected", flush=True)
"""
SERVER = f"""
import socket
listener = socket.create_server(("", {WEB}))
print("listening", flush=True)
while True:
    connection, _ = listener.accept()
    connection.sendall(b"served")
    connection.close()
"""


def says(path, word):
    with open(path) as file:
        text = file.read()
    return text if word in text else None


def start(scene, arm):
    """A client in the arm, and the file it writes to."""
    log = f"{arm.container.bundle}/client"
    process = arm.popen(["python3", "-c", CLIENT, scene.address, str(PORT)], log)
    wait_for(lambda: says(log, "started"), "the client", alive=process)
    return log


def fetch(scene):
    """What the published port says to a client of the machine."""
    code = ("import socket, sys; print(socket.create_connection((sys.argv[1], int(sys.argv[2])), 10)"
            ".recv(16).decode())")
    return scene.machine.run(["python3", "-c", code, scene.machine.host4, HOST_PORT]).stdout.strip()


def test_limits_of_the_user_are_used_up():
    with Scene() as scene:
        scene.serve(PORT)
        hostile = scene.arm("sockhop", name="hostile", ports=[f"{HOST_PORT}:{WEB}"])
        other = scene.arm("sockhop", name="other")
        clients = {arm: start(scene, arm) for arm in (hostile, other)}
        server_log, hog_log = f"{hostile.container.bundle}/server", f"{hostile.container.bundle}/hog"
        server = hostile.popen(["python3", "-c", SERVER], server_log)
        wait_for(lambda: says(server_log, "listening"), "the server", alive=server)
        hog = hostile.popen(["python3", "-c", HOG], hog_log)
        text = wait_for(lambda: says(hog_log, "full"), "the limits", timeout=60, alive=hog)
        _, instances, flying, error = map(int, text.replace("full", "0").split())
        assert instances > 0 and flying > 0 and error in (ETOOMANYREFS, EMFILE), text

        for arm, log in clients.items():
            arm.container.write("/go", "")
            wait_for(lambda: says(log, "connected"), f"the connects of {arm.container.name}")
            assert arm.hops() >= 20, arm.entry()
        for _ in range(20):
            assert fetch(scene) == "served"
        assert int(hostile.entry()["ports"][0]["injected"]) >= 20, hostile.entry()


if __name__ == "__main__":
    main(globals())
