"""Opens COUNT connections, says a word on each, keeps them until its input ends; or makes and closes them.

    hold.py hold|cycle ADDRESS PORT COUNT

Prints how many answered.
"""

import resource
import socket
import struct
import sys

mode, address, port, count = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
kept, answered = [], 0
for number in range(count):
    one = socket.create_connection((address, port), 20)
    one.sendall(b"word")
    answered += one.recv(4, socket.MSG_WAITALL) == b"word"
    if mode == "hold":
        kept.append(one)
    else:
        # The port is free at once.
        one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        one.close()
print(answered, flush=True)
if mode == "hold":
    sys.stdin.read()
