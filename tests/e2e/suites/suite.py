"""A foreign suite in a container without and with sockhop, compared by name and status."""

import fnmatch
import json
import os
import subprocess
import time

from harness import HarnessError, Lab
from harness.container import SUBNET4, SUBNET6
from harness.process import tail

from . import outside
from .fetch import layer_of

OK, FAIL, SKIP = "ok", "fail", "skip"
# Routes to the other machine only, so that nothing a suite tries leaves this one; and multicast.
ROUTES = f"""
ip route del default; ip -6 route del default || :
ip route add 198.51.100.0/24 via {SUBNET4}.1
ip -6 route add fd00:50c::/32 via {SUBNET6}1
ip route add 224.0.0.0/4 dev eth0
"""
AS_USER = ["setpriv", "--reuid=1000", "--regid=1000", "--clear-groups", "--inh-caps=-all", "env",
           "-i", "PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "HOME=/tmp/suite",
           "TMPDIR=/tmp/suite", "LANG=C.UTF-8"]


class Suite:
    """What a suite's module fills in.

    `flaky`: pattern of names -> why a difference there says nothing. `least`: (passed without
    sockhop, hops), below which a run proves nothing; it, and `timeout` in seconds, by whether the
    whole suite runs.
    """

    name = ""
    packages = {}  # Debian package -> upstream version
    sources = {}   # Debian source package -> upstream version
    recipe = 0     # raise it when build() makes something else
    late = ()      # see programs/outside.c
    flaky = {}
    least = {}
    timeout = {False: 120, True: 900}

    def build(self, layer):
        """Makes more of what was unpacked in `layer`."""

    def script(self, whole):
        """What runs in the container, for sh -c."""
        raise NotImplementedError

    def results(self, arm, text):
        """{name: OK, FAIL or SKIP} of the output `text`, or of files that the run left."""
        raise NotImplementedError

    def run(self, arm, whole, log):
        """One run to the end; a hang is a failure of the whole."""
        process = arm.popen([*AS_USER, "sh", "-c", self.script(whole)], log)
        try:
            process.wait(self.timeout[whole])
        except subprocess.TimeoutExpired as error:
            raise HarnessError(f"{self.name} hangs in arm {arm.name}\n{tail(log)}") from error
        finally:
            process.kill()
        with open(log, errors="replace") as file:
            return self.results(arm, file.read())


def logs():
    path = f"{os.environ.get('SOCKHOP_BUILD', 'build')}/suites"
    os.makedirs(path, exist_ok=True)
    return path


def _arm(lab, suite, kind, mounts):
    arm = lab.arm(kind, mounts=mounts, layers=[layer_of(suite)])
    arm.container.write("/etc/hosts", f"127.0.0.1 localhost\n::1 localhost\n"
                        f"{arm.container.address} {arm.container.name}\n")
    arm.container.write("/etc/resolv.conf", "")
    arm.container.write("/etc/machine-id", f"{'5' * 32}\n")
    arm.run(["sh", "-ec", "echo user:x:1000:1000::/tmp/suite:/bin/sh >>/etc/passwd;"
             "install -d -o 1000 -g 1000 /tmp/suite"])
    lab.kit.run(["nsenter", "-t", arm.container.pid(), "-n", "sh", "-ec", ROUTES])
    if mounts:
        outside.switch_on(arm, suite.late)
    return arm


def differences(plain, sockhop, flaky):
    """What stands against sockhop, a line each."""
    def excused(name):
        return any(fnmatch.fnmatchcase(name, pattern) for pattern in flaky)

    found = []
    for name in sorted({*plain, *sockhop}):
        without, with_ = plain.get(name, "absent"), sockhop.get(name, "absent")
        lost = without == OK and with_ != OK
        if (lost or (SKIP in (without, with_) and without != with_)) and not excused(name):
            found.append(f"{name}: {without} without sockhop, {with_} with it")
    return found


def _run_arm(lab, suite, kind, whole):
    """One arm from start to end; answers its results and a line for the table."""
    mounts = [outside.mount(lab)] if kind == "sockhop" else []
    arm = _arm(lab, suite, kind, mounts)
    begun = time.monotonic()
    file_name = f"{logs()}/{suite.name}{'' if whole else '-short'}-{kind}"
    log = f"{file_name}.log"
    open(log, "w").close()
    results = suite.run(arm, whole, log)
    row = {"seconds": round(time.monotonic() - begun, 1)}
    for status in (OK, FAIL, SKIP):
        row[status] = sum(1 for found in results.values() if found == status)
    if kind == "sockhop":
        row["hops"] = arm.hops()
    with open(f"{file_name}.json", "w") as file:
        json.dump(results, file, indent=1, sort_keys=True)
    arm.container.kill()
    return results, row


def compare(suite, whole):
    """Runs both arms; fails where sockhop makes a difference. A whole run leaves a row."""
    layer_of(suite)
    with Lab(ipv6=True) as lab:
        plain, without = _run_arm(lab, suite, "plain", whole)
        hopped, row = _run_arm(lab, suite, "sockhop", whole)
    found = differences(plain, hopped, suite.flaky)
    row.update(suite=suite.name, without=without, differences=len(found))
    if whole:
        with open(f"{logs()}/{suite.name}.row", "w") as file:
            json.dump(row, file)
    print(row)
    assert not found, "\n".join(found)
    passed, hops = suite.least[whole]
    assert without[OK] >= passed, f"only {without[OK]} tests pass, not {passed}: a broken run"
    assert row["hops"] >= hops, f"only {row['hops']} hops, not {hops}: the way outside is not taken"
