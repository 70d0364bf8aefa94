# Everything above in one word: source this, then call set_up. See README.md, "Two commands".

setup_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$setup_dir/common.sh"
. "$setup_dir/packages.sh"
. "$setup_dir/user.sh"
. "$setup_dir/rootfs.sh"

set_up_steps() {
  ensure_packages "$@"
  ensure_user
  ensure_rootfs
}

# set_up PACKAGE...: packages, test user, root file system; says what it does, and nothing if all
# of it is there.
set_up() { with_setup_lock set_up_steps "$@" || exit 1; }

# take_away: the opposite, but for packages: others may need them.
take_away() {
  remove_user
  rm -rf "$SOCKHOP_STATE"
  say "removed the user $SOCKHOP_USER and $SOCKHOP_STATE"
  say "left as they are: the packages and the mode of /dev/net/tun"
}
