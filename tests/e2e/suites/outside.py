"""A suite's servers on the other machine: programs/outside.{c,go,py} and what they are told."""

import os
import socket
import sys

from harness.container import SUBNET6
from harness.isolate import RUN, expose
from harness.languages import PROGRAMS
from harness.process import run, wait_for

INSIDE = "/mnt/outside"


def mount(lab):
    """Starts the maker of sockets; the mount that a container needs."""
    place = expose("", "outside")
    run(["gcc", "-O2", "-shared", "-fPIC", "-Wall", "-Wextra", "-Werror", "-D_DEFAULT_SOURCE",
         "-o", f"{place}/outside.so", f"{PROGRAMS}/outside.c"])
    made = f"{place}/socket"
    process = lab.machine.popen([sys.executable, f"{PROGRAMS}/outside.py", made],
                                f"{RUN}/outside.log")
    wait_for(lambda: os.path.exists(made), "the maker of sockets", alive=process)
    return place, INSIDE


def switch_on(arm, late):
    """From here on every dynamic program of the container has its TCP servers outside."""
    machine, own = arm.lab.machine, arm.container.address
    own6 = f"{SUBNET6}{int(own.rsplit('.', 1)[1]):x}"
    lines = [f"{INSIDE}/socket"]
    for family, shown in ((socket.AF_INET, (machine.address4, machine.host4, own)),
                          (socket.AF_INET6, (machine.address6, machine.host6, own6))):
        lines.append(" ".join(socket.inet_pton(family, address).hex() for address in shown))
    arm.container.write("/etc/outside", "\n".join([*lines, *late, ""]))
    arm.container.write("/etc/ld.so.preload", f"{INSIDE}/outside.so\n")
