"""Language runtimes of this machine, brought into a container by bind mounts or static linking."""

import os
import shutil

from .isolate import RUN, expose
from .process import STATE, Skip, run

PROGRAMS = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "programs")
INSIDE = "/mnt/programs"


def programs_mount():
    """tests/e2e/programs as a mount of a container, at INSIDE."""
    return expose(PROGRAMS, "programs"), INSIDE


def _find(program, *places):
    for path in (shutil.which(program), *places):
        if path and os.access(path, os.X_OK):
            return os.path.realpath(path)
    raise Skip(f"{program} is not on this machine")


def node():
    """(mounts, command line) of Node.js."""
    return [(_find("node"), "/usr/local/bin/node")], ["node"]


def java():
    home = os.path.dirname(os.path.dirname(_find("java")))
    if not os.path.exists(f"{home}/bin/javac"):
        raise Skip("java is here without its compiler")
    # The JDK's configuration is a link into /etc on Debian.
    conf = os.path.realpath(f"{home}/conf/security/java.security")
    mounts = [(home, home)]
    if conf.startswith("/etc/"):
        top = "/".join(conf.split("/")[:3])
        mounts.append((top, top))
    return mounts, [f"{home}/bin/java"]


def go_program(source):
    """A static program of one Go file; (mounts, command line)."""
    go = _find("go", "/usr/local/go/bin/go", "/usr/lib/go/bin/go")
    target = f"{RUN}/go"
    os.makedirs(target, exist_ok=True)
    run([go, "build", "-o", f"{target}/program", f"{PROGRAMS}/{source}"], timeout=170,
        cwd=target, env={"PATH": os.environ["PATH"], "HOME": target, "CGO_ENABLED": "0",
                         "GOCACHE": f"{STATE}/go-cache", "GOPATH": f"{target}/path",
                         "GOFLAGS": "-mod=mod", "GO111MODULE": "off", "GOPROXY": "off"})
    return [(target, "/mnt/go")], ["/mnt/go/program"]


def c_program(source, *options):
    """A static program of one C file: (mount, command in the container)."""
    target = f"{RUN}/c-{source}{''.join(options)}"
    name = source.removesuffix(".c")
    os.makedirs(target, exist_ok=True)
    run(["gcc", "-O2", "-static", "-pthread", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror",
         *options, "-o", f"{target}/{name}", f"{PROGRAMS}/{source}"])
    inside = f"/mnt/{os.path.basename(target)}"
    return (target, inside), f"{inside}/{name}"
