"""What stands between a container and the host: RootlessKit + slirp4netns, or pasta."""

import os

from .isolate import RUN
from .process import Skip, as_user, run, runtime_dir, start, stop, tail, wait_for


class RootlessKit:
    def __init__(self, ipv6=False):
        self.state = f"{runtime_dir()}/rootlesskit"
        self.log = f"{RUN}/rootlesskit.log"
        options = ["--net=slirp4netns", "--disable-host-loopback", "--mtu=65520",
                   "--slirp4netns-sandbox=auto", "--slirp4netns-seccomp=auto",
                   "--port-driver=builtin", "--copy-up=/etc", "--copy-up=/run",
                   "--propagation=rslave", f"--state-dir={self.state}"]
        if ipv6:
            options.append("--ipv6")
        self.process = start(as_user(["rootlesskit", *options, "sleep", "infinity"]), self.log)
        try:
            self.child = wait_for(self._child_pid, "RootlessKit", alive=self.process)
            wait_for(self._has_tap, "slirp4netns' tap", alive=self.process)
        except Exception as error:
            raise type(error)(f"{error}\n{tail(self.log)}") from error
        self.run(["sh", "-c", "echo 1 >/proc/sys/net/ipv4/ip_forward"])
        if ipv6:
            # By hand what slirp4netns' advertisement would bring seconds later.
            self.run(["sh", "-ec", "echo 1 >/proc/sys/net/ipv6/conf/all/forwarding;"
                      "ip -6 addr add fd00::100/64 dev tap0 nodad;"
                      "ip -6 route add default via fd00::2 dev tap0"])

    def _child_pid(self):
        # api.sock appears after the child is set up; child_pid appears before.
        if not os.path.exists(f"{self.state}/api.sock"):
            return None
        with open(f"{self.state}/child_pid") as file:
            return int(file.read())

    def _has_tap(self):
        return " tap0" in self.run(["ip", "-4", "-o", "addr"], check=False).stdout

    def argv(self, argv):
        """As root of the user namespace, as an engine there runs: all its capabilities, no more."""
        return as_user(["nsenter", "-t", self.child, "-U", "--preserve-credentials", "-m", "-n",
                        f"--wd={RUN}", "--", *argv])

    def run(self, argv, **options):
        return run(self.argv(argv), **options)

    def popen(self, argv, log=None):
        return start(self.argv(argv), log)

    def publish(self, host_port, address, port):
        """Publishes by RootlessKit's own builtin driver, as the plain arm does."""
        run(as_user(["rootlessctl", f"--socket={self.state}/api.sock", "add-ports",
                     f"0.0.0.0:{host_port}:{address}:{port}/tcp"]))

    def close(self):
        stop(self.process)


class Pasta:
    """A user and a network namespace of the test user, served by pasta, without RootlessKit."""

    def __init__(self):
        self.log = f"{RUN}/pasta.log"
        if not run(["ip", "-4", "route", "show", "default"]).stdout:
            raise Skip("pasta copies the interface of the default route, and this host has none")
        self.holder = start(as_user(["unshare", "--user", "--map-root-user", "--map-auto", "--net",
                                     "--mount", "--propagation", "slave", "sleep", "infinity"]))
        self.child = self.holder.pid
        exe = f"/proc/{self.child}/exe"
        wait_for(lambda: os.path.basename(os.readlink(exe)) == "sleep", "the user namespace",
                 alive=self.holder)
        options = ["--config-net", "--foreground", "--tcp-ports", "none", "--udp-ports", "none"]
        self.process = start(as_user(["pasta", *options, self.child]), self.log)
        try:
            wait_for(self._has_route, "pasta's tap", alive=self.process)
        except Exception as error:
            raise type(error)(f"{error}\n{tail(self.log)}") from error

    def _has_route(self):
        return "scope" in self.run(["ip", "-4", "-o", "addr", "show", "scope", "global"],
                                   check=False).stdout

    def argv(self, argv):
        return as_user(["nsenter", "-t", self.child, "-U", "--preserve-credentials", "-m", "-n",
                        f"--wd={RUN}", "--", *argv])

    def run(self, argv, **options):
        return run(self.argv(argv), **options)

    def close(self):
        stop(self.process)
        stop(self.holder)
