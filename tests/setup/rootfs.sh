# The containers' root file system, made by debootstrap. Source after common.sh and user.sh.

ROOTFS_PACKAGES=curl,iperf3,iproute2,nginx-light,procps,python3,redis-server,redis-tools,wrk
ROOTFS_VERSION=1 # raise it when this file makes something else of the same packages

os_codename() { (. /etc/os-release && echo "$VERSION_CODENAME"); }

# rootfs_path: where the root file system of this recipe lives, there or not.
rootfs_path() {
  local key
  key=$(printf '%s' "$(os_codename) $ROOTFS_VERSION $ROOTFS_PACKAGES" | sha256sum | cut -c1-12)
  printf '%s\n' "$SOCKHOP_STATE/rootfs-$key"
}

# apt itself knows the mirror, whatever format its source files have.
own_mirror() {
  apt-get indextargets --format '$(RELEASE) $(COMPONENT) $(REPO_URI)' 'Created-By: Packages' |
    awk -v release="$(os_codename)" '$1 == release && $2 == "main" { print $3; exit }'
}

apt_proxy() { apt-config shell proxy Acquire::http::Proxy | sed -n "s/^proxy='\(.*\)'$/\1/p"; }

# In a mount namespace of its own: whichever way it ends, nothing stays mounted in there.
run_debootstrap() {
  local target=$1 mirror=$2 proxy
  rm -rf "$target"
  proxy=$(apt_proxy)
  [ -z "$proxy" ] || export http_proxy="$proxy"
  unshare --mount --propagation private \
    debootstrap --variant=minbase --include="$ROOTFS_PACKAGES" "$(os_codename)" "$target" "$mirror"
}

sub_id_start() { awk -F: -v user="$SOCKHOP_USER" '$1 == user { print $2; exit }' "$1"; }

# In the container's user namespace root is the test user and id N is the Nth of its subordinate
# ids; files must be owned by those to look as in an ordinary image.
shift_owners() {
  local root=$1 uid gid sub_uid sub_gid owner group
  uid=$(id -u "$SOCKHOP_USER") gid=$(id -g "$SOCKHOP_USER")
  sub_uid=$(sub_id_start /etc/subuid) sub_gid=$(sub_id_start /etc/subgid)
  find "$root" -xdev -printf '%U %G\n' | sort -u | while read -r owner group; do
    local new_uid=$uid new_gid=$gid
    [ "$owner" -eq 0 ] || new_uid=$((sub_uid + owner - 1))
    [ "$group" -eq 0 ] || new_gid=$((sub_gid + group - 1))
    find "$root" -xdev -uid "$owner" -gid "$group" -exec chown -h "$new_uid:$new_gid" {} +
  done
}

make_rootfs() {
  local path=$1 mirror=$2 part=$1.part
  retry run_debootstrap "$part" "$mirror" || return 1
  rm -rf "$part"/var/cache/apt/archives/*.deb "$part"/var/lib/apt/lists/* "$part"/dev/*
  shift_owners "$part"
  id -u "$SOCKHOP_USER" >"$part/.sockhop-owner"
  mv "$part" "$path"
}

# ensure_rootfs: makes it when it is not there, or belongs to a test user of an earlier life.
ensure_rootfs() {
  local path mirror
  path=$(rootfs_path)
  if [ "$(cat "$path/.sockhop-owner" 2>/dev/null)" = "$(id -u "$SOCKHOP_USER")" ]; then
    return 0
  fi
  rm -rf "$path"
  mirror=$(own_mirror)
  if [ -z "$mirror" ]; then # apt names the mirrors only of lists that it has
    quietly "fetching package lists" retry apt_update || die "apt-get update failed"
    mirror=$(own_mirror)
  fi
  [ -n "$mirror" ] || die "apt has no main archive of $(os_codename): look at /etc/apt"
  quietly "making a root file system with debootstrap (once, about a minute)" \
    make_rootfs "$path" "$mirror" || die "debootstrap failed: is the mirror $mirror reachable?"
}
