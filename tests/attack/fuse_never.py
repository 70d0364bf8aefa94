"""A FUSE file system with one file, "page", whose reads are never answered; no library.

    with NeverFs("/some/dir") as fs:
        a process that touches a mapping of /some/dir/page waits, until fs.abort()
"""

import ctypes
import os
import stat
import struct
import threading

LOOKUP, GETATTR, OPEN, READ, RELEASE, INIT, FORGET, OPENDIR = 1, 3, 14, 15, 18, 26, 2, 27
ROOT, FILE = 1, 2
SIZE = 4096

libc = ctypes.CDLL(None, use_errno=True)


def attributes(node):
    directory = node == ROOT
    mode = stat.S_IFDIR | 0o755 if directory else stat.S_IFREG | 0o644
    return struct.pack("<6Q10I", node, 0 if directory else SIZE, 8, 0, 0, 0, 0, 0, 0, mode, 1, 0, 0,
                       0, SIZE, 0)


class NeverFs:
    def __init__(self, target):
        self.target = target
        os.makedirs(target)
        self.device = os.open("/dev/fuse", os.O_RDWR)
        options = f"fd={self.device},rootmode=40000,user_id=0,group_id=0,allow_other".encode()
        if libc.mount(b"never", target.encode(), b"fuse", 0, options) != 0:
            raise OSError(ctypes.get_errno(), "mount of a FUSE file system")
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self):
        while True:
            try:
                request = os.read(self.device, 1 << 20)
            except OSError:
                return
            _, operation, unique, node = struct.unpack_from("<IIQQ", request)
            self._answer(operation, unique, node, request[40:])

    def _answer(self, operation, unique, node, body):
        if operation in (READ, FORGET):
            return  # never, or not expected
        payload, error = b"", 0
        if operation == INIT:
            payload = struct.pack("<4I2H2I", 7, 31, 0, 0, 12, 9, 4096, 1).ljust(64, b"\0")
        elif operation == LOOKUP and body.rstrip(b"\0") == b"page":
            payload = struct.pack("<4Q2I", FILE, 0, 3600, 3600, 0, 0) + attributes(FILE)
        elif operation == LOOKUP:
            error = -2
        elif operation == GETATTR:
            payload = struct.pack("<Q2I", 3600, 0, 0) + attributes(node)
        elif operation in (OPEN, OPENDIR):
            payload = struct.pack("<Q2I", 0, 0, 0)
        elif operation != RELEASE:
            error = -38
        try:
            os.write(self.device, struct.pack("<IiQ", 16 + len(payload), error, unique) + payload)
        except OSError:
            pass  # its asker was interrupted

    def __enter__(self):
        return self

    def abort(self):
        """As if the server had ended: who waits for an answer gets an error."""
        number = os.minor(os.stat(self.target).st_dev)
        control = f"{self.target}.control"
        os.makedirs(control)
        if libc.mount(b"control", control.encode(), b"fusectl", 0, None) == 0:
            with open(f"{control}/{number}/abort", "w") as file:
                file.write("1")
            libc.umount2(control.encode(), 2)

    def __exit__(self, *_):
        libc.umount2(self.target.encode(), 2)
