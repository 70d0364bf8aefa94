"""A user and network namespace served by pasta, with the interface of harness.RootlessKit."""

from harness.isolate import RUN
from harness.process import as_user, run, runtime_dir, start, stop, tail, wait_for


class PastaKit:
    """`host_port` of the host leads to `port` inside."""

    def __init__(self, host_port, port):
        self.holder = start(as_user([
            "unshare", "--user", "--map-root-user", "--map-auto", "--mount", "--net",
            "--propagation", "slave", "sleep", "infinity"]))
        self.child = self.holder.pid
        # The maps are written after the namespaces are made; sleep is there once they are.
        wait_for(lambda: self._command_of_holder() == "sleep", "unshare", alive=self.holder)
        self.log = f"{RUN}/pasta.log"
        self.pasta = start(as_user([
            "pasta", "--config-net", "--foreground", "--quiet", "--no-map-gw", "--log-file",
            f"{runtime_dir()}/pasta.log", "--tcp-ports", f"{host_port}:{port}", "--udp-ports", "none",
            "--tcp-ns", "none", "--udp-ns", "none", self.child]), self.log)
        try:
            wait_for(self._has_route, "pasta's network", alive=self.pasta)
        except Exception as error:
            self.close()
            raise type(error)(f"{error}\n{tail(self.log)}") from error

    def _command_of_holder(self):
        with open(f"/proc/{self.child}/comm") as file:
            return file.read().strip()

    def _has_route(self):
        return self.run(["ip", "-4", "route", "show", "default"], check=False).stdout.strip()

    def argv(self, argv):
        return as_user(["nsenter", "-t", self.child, "-U", "--preserve-credentials", "-m", "-n",
                        f"--wd={RUN}", "--", *argv])

    def run(self, argv, **options):
        return run(self.argv(argv), **options)

    def close(self):
        stop(self.pasta)
        stop(self.holder)
