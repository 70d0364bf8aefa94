"""What `cmake --install` lays out is complete: every program runs from there and tells its version.

    install.py --root TREE --build BUILD
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile

PROGRAMS = ["sockhop", "sockhopd", "sockhop-session", "sockhop-control", "sockhop-hook"]
# --version is the wrapped runtime's: engines ask for it.
VERSION_OPTION = {name: "--sockhop-version"
                  for name in ("sockhop-runtime", "sockhop-runc", "sockhop-crun")}
PAGES = ["man1/sockhop.1", "man8/sockhopd.8", "man8/sockhop-runtime.8",
         "man8/sockhop-hook.8"]
FILES = ["share/sockhop/seccomp.json",
         *(f"share/containers/oci/hooks.d/sockhop-{stage}.json"
           for stage in ("precreate", "createRuntime", "poststop"))]


def version_of(root):
    text = open(f"{root}/CMakeLists.txt", encoding="utf-8").read()
    return re.search(r"project\(sockhop VERSION (\S+)", text).group(1)


def problems(prefix, version):
    """What is missing below an installed prefix, as lines for people."""
    found = []
    for program in [*PROGRAMS, *VERSION_OPTION]:
        path = f"{prefix}/bin/{program}"
        if not os.access(path, os.X_OK):
            found.append(f"{program} is not installed")
            continue
        option = VERSION_OPTION.get(program, "--version")
        done = subprocess.run([path, option], capture_output=True, text=True, timeout=20)
        if done.returncode != 0 or version not in done.stdout:
            found.append(f"{program} {option}: exit {done.returncode}, says {done.stdout!r}")
    found += [f"man page {page} is not installed" for page in PAGES
              if not os.path.exists(f"{prefix}/share/man/{page}")]
    found += [f"{file} is not installed" for file in FILES
              if not os.path.exists(f"{prefix}/{file}")]
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--root", required=True)
    parser.add_argument("--build", required=True)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as nothing:
        # Nothing installed must be seen as such, or the check below proves nothing.
        assert len(problems(nothing, "0")) == len([*PROGRAMS, *VERSION_OPTION, *PAGES, *FILES])
    with tempfile.TemporaryDirectory() as prefix:
        subprocess.run(["cmake", "--install", options.build, "--prefix", prefix], check=True,
                       stdout=subprocess.DEVNULL)
        found = problems(prefix, version_of(options.root))
    for line in found:
        print(f"install: {line}")
    print(f"install: {len(found)} problems")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
