#!/bin/bash
# A rootless container with and without sockhop, measured beside the host, in one table.
#
#   ./examples/quickstart.sh             sets up what is missing, builds, measures, cleans up
#     --json FILE                        also writes the raw figures
#     --repetitions N                    measures N times, not 3
#     --build DIR                        measures what is built there, builds nothing
#   ./examples/quickstart.sh --remove    takes the test user and the root file system away again
set -euo pipefail

script=$(readlink -f "$0")
root=$(dirname "$(dirname "$script")")
. "$root/tests/setup/all.sh"

usage() {
  sed -n '2,8s/^# \{0,1\}//p' "$script"
  exit "$1"
}

words=("$@") build="" remove=""
measure=(python3 "$root/examples/lib/quickstart.py")
while [ $# -gt 0 ]; do
  case $1 in
    --remove)
      remove=yes
      shift
      continue
      ;;
    -h | --help) usage 0 ;;
  esac
  [ $# -ge 2 ] || usage 2
  case $1 in
    --json) measure+=("$1" "$(readlink -m "$2")") ;;
    --repetitions)
      [[ $2 =~ ^[1-9][0-9]?$ ]] || die "--repetitions takes a number of 1 to 99, not '$2'"
      measure+=("$1" "$2")
      ;;
    --build)
      build=$(readlink -m "$2")
      [ -x "$build/bin/sockhopd" ] || die "--build: there is no bin/sockhopd in $build"
      ;;
    *) usage 2 ;;
  esac
  shift 2
done
become_root "$script" ${words[@]+"${words[@]}"}
if [ -n "$remove" ]; then
  take_away
  exit 0
fi

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
if [ -n "$build" ]; then
  set_up $PACKAGES_RUN
else
  set_up $PACKAGES_BUILD $PACKAGES_RUN
  configure
  build_programs sockhopd sockhop-session sockhop-control sockhop connect_time
fi
exec "${measure[@]}" --build "$build"
