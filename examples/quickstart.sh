#!/bin/bash
# A rootless container with and without sockhop, measured beside the host, in one table.
#
#   ./examples/quickstart.sh [--json FILE]   sets up what is missing, builds, measures, cleans up
#   ./examples/quickstart.sh --remove        takes the test user and the root file system away again
set -euo pipefail

script=$(readlink -f "$0")
root=$(dirname "$(dirname "$script")")
. "$root/tests/setup/all.sh"

usage() {
  sed -n '2,5s/^# \{0,1\}//p' "$script"
  exit "$1"
}

json=
while [ $# -gt 0 ]; do
  case $1 in
    --json)
      [ $# -ge 2 ] || usage 2
      json=$(readlink -m "$2")
      shift 2
      ;;
    --remove)
      become_root "$script" --remove
      take_away
      exit 0
      ;;
    -h | --help) usage 0 ;;
    *) usage 2 ;;
  esac
done
become_root "$script" ${json:+--json "$json"}

# A tree that is already configured is built further, whatever else it holds: no second build.
configure() {
  build=$root/build
  if [ ! -e "$build/build.ninja" ]; then
    build=$root/build-quick
    [ -e "$build/build.ninja" ] ||
      quietly "configuring" cmake --preset release -S "$root" -B "$build" -DSOCKHOP_TESTS=OFF ||
      die "cmake failed"
  fi
}

build_programs() {
  local title="building (the first time takes a few minutes)"
  if [ -t 2 ]; then
    say "$title"
    ninja -C "$build" "$@" >&2 || die "the build failed" # its own line shows how far it is
  else
    quietly "$title" ninja -C "$build" "$@" || die "the build failed"
  fi
}

# shellcheck disable=SC2086  # lists of words
set_up $PACKAGES_BUILD $PACKAGES_RUN
configure
build_programs sockhopd sockhop-session sockhop-control sockhop connect_time

exec python3 "$root/examples/lib/quickstart.py" --build "$build" ${json:+--json "$json"}
