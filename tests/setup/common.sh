# Words shared by the set-up scripts. Source it; it changes nothing by itself.

SOCKHOP_STATE=/var/lib/sockhop-test # home, root file systems, scratch mount points
SOCKHOP_USER=sockhop-test

say() { printf '%s\n' "sockhop: $*" >&2; }

die() {
  say "$*"
  exit 1
}

# become_root "$0" "$@": run the calling script again with sudo when it is not root.
become_root() {
  [ "$(id -u)" -ne 0 ] || return 0
  command -v sudo >/dev/null || die "this needs root: run it as root, or install sudo"
  say "this needs root (packages, a test user, network namespaces): running again with sudo"
  exec sudo --preserve-env=CI -- "$@"
}

# with_setup_lock COMMAND...: one set-up at a time, so that parallel runs may all call it.
with_setup_lock() {
  mkdir -p "$SOCKHOP_STATE"
  (
    flock 9
    "$@"
  ) 9>"$SOCKHOP_STATE/setup.lock"
}

# retry COMMAND...: three tries; networks and mirrors have bad moments.
retry() {
  local try
  for try in 1 2 3; do
    "$@" && return 0
    [ "$try" -eq 3 ] || sleep $((try * 3))
  done
  return 1
}

# quietly TITLE COMMAND...: shows the title and, when the command fails, the end of its output.
quietly() {
  local title=$1 log status=0
  shift
  say "$title"
  log=$(mktemp)
  "$@" >"$log" 2>&1 || status=$?
  [ "$status" -eq 0 ] || tail -n 25 "$log" >&2
  rm -f "$log"
  return "$status"
}
