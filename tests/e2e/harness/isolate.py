"""A pid and a mount namespace around a test.

Everything a test starts lives in a pid namespace that ends with the test, and everything it mounts
(network namespace names, its runtime directory, overlays) in a mount namespace that ends with it
too. So the kernel cleans up, also after SIGKILL, and parallel tests never see each other's files.
The network namespace stays the machine's own: that is where a rootless container's user lives.
"""

import os
import shutil
import signal
import subprocess
import sys

from .machine import sweep
from .process import STATE, Skip, run, runtime_dir, user_entry

RUN = f"{STATE}/run"
SKIPPED = 77
NEEDED = ["unshare", "nsenter", "setpriv", "ip", "nft", "runc", "rootlesskit", "slirp4netns",
          "newuidmap"]


def require_programs(names):
    for name in names:
        if shutil.which(name) is None:
            raise Skip(f"{name} is not installed (tests/run.sh installs it)")


def isolate():
    """Returns inside the namespaces; the first call of a process replaces it."""
    state = os.environ.get("SOCKHOP_ISOLATED")
    if state == "new":
        _mount_private()
        os.environ["SOCKHOP_ISOLATED"] = "done"
    if state is not None:
        return
    if os.geteuid() != 0:
        raise Skip("needs root")
    require_programs(NEEDED)
    try:
        user_entry()
    except KeyError as error:
        raise Skip("no test user (tests/run.sh adds it)") from error
    sys.exit(_run_inside([sys.executable, *sys.argv]))


def _run_inside(argv):
    """Runs `argv` in namespaces that end with us, however we end; answers its exit status."""
    # The shell in between is pid 1 of the namespace and reaps orphans as an init does.
    child = subprocess.Popen(
        ["setpriv", "--pdeathsig", "KILL", "unshare", "--mount", "--propagation", "private",
         "--pid", "--fork", "--kill-child", "--mount-proc",
         "sh", "-c", 'trap : INT TERM; "$@"; exit $?', "sh", *argv],
        env={**os.environ, "SOCKHOP_ISOLATED": "new"})
    caught = []

    def end(number, _frame):
        caught.append(number)
        child.kill()  # unshare blocks SIGTERM; its own death takes the namespace along

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, end)
    status = child.wait()
    sweep()
    return 128 + caught[0] if caught else status


def _mount_private():
    entry = user_entry()
    for path in (RUN, runtime_dir(), "/run/netns"):
        os.makedirs(path, exist_ok=True)
        run(["mount", "-t", "tmpfs", "-o", "mode=755", "tmpfs", path])
    # Mounts made here later (a container's root) must arrive in RootlessKit's mount namespace.
    run(["mount", "--make-shared", RUN])
    os.chown(runtime_dir(), entry.pw_uid, entry.pw_gid)
    os.chmod(runtime_dir(), 0o700)


def expose(source, name):
    """Shows a directory where the test user can reach it (a clone may lie below /root)."""
    target = f"{RUN}/{name}"
    if not os.path.isdir(target):
        os.mkdir(target)
        if os.path.isdir(source):
            run(["mount", "--bind", source, target])
    return target


def pure_cgroup2():
    """crun refuses a hybrid cgroup layout: show it the plain one. Before RootlessKit starts."""
    if run(["stat", "-f", "-c", "%T", "/sys/fs/cgroup"]).stdout.strip() != "cgroup2fs":
        run(["mount", "-t", "cgroup2", "none", "/sys/fs/cgroup"])
