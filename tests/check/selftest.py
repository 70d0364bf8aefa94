"""Plants a violation for each check in a tree of its own and wants it reported, and nothing else."""

import pathlib
import subprocess
import sys
import tempfile

import common

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]

CLEAN = {
    "daemon/core/value.h": "// A value.\n#pragma once\n\nint value();\n",
    "daemon/core/value.cc": '#include "core/value.h"\n\nint value() { return 1; }\n',
    "daemon/sys/answer.cc": ("#include <linux/seccomp.h>\n\n"
                             "int flag() { return SECCOMP_USER_NOTIF_FLAG_CONTINUE; }\n"),
}
HELP = "#!/bin/sh\ncat <<END\nOptions:\n  -h,--help   Print\n  --json      x\n\nEND\n"
PROGRAMS = {"bin/sockhop": "#!/bin/sh\n[ $1 = ps ] && exit\ncat <<END\nSubcommands:\n  ps   List\n\nEND\n", "bin/sockhopd": HELP}
MAN_PAGES = {"daemon/cli/man/sockhop.1": ".TP\n.BI ps \" X\"\n",
             "daemon/cli/man/sockhopd.8": ".BR \\-h \", \" \\-\\-help\n.B \\-\\-json\n"}
LONG_BODY = "".join(f"  ++x;  // {i}\n" for i in range(60))

# Check, planted file, its text, what the report must say.
PLANTED = [
    ("layers", "daemon/base/up.h", '#pragma once\n#include "core/value.h"\n', "not on its left"),
    ("layers", "daemon/core/wait.cc", "#include <boost/asio/post.hpp>\n", "may not know"),
    ("layers", "daemon/core/rpc.cc", "#include <grpcpp/grpcpp.h>\n", "may not know"),
    ("layers", "daemon/cli/main.cc", '#include "engine/x.h"\n', "not on its left"),
    ("layers", "hook/main.cc", '#include "engine/x.h"\n', "not on its left"),
    ("layers", "daemon/core/near.cc", '#include "value.h"\n', "not written as"),
    ("layers", "daemon/main.cc", "int x;\n", "no layer lives here"),
    ("layers", "daemon/core/a.h", '#include "core/a.h"\n', "cycle"),
    ("layers", "daemon/sys/poll.h", "#pragma once\n", "hides the system's header"),
    ("one_continue", "daemon/engine/second.cc",
     "int x = SECCOMP_USER_NOTIF_FLAG_CONTINUE;\n", "constructs"),
    ("one_continue", "daemon/sys/answer.cc", "// SECCOMP_USER_NOTIF_FLAG_CONTINUE\n", "nobody"),
    ("format", "daemon/core/ugly.cc", "int   x ;\n", "ugly.cc:1"),
    ("size", "daemon/core/long.cc", "int x;\n" * 401, "longer than 400"),
    ("size", "daemon/core/long.h", "int x;\n" * 251, "longer than 250"),
    ("size", "tests/long.py", "x = 1\n" * 401, "longer than 400"),
    ("size", "daemon/core/f.cc", f"namespace a {{\nint f(int x) {{\n{LONG_BODY}}}\n}}\n", "62 lines"),
    ("size", "daemon/core/m.h", f"class A {{\n  int f(int x) const {{\n{LONG_BODY}}}\n}};\n", "62 lines"),
    ("size", "daemon/core/c.cc", f"A::A(int y) : x(y) {{\n{LONG_BODY}}}\n", "62 lines"),
    ("syscalls", "daemon/engine/open.cc", 'int f() { return ::open("x", 0); }\n', "open()"),
    ("syscalls", "daemon/engine/raw.cc", "long f() { return syscall(1); }\n", "syscall()"),
    ("syscalls", "daemon/core/fcntl.cc", "int f(int fd) { return fcntl(fd, 1); }\n", "fcntl()"),
    ("headers", "daemon/core/half.h", "#pragma once\n\nstd::string f();\n", "does not compile alone"),
    ("purity", "daemon/core/io.cc", "#include <unistd.h>\nint f() { return close(7); }\n",
     "core needs close"),
    ("purity", "daemon/core/clock.cc",
     "#include <chrono>\nauto f() { return std::chrono::steady_clock::now(); }\n", "core needs std::chrono"),
    ("man", "daemon/cli/man/sockhopd.8", ".B \\-\\-help \\-h\n", "does not tell --json"),
    ("man", "daemon/cli/man/sockhopd.8", ".B \\-h \\-\\-help \\-\\-json \\-\\-old\n", "tells --old"),
    ("man", "daemon/cli/man/sockhop.1", "ps is not a headline\n", "the command ps"),
    ("clang", "daemon/core/bug.cc", "namespace {\nconstexpr int kUnused = 6;\n}\n", "unused"),
    ("tidy", "daemon/core/bug.cc",
     "#include <string>\nint f(std::string s) { return s.size() == 0; }\n", "performance-"),
]


def write(tree, files):
    for name, text in files.items():
        path = tree / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def make_build(tree):
    """What a build folder offers the checks: the compile commands and the core archive."""
    entries, objects = [], []
    for source in sorted((tree / "daemon").rglob("*.cc")):
        command = f"g++ -std=c++20 -Wall -Wunused-const-variable -I{tree}/daemon -c {source}"
        entries.append(f'{{"directory": "{tree}", "command": "{command}", "file": "{source}"}}')
    (tree / "compile_commands.json").write_text(f"[{','.join(entries)}]", encoding="utf-8")
    for source in sorted((tree / "daemon/core").glob("*.cc")):
        objects.append(source.with_suffix(".o"))
        subprocess.run(["g++", "-std=c++20", f"-I{tree}/daemon", "-c", source, "-o", objects[-1]], check=True)
    subprocess.run(["ar", "rc", tree / "core.a", *objects], check=True)


def run_check(name, tree):
    command = [sys.executable, "-B", HERE / f"{name}.py", "--root", tree]
    if name in ("headers", "tidy", "clang"):
        command += ["--build", tree]
    if name == "man":
        command += ["--bin", tree / "bin"]
    if name == "purity":
        command += ["--archive", tree / "core.a"]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def outcome(name, files):
    with tempfile.TemporaryDirectory(prefix="sockhop-check-") as folder:
        tree = pathlib.Path(folder)
        write(tree, CLEAN | (PROGRAMS | MAN_PAGES if name == "man" else {}) | files)
        for program in (tree / "bin").glob("*"):
            program.chmod(0o755)
        for config in (".clang-format", ".clang-tidy"):
            (tree / config).write_bytes((ROOT / config).read_bytes())
        if name in ("headers", "tidy", "purity", "clang"):
            make_build(tree)
        return run_check(name, tree)


def main():
    name = sys.argv[1]
    failures = []
    clean = outcome(name, {})
    if clean.returncode == common.SKIPPED:
        print(clean.stdout)
        sys.exit(common.SKIPPED)
    if clean.returncode != 0:
        failures.append(f"{name} reports a clean tree: {clean.stdout}{clean.stderr}")
    for _, path, text, expected in (p for p in PLANTED if p[0] == name):
        result = outcome(name, {path: text})
        if result.returncode != 1 or expected not in result.stdout:
            failures.append(f"{name} misses {path} ({expected}): {result.stdout}{result.stderr}")
    print("\n".join(failures) or f"{name}: every planted violation was reported")
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
