#!/bin/bash
# Measures sockhop beside the host and its rivals: tests/bench.sh [--list] [--quick] [--json FILE]
# [ROW...]. Sets up what is missing (packages, test user, root file system), builds, runs. See
# tests/bench/README.md. SOCKHOP_BUILD=DIR takes the programs of that build and builds nothing.
set -euo pipefail

top=$(cd "$(dirname "$0")/.." && pwd)
. "$top/tests/setup/all.sh"

for word in "$@"; do
  case $word in
    --list | --help | -h) exec python3 "$top/tests/bench/run.py" "$@" ;;
  esac
done

# As `become_root` does, but with the variables that say what to measure.
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || die "this needs root: run it as root, or install sudo"
  exec sudo --preserve-env=BYPASS4NETNS,SOCKHOP_BUILD -- "$0" "$@"
fi

# shellcheck disable=SC2086  # lists of words
set_up $PACKAGES_BUILD $PACKAGES_RUN $PACKAGES_TEST
build=${SOCKHOP_BUILD:-$top/build}
if [ -z "${SOCKHOP_BUILD:-}" ]; then
  quietly "configuring" cmake -S "$top" --preset release
  quietly "building" cmake --build "$build" --target sockhop_bench_programs sockhopd \
    sockhop-session sockhop-control sockhop
fi
exec python3 "$top/tests/bench/run.py" --build "$build" "$@"
