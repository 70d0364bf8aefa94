"""Rootless Podman as the test user, with a store of its own that ends with the test."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))

from harness import run  # noqa: E402
from harness.container import rootfs  # noqa: E402
from harness.isolate import RUN, require_programs  # noqa: E402
from harness.process import as_user, runtime_dir, user_entry  # noqa: E402


class Podman:
    """`runtime`: name or path, None for the one of `config`, a containers.conf."""

    def __init__(self, runtime="runc", config=None, hooks_dir=None):
        require_programs(["podman", "conmon"])
        self.store = f"{RUN}/podman"
        if not os.path.isdir(self.store):
            os.mkdir(self.store)
            os.chown(self.store, user_entry().pw_uid, user_entry().pw_gid)
        chosen = [f"--runtime={runtime}"] if runtime else []
        if hooks_dir:
            chosen.append(f"--hooks-dir={hooks_dir}")
        configured = ["env", f"CONTAINERS_CONF={config}"] if config else []
        self.words = [*configured, "podman", "--cgroup-manager=cgroupfs", "--events-backend=file",
                      "--storage-driver=vfs", f"--root={self.store}",
                      f"--runroot={runtime_dir()}/podman", *chosen]

    def argv(self, *words):
        return as_user([*self.words, *words])

    def command(self, *words, **options):
        return run(self.argv(*words), cwd="/", **options)

    def _run(self, words, options, how, command="run"):
        """The test's root file system; what a container writes goes to an overlay."""
        return self.command(command, *options, "--rootfs", f"{rootfs()}:O", *words, **how)

    def run(self, *words, options=(), **how):
        """Runs to the end."""
        return self._run(words, ["--rm", *options], how)

    def start(self, name, *words, options=(), **how):
        """A container that goes on; answers its id."""
        return self._run(words, ["-d", "--name", name, *options], how).stdout.strip()

    def create(self, name, *words, options=(), **how):
        return self._run(words, ["--name", name, *options], how, "create").stdout.strip()

    def remove(self, *names):
        self.command("rm", "-f", "-t", "0", *names)

    def execute(self, name, *words, **how):
        return self.command("exec", name, *words, **how)
