"""Makes TCP sockets in its own network namespace for others: the other half of outside.c.

Everyone who connects to the unix socket of the command line and sends a family gets one.
"""

import os
import socket
import sys

FAMILIES = {b"4": socket.AF_INET, b"6": socket.AF_INET6}


def serve(path):
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
        listener.bind(path + ".new")
        os.chmod(path + ".new", 0o777)
        listener.listen(128)
        os.rename(path + ".new", path)
        while True:
            channel, _ = listener.accept()
            with channel:
                family = FAMILIES.get(channel.recv(1))
                if family:
                    with socket.socket(family, socket.SOCK_STREAM) as made:
                        socket.send_fds(channel, [b"!"], [made.fileno()])


serve(sys.argv[1])
