"""System calls are made by daemon/sys (and by the owner of descriptors in base) only."""

import pathlib
import re

import common

ALLOWED = pathlib.Path(__file__).parent / "syscalls_allowed.txt"
# Called through "::" a name is libc's; some are unmistakable without it.
QUALIFIED = re.compile(r"(?<![\w>:])::(\w+)\s*\(")
UNMISTAKABLE = re.compile(
    r"(?<![\w.:>])(syscall|ioctl|fcntl|prctl|epoll_ctl|epoll_wait|epoll_create1|recvmsg|sendmsg|"
    r"setsockopt|getsockopt|getsockname|socketpair|accept4|mmap|munmap|memfd_create|waitpid|fork|"
    r"vfork|clone|execve?|execvp|unshare|setns|dup2|dup3|pipe2|eventfd|timerfd_create|signalfd|"
    r"inotify_init1|pidfd_open|openat|unlink|mkdir|opendir|sched_yield|sigaction|sigprocmask)\s*\(")
NOT_CALLS = {"strerror", "memcpy", "memset", "memcmp", "getenv", "strlen", "htons", "htonl", "ntohs",
             "ntohl", "inet_pton", "inet_ntop", "testing", "std", "mallopt",
             # Questions about ourselves that change nothing and cannot fail.
             "getpid", "getppid", "gettid", "getuid", "geteuid"}
EXEMPT = {"daemon/base/unique_fd.cc"}


def allowances():
    """(path, name) -> line number; each line is PATH NAME REASON."""
    out = {}
    for number, line in enumerate(ALLOWED.read_text(encoding="utf-8").splitlines(), start=1):
        if line and not line.startswith("#"):
            path, name, reason = line.split(maxsplit=2)
            assert reason, line
            out[path, name] = number
    return out


def calls(line):
    for match in QUALIFIED.finditer(line):
        if match.group(1) not in NOT_CALLS:
            yield match.group(1)
    for match in UNMISTAKABLE.finditer(line):
        yield match.group(1)


def check(root, _arguments):
    allowed = allowances()
    used, found = set(), []
    for path in common.sources(root, ("daemon", "hook")):
        if path.parts[:2] == ("daemon", "sys") or str(path) in EXEMPT:
            continue
        for number, line in common.numbered_lines(root, path):
            for name in calls(line):
                key = str(path), name
                used.add(key)
                if key not in allowed:
                    found.append(common.Violation(path, number, f"calls {name}(): belongs to sys"))
    stale = [k for k in allowed if k not in used and (root / k[0]).exists()]
    return found + [common.Violation(ALLOWED.name, allowed[k], f"no longer needed: {k}") for k in stale]


if __name__ == "__main__":
    common.run(check, __doc__)
