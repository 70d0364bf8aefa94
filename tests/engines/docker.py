"""Rootless Docker as the test user: dockerd inside RootlessKit, as dockerd-rootless.sh starts it."""

import os

import podman  # noqa: F401  for the path of the harness

from harness import HarnessError, run, wait_for
from harness.container import rootfs
from harness.isolate import RUN, require_programs
from harness.process import as_user, runtime_dir, start, stop, tail, user_entry

CHILD = """rm -rf /run/docker /run/containerd /run/xtables.lock; exec "$@" """
# Debian's, not another one that comes first in somebody's PATH.
CLIENT, SERVER = "/usr/bin/docker", "/usr/sbin/dockerd"
IMAGE = "base"
# What the image has comes from the test's root file system: nothing is copied.
MOUNTS = [word for folder in ("usr", "lib", "lib64", "bin")
          for word in ("-v", f"{{}}/{folder}:/{folder}:ro")]


class Docker:
    """`options`: dockerd's."""

    def __init__(self, *options):
        require_programs([CLIENT, SERVER, "containerd", "iptables"])
        self.data, self.log, xdg = f"{RUN}/docker", f"{RUN}/dockerd.log", runtime_dir()
        os.mkdir(self.data)
        os.chown(self.data, user_entry().pw_uid, user_entry().pw_gid)
        self.socket = f"unix://{xdg}/docker.sock"
        kit = ["rootlesskit", f"--state-dir={xdg}/dockerd-rootless", "--net=slirp4netns",
               "--mtu=65520", "--slirp4netns-sandbox=auto", "--slirp4netns-seccomp=auto",
               "--disable-host-loopback", "--port-driver=builtin", "--copy-up=/etc",
               "--copy-up=/run", "--propagation=rslave", "sh", "-c", CHILD, "sh"]
        server = [SERVER, f"--host={self.socket}", f"--data-root={self.data}",
                  f"--exec-root={xdg}/docker", f"--pidfile={xdg}/docker.pid",
                  "--storage-driver=vfs", "--rootless", "--experimental", *options]
        self.process = start(as_user([*kit, *server]), self.log, cwd="/")
        try:
            wait_for(lambda: self.command("version", check=False).returncode == 0, "dockerd",
                     timeout=60, alive=self.process)
        except HarnessError as error:
            raise HarnessError(f"{error}\n{tail(self.log)}") from error
        self._import()

    def _import(self):
        with open(f"{RUN}/empty", "w"):
            pass
        run(["tar", "-C", RUN, "-cf", f"{RUN}/image.tar", "empty"])
        self.command("import", f"{RUN}/image.tar", IMAGE)

    def command(self, *words, **options):
        return run(as_user([CLIENT, f"--host={self.socket}", *words]), cwd="/", **options)

    def run(self, *words, options=(), **how):
        mounts = [word.format(rootfs()) for word in MOUNTS]
        return self.command("run", *mounts, *options, IMAGE, *words, **how)

    def start(self, name, *words, options=(), **how):
        """A container that goes on; answers its id."""
        return self.run(*words, options=["-d", "--name", name, *options], **how).stdout.strip()

    def close(self):
        stop(self.process, timeout=20)
