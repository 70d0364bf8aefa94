"""Includes point only to layers on the left; libraries stay where the house allows them."""

import glob
import re

import common

ORDER = ["base", "core", "sys", "engine", "node", "control"]
REACH = {name: set(ORDER[: i + 1]) for i, name in enumerate(ORDER)}
REACH |= {
    "keeper": {"base", "core", "sys", "keeper"},
    "session": {"base", "core", "sys", "engine", "node", "session"},
    "controld": {*ORDER, "controld"},
    "cli": {"base", "core", "sys", "cli"},
    "hook": {"base", "core", "sys", "hook"},
}
ROOTS = {"keeper", "session", "controld"}
# A library by the start of its include, and who may know it.
LIBRARIES = {
    "boost/asio": {"engine", "node", "control"} | ROOTS,
    "boost/beast": {"node", "control"} | ROOTS,
    "grpc": {"node", "control", "controld", "cli", "hook"},
    "sockhop/v1/": {"node", "control", "controld", "cli", "hook"},
    "spdlog": set(REACH) - {"core", "sys"},  # these two return, they do not narrate
    "CLI": {"cli", "hook"} | ROOTS,
    "libmnl": {"sys"},
    "nftables": {"sys"},
    "libiptc": {"sys"},
    "unistd.h": set(REACH) - {"core"},
    "fcntl.h": set(REACH) - {"core", "base"},
    "thread": set(REACH) - {"core", "base"},
    "fstream": set(REACH) - {"core", "base"},
    "filesystem": set(REACH) - {"core", "base"},
}
INCLUDE = re.compile(r'\s*#\s*include\s*([<"])([^>"]+)[>"]')


def layer_of(path):
    parts = path.parts
    if parts[0] == "hook":
        return "hook"
    return parts[1] if len(parts) > 2 else None


def includes(root, path):
    for number, line in common.numbered_lines(root, path, strings=False):
        match = INCLUDE.match(line)
        if match:
            yield number, match.group(1), match.group(2)


def library_violation(layer, target):
    for start, allowed in LIBRARIES.items():
        whole = target == start or target.startswith(start if start.endswith("/") else start + "/")
        prefix = start == "grpc" and target.startswith("grpc")
        if (whole or prefix) and layer not in allowed:
            return f"{layer} may not know <{target}>"
    return None


def order_violation(layer, quote, target):
    first, slash, _ = target.partition("/")
    if quote == '"' and not slash and not target.endswith(".pb.h"):
        return f'"{target}" is not written as "layer/file.h"'
    if first in REACH and slash and quote == '"' and first not in REACH[layer]:
        return f"{layer} includes {target}, which is not on its left"
    if target.endswith(".pb.h") and layer in ("base", "core"):
        return f"{layer} may not know messages"
    return None


def cycles(root, files):
    """Headers that include themselves through others."""
    headers = {str(p.relative_to("daemon")): p for p in files if p.parts[0] == "daemon"}
    graph = {name: [t for _, _, t in includes(root, p) if t in headers]
             for name, p in headers.items()}
    done, found = set(), []

    def visit(name, trail):
        if name in trail:
            found.append(common.Violation(headers[name], 1, "cycle: " + " -> ".join([*trail, name])))
        elif name not in done:
            for target in graph[name]:
                visit(target, [*trail, name])
            done.add(name)

    for name in graph:
        visit(name, [])
    return found


def hides_system_header(path):
    """daemon/ is an include folder, so daemon/sys/poll.h would answer for <sys/poll.h>."""
    name = "/".join(path.parts[1:])
    return any(glob.glob(f"{folder}/{name}") for folder in ("/usr/include", "/usr/include/*-linux-gnu"))


def check(root, _arguments):
    found = []
    files = common.sources(root, ("daemon", "hook"))
    for path in files:
        layer = layer_of(path)
        if layer not in REACH:
            found.append(common.Violation(path, 1, "no layer lives here"))
            continue
        if path.suffix == ".h" and hides_system_header(path):
            found.append(common.Violation(path, 1, "hides the system's header of the same name"))
        for number, quote, target in includes(root, path):
            for text in (order_violation(layer, quote, target), library_violation(layer, target)):
                if text:
                    found.append(common.Violation(path, number, text))
    return found + cycles(root, files)


if __name__ == "__main__":
    common.run(check, __doc__)
