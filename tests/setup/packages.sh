# Debian packages that a build, the quick start and the tests need. Source after common.sh.

PACKAGES_BUILD="g++ cmake ninja-build pkg-config ccache libboost1.81-dev libgrpc++-dev
  protobuf-compiler-grpc protobuf-compiler libprotobuf-dev libspdlog-dev libcli11-dev
  libtomlplusplus-dev libmnl-dev libnftables-dev libnftnl-dev libiptc-dev libxtables-dev
  libseccomp-dev libsystemd-dev libcap-ng-dev libcap-dev libbpf-dev"
PACKAGES_RUN="runc slirp4netns rootlesskit uidmap debootstrap iperf3 wrk curl iproute2
  nginx-light nftables procps python3 util-linux"
PACKAGES_TEST="libgtest-dev libgmock-dev libbenchmark-dev clang-14 clang-tidy-14 clang-format-14
  libclang-rt-14-dev g++-multilib crun passt iptables redis-server redis-tools jq sudo
  podman conmon docker.io containerd"

# missing_packages NAME...: those that are not installed, one a line.
missing_packages() {
  local installed
  installed=$(dpkg-query -W -f '${db:Status-Abbrev} ${Package}\n' "$@" 2>/dev/null |
    awk '$1 == "ii" { print $2 }')
  printf '%s\n' "$@" | grep -Fxv -f <(printf '%s\n' "$installed") || true
}

apt_install() {
  DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3 \
    -o Dpkg::Options::=--force-confold install -y --no-install-recommends "$@" </dev/null
}

apt_update() {
  apt-get -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3 update </dev/null
}

# Package scripts would start nginx and redis on the machine; policy-rc.d is Debian's way to say no.
POLICY=/usr/sbin/policy-rc.d
POLICY_TEXT="#!/bin/sh
# Of sockhop's set-up while it installs packages.
exit 101"

# install_without_services NAME...: a policy of the machine's own stays; one that an earlier run of
# ours had no time to remove does not.
install_without_services() {
  local status=0
  if [ -e "$POLICY" ] && [ "$(cat "$POLICY")" != "$POLICY_TEXT" ]; then
    apt_install "$@" || status=$?
    return "$status"
  fi
  trap 'rm -f "$POLICY"' EXIT
  printf '%s\n' "$POLICY_TEXT" >"$POLICY"
  chmod 755 "$POLICY"
  apt_install "$@" || status=$?
  rm -f "$POLICY"
  return "$status"
}

# An installation that was interrupted is finished first: apt refuses until it is.
repair_packages() { DEBIAN_FRONTEND=noninteractive dpkg --configure -a --force-confold </dev/null; }

update_and_install() { repair_packages && apt_update && install_without_services "$@"; }

# ensure_packages NAME...: installs what is missing; asks the network for nothing when nothing is.
ensure_packages() {
  local missing
  missing=$(missing_packages "$@")
  [ -n "$missing" ] || return 0
  # shellcheck disable=SC2086  # a list of words
  set -- $missing
  say "installing $# packages: $*"
  # The lists on the machine may be absent or too old to download by: only then fetch new ones.
  install_without_services "$@" >/dev/null 2>&1 ||
    quietly "once more, with fresh package lists" retry update_and_install "$@" ||
    die "could not install: $*. Look at the output above and at /etc/apt/sources.list*"
}
