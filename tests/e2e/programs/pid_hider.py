"""A runtime's side of seccomp.sock in which process ids mean nothing: pid_hider.py HERE THERE PID.

Takes container process states at the socket HERE and brings them to THERE with the pid PID in them.
"""

import json
import os
import socket
import sys

here, there, pid = sys.argv[1], sys.argv[2], int(sys.argv[3])
listener = socket.socket(socket.AF_UNIX)
listener.bind(here)
listener.listen()
while True:
    runtime, _ = listener.accept()
    text, descriptors = b"", []
    while True:
        part, more, _, _ = socket.recv_fds(runtime, 65536, 4)
        text += part
        descriptors += more
        try:
            state = json.loads(text)
            break
        except ValueError:
            continue
    state["pid"] = state["state"]["pid"] = pid
    daemon = socket.socket(socket.AF_UNIX)
    daemon.connect(there)
    socket.send_fds(daemon, [json.dumps(state).encode()], descriptors)
    for number in descriptors:
        os.close(number)
    daemon.close()
    runtime.close()
