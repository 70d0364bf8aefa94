"""Tcl, Ruby, Go and GLib: suites that need no build, or one of a minute."""

import os
import re
import shutil

from harness.languages import PROGRAMS

from . import tap
from .fetch import INSIDE, file_hash, run_inside
from .suite import FAIL, OK, SKIP, Suite


class Tcl(Suite):
    """Binds each socket to any port before it connects it; such a socket would stay."""

    name = "tcl"
    packages = {"tcl8.6": "8.6.13"}
    sources = {"tcl8.6": "8.6.13"}
    late = ("late",)
    flaky = {"socket_*-2.13": "gives the server 5 ms to see its client's close; with two machines "
                              "it fails now and then on a host without any container, too",
             "socket_*-11.2": "its client has a port of its own, so it sits on the other machine, "
                              "as its server does, and sockhop has no part in it"}
    least = {False: (150, 130), True: (150, 130)}
    line = re.compile(r"^(?:\+\+\+\+ (\S+) (PASSED|SKIPPED)|==== (\S+) .*FAILED$)", re.MULTILINE)

    def script(self, whole):
        return (f"cp -r {INSIDE}/tcl8.6/tests/. /tmp/suite && cd /tmp/suite &&"
                "tclsh8.6 socket.test -verbose bps")

    def results(self, arm, text):
        results = {}
        for name, status, failed in self.line.findall(text):
            results[name or failed] = FAIL if failed else OK if status == "PASSED" else SKIP
        return results


class Ruby(Suite):
    name = "ruby"
    packages = {"ruby3.1": "3.1.2", "netbase": "6.4"}
    sources = {"ruby3.1": "3.1.2"}
    least = {False: (170, 4000), True: (170, 4000)}
    ran = re.compile(r"^\[.*\] (\w+#\w+) = ", re.MULTILINE)
    noted = re.compile(r"^ +\d+\) (Failure|Error|Skipped):\n(\w+#\w+)", re.MULTILINE)

    def script(self, whole):
        return (f"cd {INSIDE}/ruby3.1 && ruby3.1 -Itool/lib -Itest/lib -Itest test/runner.rb -v "
                "test/socket")

    def results(self, arm, text):
        results = dict.fromkeys(self.ran.findall(text), OK)
        for kind, name in self.noted.findall(text):
            results[name] = SKIP if kind == "Skipped" else FAIL
        return results


class Go(Suite):
    """A static program that makes its system calls itself: programs/outside.go is built into it."""

    name = "go-net"
    packages = {"golang-1.19-go": "1.19.8", "golang-1.19-src": "1.19.8",
                "netbase": "6.4"}
    recipe = file_hash(f"{PROGRAMS}/outside.go")
    least = {False: (310, 300), True: (310, 300)}
    line = re.compile(r"^ *--- (PASS|FAIL|SKIP): (\S+) ", re.MULTILINE)
    calls = "bind|connect|accept4|getsockname|getpeername|Listen"
    build_script = f"""
        cd /usr/share/go-1.19/src/syscall
        sed -E 's/^func ({calls})\\(/func \\1Here(/' zsyscall_linux_amd64.go >/tmp/calls.go
        echo "{{\\"Replace\\": {{\\"$PWD/zsyscall_linux_amd64.go\\": \\"/tmp/calls.go\\",
              \\"$PWD/outside.go\\": \\"/mnt/outside.go\\"}}}}" >/tmp/overlay.json
        export CGO_ENABLED=0 GOFLAGS=-buildvcs=false GOROOT=/usr/lib/go-1.19
        cd ../net && exec /usr/lib/go-1.19/bin/go test -vet=off -overlay /tmp/overlay.json \\
          -c -o /mnt/net.test net"""

    def build(self, layer):
        """The test program, linked statically by the layer's own Go."""
        target = f"{layer}{INSIDE}/go"
        os.makedirs(target)
        shutil.copy(f"{PROGRAMS}/outside.go", target)
        run_inside(layer, self.build_script, target)
        shutil.rmtree(f"{layer}/usr/lib/go-1.19")  # 400 MB that only the build needs

    def script(self, whole):
        return f"cd /usr/share/go-1.19/src/net && {INSIDE}/go/net.test -test.v -test.short"

    def results(self, arm, text):
        status = {"PASS": OK, "FAIL": FAIL, "SKIP": SKIP}
        return {name: status[word] for word, name in self.line.findall(text)}


class Gio(Suite):
    name = "gio"
    packages = {"libglib2.0-tests": "2.74.6"}
    least = {False: (20, 10), True: (200, 45)}
    few = "socket socket-listener unix-fd"
    programs = ("socket socket-address socket-listener socket-service gsocketclient-slow "
                "inet-address network-address network-monitor network-monitor-race proxy-test "
                "srvtarget unix-fd unix-streams gdbus-peer gdbus-non-socket gdbus-server-auth "
                "gdbus-connection-slow pollable stream-rw_all tls-interaction")

    def script(self, whole):
        return ("cd /usr/libexec/installed-tests/glib && for program in %s; do "
                "echo \"## $program\"; timeout 60 ./$program --tap 2>/dev/null; done"
                % (self.programs if whole else self.few))

    def results(self, arm, text):
        results = {}
        for part in text.split("\n## "):
            results.update(tap.parse(part, part.split("\n", 1)[0].removeprefix("## ") + ":"))
        return results
