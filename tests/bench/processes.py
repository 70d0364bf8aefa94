"""What a family of processes uses, read from /proc."""

import os

MEGABYTE = 1e6


def _read(pid, name):
    with open(f"/proc/{pid}/{name}") as file:
        return file.read()


def _parent(pid):
    # The name in parentheses may hold anything; the fields after it do not.
    return int(_read(pid, "stat").rpartition(")")[2].split()[1])


def family(root):
    """The process and all its descendants."""
    children = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                children.setdefault(_parent(entry), []).append(int(entry))
            except (OSError, IndexError):
                continue  # ended meanwhile
    found, open_ = [], [root]
    while open_:
        pid = open_.pop()
        found.append(pid)
        open_ += children.get(pid, [])
    return found


def name_of(pid):
    return os.path.basename(_read(pid, "cmdline").split("\0")[0])


def cpu_seconds(pids):
    """Time on a CPU. /proc/PID/schedstat is the main thread's alone, so threads are added up."""
    total = 0
    for pid in pids:
        for thread in os.listdir(f"/proc/{pid}/task"):
            total += int(_read(pid, f"task/{thread}/schedstat").split()[0])
    return total / 1e9


def _kilobytes(text, key):
    return sum(int(line.split()[1]) for line in text.splitlines() if line.startswith(key))


def resident_megabytes(pid):
    return _kilobytes(_read(pid, "status"), "VmRSS:") * 1024 / MEGABYTE


def dirty_megabytes(pid):
    return _kilobytes(_read(pid, "smaps_rollup"), "Private_Dirty:") * 1024 / MEGABYTE


def dirty_megabytes_of_a_session(pids):
    """The mean: a session is two processes, guard and engine."""
    return sum(map(dirty_megabytes, pids)) / (len(pids) / 2)
