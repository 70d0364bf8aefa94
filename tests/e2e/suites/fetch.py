"""Gets a suite and what runs it: Debian packages unpacked into a layer, sources, and what is built.

A layer is a directory below STATE/suites that a container stacks over its root file system. All of
it comes from the machine's own mirror through an apt configuration of our own, with deb-src, that
lives beside the layers; /etc/apt is only read. The upstream version is pinned: a mirror that has
another one, or none, is an error that names it, never a skip.
"""

import contextlib
import fcntl
import glob
import hashlib
import json
import os
import shutil

from harness.container import rootfs
from harness.process import STATE, HarnessError, run, user_entry

PLACE = f"{STATE}/suites"
SETUP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "setup")
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
INSIDE = "/opt/suites"  # where a container finds sources and built programs
RECIPE = 1  # raise it when this file makes something else of the same words


@contextlib.contextmanager
def _locked(name):
    os.makedirs(PLACE, exist_ok=True)
    with open(f"{PLACE}/{name}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _setup_says(word):
    """A word of tests/setup/rootfs.sh: one place knows the mirror."""
    script = f". {SETUP}/common.sh; . {SETUP}/rootfs.sh; {word}"
    return run(["bash", "-c", script]).stdout.strip()


def _configuration():
    """An apt configuration; what the root file system has already is not fetched again."""
    mirror, release = _setup_says("own_mirror"), _setup_says("os_codename")
    if not mirror:
        raise HarnessError("apt knows no mirror of this release: look at /etc/apt, apt-get update")
    key = hashlib.sha256(f"{mirror} {release} {rootfs()}".encode()).hexdigest()[:12]
    place = f"{PLACE}/apt-{key}"
    for part in ("lists/partial", "cache/archives/partial", "empty"):
        os.makedirs(f"{place}/{part}", exist_ok=True)
    with open(f"{place}/sources.list", "w") as file:
        for kind in ("deb", "deb-src"):
            file.write(f"{kind} [signed-by={KEYRING}] {mirror} {release} main\n")
    with open(f"{place}/apt.conf", "w") as file:
        for name, value in (("Dir::Etc::SourceList", f"{place}/sources.list"),
                            ("Dir::Etc::SourceParts", f"{place}/empty"),
                            ("Dir::Etc::Preferences", "/dev/null"),
                            ("Dir::Etc::PreferencesParts", f"{place}/empty"),
                            ("Dir::State::Lists", f"{place}/lists"),
                            ("Dir::State::status", f"{rootfs()}/var/lib/dpkg/status"),
                            ("Dir::Cache", f"{place}/cache"),
                            ("Acquire::Retries", "3"), ("APT::Sandbox::User", "root")):
            file.write(f'{name} "{value}";\n')
    # Each time: an old list names files that a mirror has replaced since.
    _apt(f"{place}/apt.conf", "update", "--error-on=any")
    return f"{place}/apt.conf"


def _apt(configuration, *words, cwd="/"):
    env = {"PATH": os.environ["PATH"], "APT_CONFIG": configuration, "LANG": "C.UTF-8"}
    done = run(["apt-get", "-q", *words], check=False, timeout=900, cwd=cwd, env=env)
    if done.returncode != 0:
        raise HarnessError(f"apt-get {' '.join(words)}: the mirror does not have it (any more)?\n"
                           f"{done.stdout[-1000:]}{done.stderr[-2000:]}")
    return done.stdout


def _unpack_packages(configuration, pins, target):
    words = [f"{name}={version}*" for name, version in pins.items()]
    options = ["install", "-y", "--no-install-recommends", *words]
    _apt(configuration, *options, "--download-only")
    urls = [line.split() for line in _apt(configuration, *options, "--print-uris", "--reinstall",
                                          "-o", "Dir::Cache::archives=none").splitlines()
            if line.startswith("'")]
    archives = os.path.dirname(configuration) + "/cache/archives"
    for name in ("bin", "lib", "lib64", "sbin"):  # else a package's /lib would hide the link
        os.symlink(f"usr/{name}", f"{target}/{name}")
        os.makedirs(f"{target}/usr/{name}")
    for words in urls:
        run(["bash", "-o", "pipefail", "-c", 'dpkg-deb --fsys-tarfile "$1" | '
             'tar -x --keep-directory-symlink -C "$2"', "-", f"{archives}/{words[1]}", target],
            timeout=300)


def _unpack_source(configuration, name, version, target):
    """The authors' own archive, as it is: no patch of the distribution, no change of ours."""
    cache = f"{os.path.dirname(configuration)}/source-{name}"
    os.makedirs(cache, exist_ok=True)
    found = [line.split() for line in _apt(configuration, "source", "--print-uris",
                                           name).splitlines() if line.startswith("'")]
    if not any(words[1].startswith(f"{name}_{version}") for words in found):
        raise HarnessError(f"the mirror's source of {name} is not {version}: {found}")
    _apt(configuration, "source", "--download-only", name, cwd=cache)
    archives = glob.glob(f"{cache}/{name}_{version}*.orig.tar.*")
    archive = [path for path in archives if not path.endswith(".asc")][0]
    os.makedirs(target, exist_ok=True)
    run(["tar", "-xf", archive, "--strip-components=1", "-C", target], timeout=300)


def file_hash(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def run_inside(layer, script, out):
    """Runs `script` with sh -e in the root file system with the layer; `out` is /mnt there."""
    mounts = f"""
        mkdir -p {layer}.work/upper {layer}.work/work {layer}.work/root
        mount -t overlay overlay -o "lowerdir={layer}:{rootfs()},upperdir={layer}.work/upper\
,workdir={layer}.work/work" {layer}.work/root
        mount --bind {out} {layer}.work/root/mnt
        mount -t proc proc {layer}.work/root/proc
        mount -t tmpfs tmpfs {layer}.work/root/dev && mknod {layer}.work/root/dev/null c 1 3
        exec chroot {layer}.work/root sh -ec "$0" """
    try:
        run(["unshare", "--mount", "sh", "-ec", mounts, script], timeout=600,
            env={"PATH": os.environ["PATH"], "HOME": "/tmp"})
    finally:
        shutil.rmtree(f"{layer}.work")


def _make(suite, layer):
    configuration = _configuration()
    os.makedirs(layer)
    if suite.packages:
        _unpack_packages(configuration, suite.packages, layer)
    for name, version in suite.sources.items():
        _unpack_source(configuration, name, version, f"{layer}{INSIDE}/{name}")
    suite.build(layer)
    entry = user_entry()
    run(["chown", "-hR", f"{entry.pw_uid}:{entry.pw_gid}", layer], timeout=300)


def layer_of(suite):
    """The suite's layer; made at the first call, kept for all later runs."""
    words = json.dumps([RECIPE, rootfs(), suite.packages, suite.sources, suite.recipe])
    path = f"{PLACE}/{suite.name}-{hashlib.sha256(words.encode()).hexdigest()[:12]}"
    with _locked("fetch"):
        if not os.path.exists(path):
            shutil.rmtree(f"{path}.part", ignore_errors=True)
            _make(suite, f"{path}.part")
            os.rename(f"{path}.part", path)
    return path
