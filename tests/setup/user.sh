# The unprivileged user that containers run as, and the devices it needs. Source after common.sh.

# next_free_id FILE: the first id above every range that the subid file names.
next_free_id() {
  awk -F: 'BEGIN { next_id = 100000 }
           $2 + $3 > next_id { next_id = $2 + $3 }
           END { print next_id }' "$1"
}

ensure_sub_ids() {
  local start
  touch /etc/subuid /etc/subgid
  if ! grep -q "^$SOCKHOP_USER:" /etc/subuid; then
    start=$(next_free_id /etc/subuid)
    usermod --add-subuids "$start-$((start + 65535))" "$SOCKHOP_USER" || die "usermod failed"
  fi
  if ! grep -q "^$SOCKHOP_USER:" /etc/subgid; then
    start=$(next_free_id /etc/subgid)
    usermod --add-subgids "$start-$((start + 65535))" "$SOCKHOP_USER" || die "usermod failed"
  fi
}

ensure_tun() {
  [ -e /dev/net/tun ] || modprobe tun 2>/dev/null || true
  if [ ! -e /dev/net/tun ]; then
    mkdir -p /dev/net
    mknod /dev/net/tun c 10 200 || die "no /dev/net/tun: load the kernel module tun"
  fi
  [ "$(stat -c %a /dev/net/tun)" = 666 ] && return 0
  say "making /dev/net/tun usable for everyone (mode 666), as udev does"
  chmod 666 /dev/net/tun
}

require_user_namespaces() {
  local file
  for file in /proc/sys/user/max_user_namespaces /proc/sys/kernel/unprivileged_userns_clone; do
    if [ -e "$file" ] && [ "$(cat "$file")" -eq 0 ]; then
      die "user namespaces are off: allow them with: echo 15000 > $file (1 for *_clone)"
    fi
  done
}

ensure_user() {
  local uid
  require_user_namespaces
  if ! id "$SOCKHOP_USER" >/dev/null 2>&1; then
    say "adding the user $SOCKHOP_USER"
    useradd --user-group --create-home --home-dir "$SOCKHOP_STATE/home" --shell /bin/sh \
      "$SOCKHOP_USER" || die "useradd could not add $SOCKHOP_USER"
  fi
  ensure_sub_ids
  uid=$(id -u "$SOCKHOP_USER")
  # Mount points: each run puts a tmpfs of its own over them, in a mount namespace of its own.
  mkdir -p /run/netns "/run/user/$uid" "$SOCKHOP_STATE/run"
  chown "$SOCKHOP_USER:" "/run/user/$uid"
  chmod 700 "/run/user/$uid"
  ensure_tun
}

remove_user() {
  local uid
  uid=$(id -u "$SOCKHOP_USER" 2>/dev/null) || return 0
  userdel "$SOCKHOP_USER" || die "userdel failed: is something of it still running?"
  rmdir "/run/user/$uid" 2>/dev/null || true
}
