"""A runc (or crun) container inside RootlessKit, with an ordinary OCI config."""

import json
import os
import subprocess

from .isolate import RUN
from .process import STATE, HarnessError, run, start, tail, wait_for

HERE = os.path.dirname(os.path.abspath(__file__))
CAPABILITIES = ["CAP_" + name for name in (
    "AUDIT_WRITE CHOWN DAC_OVERRIDE FOWNER FSETID KILL MKNOD NET_BIND_SERVICE NET_RAW SETFCAP "
    "SETGID SETPCAP SETUID SYS_CHROOT").split()]
# Something that lives, dies at SIGTERM and reaps: what an image's own init would be.
INIT = ["/bin/sh", "-c", "trap 'exit 0' TERM; while :; do sleep 3600 & wait $!; done"]
SUBNET4 = "10.88.0"
SUBNET6 = "fd00:88::"


# What a container's owner might allow it, and Docker's profile does not.
ALLOWED = ["unshare", "setns", "clone3", "mount", "umount2", "pivot_root", "ptrace", "userfaultfd",
           "process_vm_readv", "process_vm_writev", "pidfd_getfd", "kcmp", "keyctl", "perf_event_open",
           "bpf", "open_by_handle_at", "io_uring_setup", "io_uring_enter", "io_uring_register"]
EVERY_CAPABILITY = ["CAP_" + name for name in (
    "CHOWN DAC_OVERRIDE DAC_READ_SEARCH FOWNER FSETID IPC_LOCK IPC_OWNER KILL MKNOD NET_ADMIN "
    "NET_BIND_SERVICE NET_BROADCAST NET_RAW PERFMON BPF CHECKPOINT_RESTORE SETFCAP SETGID SETPCAP "
    "SETUID SYS_ADMIN SYS_CHROOT SYS_NICE SYS_PTRACE SYS_RESOURCE").split()]


def hostile(config):
    """An `edit` of a container: everything that its user namespace can give it."""
    config["linux"]["seccomp"]["syscalls"].append({"names": ALLOWED, "action": "SCMP_ACT_ALLOW"})
    config["process"]["capabilities"] = {kind: EVERY_CAPABILITY
                                         for kind in ("bounding", "effective", "permitted")}
    for kind in ("maskedPaths", "readonlyPaths"):
        config["linux"].pop(kind, None)


def rootfs():
    """The newest root file system that tests/setup/rootfs.sh made."""
    found = [f"{STATE}/{name}" for name in os.listdir(STATE)
             if name.startswith("rootfs-") and os.path.exists(f"{STATE}/{name}/.sockhop-owner")]
    if not found:
        raise HarnessError("no root file system: run tests/run.sh, which makes one")
    return max(found, key=os.path.getmtime)


def default_seccomp():
    with open(f"{HERE}/../../../hook/seccomp.json") as file:
        return json.load(file)


class Network:
    """A bridge with masquerade in RootlessKit's namespace, as a CNI bridge network has it."""

    def __init__(self, kit):
        self.kit = kit
        self.count = 1
        kit.run(["sh", "-ec", f"""
            ip link add cni0 type bridge
            ip addr add {SUBNET4}.1/24 dev cni0
            ip -6 addr add {SUBNET6}1/64 dev cni0 nodad || :
            ip link set cni0 up
            nft -f - <<END
            table inet sockhop_lab {{
              chain postrouting {{
                type nat hook postrouting priority srcnat
                ip saddr {SUBNET4}.0/24 ip daddr != {SUBNET4}.0/24 masquerade
                ip6 saddr {SUBNET6}/64 ip6 daddr != {SUBNET6}/64 masquerade
              }}
            }}\nEND"""])

    def attach(self, pid):
        """Gives the namespace of `pid` an eth0; answers its IPv4 address."""
        self.count += 1
        number = self.count
        inside = f"nsenter -t {pid} -n"
        self.kit.run(["sh", "-ec", f"""
            ip link add veth{number} type veth peer name eth0 netns {pid}
            ip link set veth{number} master cni0 up
            {inside} ip link set lo up
            {inside} ip addr add {SUBNET4}.{number}/24 dev eth0
            {inside} ip -6 addr add {SUBNET6}{number:x}/64 dev eth0 nodad || :
            {inside} ip link set eth0 up
            {inside} ip route add default via {SUBNET4}.1
            {inside} ip -6 route add default via {SUBNET6}1 || :"""])
        return f"{SUBNET4}.{number}"


class Container:
    """`network` None: RootlessKit's own namespace. `edit` changes the config before it is used.

    `layers`: directories that lie over the root file system, the upper ones first.
    """

    def __init__(self, kit, name, network=None, runtime="runc", mounts=(), edit=None, layers=()):
        self.kit, self.name, self.network, self.runtime = kit, name, network, runtime
        self.bundle = f"{RUN}/{name}"
        self.config_path = f"{self.bundle}/config.json"
        self.address = "127.0.0.1"
        self._make_bundle([*layers, rootfs()])
        config = self._config(mounts)
        if edit:
            edit(config)
        with open(self.config_path, "w") as file:
            json.dump(config, file)

    def _make_bundle(self, lowers):
        for part in ("upper", "work", "rootfs"):
            os.makedirs(f"{self.bundle}/{part}")
        lower = os.stat(rootfs())
        os.chown(f"{self.bundle}/upper", lower.st_uid, lower.st_gid)
        os.chown(self.bundle, lower.st_uid, lower.st_gid)
        run(["mount", "-t", "overlay", "overlay", "-o",
             f"lowerdir={':'.join(lowers)},upperdir={self.bundle}/upper,workdir={self.bundle}/work",
             f"{self.bundle}/rootfs"])

    def _config(self, mounts):
        run(["runc", "spec"], cwd=self.bundle)
        with open(self.config_path) as file:
            config = json.load(file)
        process, linux = config["process"], config["linux"]
        process.update(terminal=False, args=INIT, noNewPrivileges=False)
        process.pop("rlimits")
        process["capabilities"] = {kind: CAPABILITIES
                                   for kind in ("bounding", "effective", "permitted")}
        config["ociVersion"] = "1.0.2"
        config["root"]["readonly"] = False
        config["hostname"] = self.name
        config["mounts"] = [m for m in config["mounts"] if m["type"] != "cgroup"]
        config["mounts"] += [{"destination": to, "type": "bind", "source": source,
                              "options": ["rbind", "ro"]} for source, to in mounts]
        if self.network is None:
            linux["namespaces"] = [n for n in linux["namespaces"] if n["type"] != "network"]
        linux.pop("resources")  # no cgroup of our own to set them in
        linux["seccomp"] = default_seccomp()
        return config

    def _runtime(self, *args):
        globals_ = ["--cgroup-manager=disabled"] if self.runtime == "crun" else []
        return self.kit.argv([self.runtime, *globals_, *args])

    def start(self):
        keyring = ["--no-new-keyring"]  # keys are counted per user; parallel tests would run out
        log = f"{self.bundle}/log"
        # Output into a file: the container keeps it open, and a pipe would never end.
        creation = start(self._runtime("create", *keyring, "--bundle", self.bundle, self.name), log)
        try:
            status = creation.wait(30)
        except subprocess.TimeoutExpired as error:
            raise HarnessError(f"{self.runtime} create hangs: nobody serves its notify fd?\n"
                               f"{tail(log)}") from error
        if status != 0:
            raise HarnessError(f"{self.runtime} create: {tail(log)}")
        if self.network is not None:
            self.address = self.network.attach(self.pid())
        run(self._runtime("start", self.name))
        return self

    def state(self):
        return json.loads(run(self._runtime("state", self.name)).stdout)

    def pid(self):
        return self.state()["pid"]

    def argv(self, argv):
        return self._runtime("exec", self.name, *argv)

    def run(self, argv, **options):
        """Runs to the end in the container by `exec`."""
        return run(self.argv(argv), **options)

    def popen(self, argv, log=None):
        return start(self.argv(argv), log)

    def write(self, path, text):
        """Puts a file into the container's own layer; works before and after start."""
        full = f"{self.bundle}/rootfs{path}"
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "w") as file:
            file.write(text)

    def kill(self):
        """Ends it and waits until the runtime has forgotten it."""
        run(self._runtime("delete", "--force", self.name), check=False)
        wait_for(lambda: run(self._runtime("state", self.name), check=False).returncode != 0,
                 f"end of {self.name}")
        run(["umount", "--lazy", f"{self.bundle}/rootfs"], check=False)
