"""libuv, libevent and Node.js: suites that are compiled first, or come as sources only."""

import re

from harness.process import run

from . import tap
from .fetch import INSIDE
from .suite import FAIL, OK, SKIP, Suite


def compile_in(place, target, *options):
    """Below `place`/build, on this machine: its release is that of the root file system."""
    run(["cmake", "-G", "Ninja", "-S", place, "-B", f"{place}/build",
         "-DCMAKE_BUILD_TYPE=Release", *options])
    run(["cmake", "--build", f"{place}/build", "--target", target], timeout=600)


class Libuv(Suite):
    name = "libuv"
    least = {True: (390, 230)}
    sources = {"libuv1": "1.44.2"}

    def build(self, layer):
        compile_in(f"{layer}{INSIDE}/libuv1", "uv_run_tests_a", "-DLIBUV_BUILD_TESTS=ON")

    def script(self, whole):
        # Some tests write beside themselves.
        return f"cp -r {INSIDE}/libuv1/. /tmp/suite && cd /tmp/suite && build/uv_run_tests_a"

    def results(self, arm, text):
        return tap.parse(text)


class Libevent(Suite):
    name = "libevent"
    least = {True: (340, 110)}
    sources = {"libevent": "2.1.12"}

    def build(self, layer):
        compile_in(f"{layer}{INSIDE}/libevent", "regress", "-DEVENT__LIBRARY_TYPE=STATIC",
                   "-DEVENT__DISABLE_BENCHMARK=ON", "-DEVENT__DISABLE_SAMPLES=ON")

    def script(self, whole):
        return f"cd /tmp/suite && {INSIDE}/libevent/build/bin/regress"

    def results(self, arm, text):
        results, name = {}, None
        for line in text.splitlines():
            begun = re.match(r"^([\w.-]+/[\w./+-]+): ", line)
            name = begun.group(1) if begun else name
            ended = re.search(r"\b(OK|SKIPPED|DISABLED)$|\[(\S+) FAILED\]", line)
            if ended and name:
                word = ended.group(1)
                results[ended.group(2) or name] = OK if word == "OK" else SKIP if word else FAIL
        return results


class Node(Suite):
    name = "node"
    least = {True: (280, 300)}
    packages = {"nodejs": "18.20.4"}
    sources = {"nodejs": "18.20.4"}

    def script(self, whole):
        return (f"cp -r {INSIDE}/nodejs/. /tmp/suite && cd /tmp/suite && python3 tools/test.py "
                "--shell=/usr/bin/node -j1 -p tap 'parallel/test-net-*' 'parallel/test-dgram-*' "
                "'parallel/test-cluster-*'")

    def results(self, arm, text):
        return tap.parse(text)
