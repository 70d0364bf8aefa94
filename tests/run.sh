#!/bin/bash
# Builds everything and runs the tests; ends with CTest's summary and its exit code.
#
#   ./tests/run.sh            all but: long suites soak asan tsan
#   ./tests/run.sh LABEL...   the tests of these labels:
#                             check unit kernel e2e engines attack fuzz bpf bench
#                             long suites soak asan tsan
#
# asan and tsan build a preset of their own and run in it: unit kernel, asan also e2e. (Debian's gRPC
# is not instrumented for tsan.)
set -euo pipefail

script=$(readlink -f "$0")
root=$(dirname "$(dirname "$script")")
. "$root/tests/setup/all.sh"

LABELS="check unit kernel e2e engines attack fuzz bpf bench long suites soak asan tsan"
LEFT_OUT="long suites soak"

usage() {
  sed -n '2,10s/^# \{0,1\}//p' "$script"
  exit "$1"
}

for label in "$@"; do
  case $label in -h | --help) usage 0 ;; esac
  case " $LABELS " in
    *" $label "*) ;;
    *) die "no label '$label'; there are: $LABELS" ;;
  esac
done

become_root "$script" "$@"
# shellcheck disable=SC2086  # lists of words
set_up $PACKAGES_BUILD $PACKAGES_RUN $PACKAGES_TEST
jobs=$(nproc)

# build PRESET: answers in $build where it lies.
build() {
  build=$root/build
  [ "$1" = release ] || build=$root/build-$1
  quietly "configuring $1" cmake --preset "$1" -S "$root" -B "$build" </dev/null ||
    die "cmake failed"
  say "building $1"
  ninja -C "$build" -j "$jobs" --quiet </dev/null || die "the build failed"
}

# run_tests BUILD OPTION...: two at a time; what must be alone says so by RUN_SERIAL. One or two that
# fail beside others are named and run once more, alone: what fails twice fails the run.
run_tests() {
  local failed=$1/Testing/Temporary/LastTestsFailed.log status=0
  rm -f "$failed"
  ctest --test-dir "$1" -j 2 --output-on-failure --no-tests=error "${@:2}" </dev/null || status=$?
  [ "$status" -ne 0 ] && [ -s "$failed" ] && [ "$(wc -l <"$failed")" -le 2 ] || return "$status"
  say "failed beside others, once more alone:" $(cut -d: -f2- "$failed")
  ctest --test-dir "$1" -j 1 --output-on-failure --rerun-failed </dev/null
}

# left_out LABEL...: what stays out although it also bears an asked label, as a pattern.
left_out() {
  local label kept=none
  for label in $LEFT_OUT; do
    case " $* " in
      *" $label "*) ;;
      *) kept+="|$label" ;;
    esac
  done
  echo "$kept"
}

plain=() sanitized=()
for label in "$@"; do
  case $label in
    asan | tsan) sanitized+=("$label") ;;
    *) plain+=("$label") ;;
  esac
done

status=0
for preset in ${sanitized[@]+"${sanitized[@]}"}; do
  build "$preset"
  inside='unit|kernel'
  [ "$preset" = tsan ] || inside+='|e2e'
  run_tests "$build" -L "^($inside)\$" -LE "^($(left_out))\$" || status=$?
done
if [ $# -eq 0 ]; then
  build release
  run_tests "$build" -LE "^($(left_out))\$" || status=$?
elif [ ${#plain[@]} -gt 0 ]; then
  build release
  pattern=$(IFS='|' && echo "${plain[*]}")
  run_tests "$build" -L "^($pattern)\$" -LE "^($(left_out "${plain[@]}"))\$" || status=$?
  case " $* " in *" suites "*) python3 -B "$root/tests/e2e/suites/table.py" "$build" ;; esac
fi
exit "$status"
