"""Host sockets that a container is started with (socket activation) are left alone."""

import json
import os
import socket
import subprocess

from harness import Lab, main
from harness.process import HarnessError
from harness.servers import serve

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM = f"{HERE}/programs/activation.py"
PORT, LISTEN = 7100, 7101
CLIENT = "import socket, sys; socket.create_connection((sys.argv[1], {})).send(b'hello')"


def with_sockets(arm, sockets, words):
    """Starts the program in the arm with the sockets as its descriptors 3, 4, …"""
    path = PROGRAM if arm.name == "host" else "/programs/activation.py"
    argv = arm.argv(["python3", path, *words])
    if arm.name != "host":
        place = argv.index("exec") + 1
        argv[place:place] = ["--preserve-fds", str(len(sockets))]
    numbers = range(3, 3 + len(sockets))
    high = [os.dup2(one.fileno(), 40 + i) for i, one in enumerate(sockets)]

    def place_them():
        for number, one in zip(numbers, high):
            os.dup2(one, number)

    try:
        return subprocess.Popen([str(word) for word in argv], pass_fds=numbers, text=True,
                                preexec_fn=place_them, stdout=subprocess.PIPE,
                                stdin=subprocess.DEVNULL)
    finally:
        for one in high:
            os.close(one)


def story(lab, arm):
    """What the program in the arm saw, with a client of the other machine served."""
    with socket.create_server(("127.0.0.1", 0)) as own, \
            socket.create_server((lab.machine.host4, LISTEN)) as listener, \
            socket.socket() as first, socket.socket() as second:
        words = [lab.machine.address4, PORT, "127.0.0.1", own.getsockname()[1]]
        process = with_sockets(arm, (listener, first, second), words)
        assert process.stdout.readline() == "ready\n"
        listener.close()
        client = lab.machine.popen(["python3", "-c", CLIENT.format(LISTEN), lab.machine.host4])
        try:
            said = json.loads(process.communicate(timeout=30)[0])
        except subprocess.TimeoutExpired as error:
            process.kill()
            raise HarnessError(f"{arm.name}: the program does not end") from error
        client.wait(10)
        said["second"][0][1] = "port"
        return said


def test_sockets_that_came_with_the_container_are_left_alone():
    with Lab() as lab:
        serve(lab.machine, ["python3", "-m", "http.server", PORT], PORT)
        mount = (f"{HERE}/programs", "/programs")
        seen = {arm.name: story(lab, arm)
                for arm in lab.arms("host", "plain", "sockhop", mounts=[mount])}
        assert seen["host"]["accepted"][0] == lab.machine.address4, seen
        assert seen["plain"] == seen["host"], seen
        assert seen["sockhop"] == seen["host"], seen


if __name__ == "__main__":
    main(globals())
