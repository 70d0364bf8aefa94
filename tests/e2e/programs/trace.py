"""Follows a process as strace -f does, on the outside: stops at each system call, passes signals on.

    trace.py PID

Prints "tracing" when it holds all threads, and the number of stops when the process has ended.
"""

import ctypes
import os
import signal
import sys

SEIZE, SYSCALL, INTERRUPT, LISTEN = 0x4206, 24, 0x4207, 0x4208
TRACECLONE, SYSGOOD = 8, 1
WALL, EVENT_STOP = 0x40000000, 128

libc = ctypes.CDLL(None, use_errno=True)


def ptrace(request, thread, address=0, data=0):
    return libc.ptrace(ctypes.c_long(request), ctypes.c_long(thread), ctypes.c_void_p(address),
                       ctypes.c_void_p(data))


pid = int(sys.argv[1])
for name in os.listdir(f"/proc/{pid}/task"):
    if ptrace(SEIZE, int(name), 0, TRACECLONE | SYSGOOD) < 0:
        sys.exit(f"seize {name}: {os.strerror(ctypes.get_errno())}")
    ptrace(INTERRUPT, int(name))
print("tracing", flush=True)
stops = 0
while True:
    try:
        thread, status = os.waitpid(-1, WALL)
    except ChildProcessError:
        break
    if not os.WIFSTOPPED(status):
        continue
    stops += 1
    number, event = os.WSTOPSIG(status), status >> 16
    deliver = 0 if number in (signal.SIGTRAP, signal.SIGTRAP | 0x80) or event else number
    ptrace(SYSCALL, thread, 0, deliver)
print(stops)
