"""Uses the sockets it was started with: 3 listens, 4 and 5 are new. Prints what it saw, as JSON.

Arguments: two addresses HOST PORT to connect 4 and 5 to. Prints "ready" before it accepts.
"""

import json
import socket
import sys

listener, *others = (socket.socket(fileno=number) for number in (3, 4, 5))
words = sys.argv[1:]
print("ready", flush=True)
seen = {"listener": listener.getsockname()}
for name, other, host, port in zip(("first", "second"), others, words[::2], words[1::2]):
    try:
        other.connect((host, int(port)))
        seen[name] = [other.getpeername(), other.getsockname()[0]]
    except OSError as error:
        seen[name] = str(error)
accepted, peer = listener.accept()
seen["accepted"] = [peer[0], accepted.getsockname(), accepted.recv(16).decode()]
listener.listen(1)
print(json.dumps(seen), flush=True)
