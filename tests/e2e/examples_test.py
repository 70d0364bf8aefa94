"""What lies in examples/ does what it says."""

import contextlib
import json
import os
import re
import signal
import subprocess
import tempfile

from harness import HarnessError, Lab, isolate, main, run, wait_for
from harness.isolate import RUN, expose
from harness.languages import programs_mount
from harness.oracle import host_cookie, probe
from harness.process import STATE, tail, user_entry
from harness.servers import http_server

ROOT = os.path.realpath(f"{os.path.dirname(os.path.abspath(__file__))}/../..")
QUICKSTART = f"{ROOT}/examples/quickstart.sh"
ROWS = ["quick.download", "quick.connect", "quick.published"]
LOG = f"{RUN}/quickstart.log"


def words():
    return [QUICKSTART, "--build", os.path.abspath(os.environ.get("SOCKHOP_BUILD", "build")),
            "--repetitions", "1"]


def environment():
    """Not ours: it shall make namespaces of its own, and its scratch files where we look."""
    left_out = {"SOCKHOP_ISOLATED"}
    return {**{k: v for k, v in os.environ.items() if k not in left_out}, "TMPDIR": RUN}


@contextlib.contextmanager
def started():
    """The quick start as a terminal runs it: a process group of its own, which Ctrl-C hits whole."""
    with open(LOG, "wb") as log:
        process = subprocess.Popen(words(), stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                   env=environment(), start_new_session=True)
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def wait_for_line(pattern, process):
    try:
        return wait_for(lambda: re.search(pattern, tail(LOG)), f"'{pattern}'", timeout=100,
                        alive=process)
    except HarnessError as error:
        raise HarnessError(f"{error}\n{tail(LOG)}") from error


def device_of_run(process):
    """The device on the host that this run made, and what of its number and file is known."""
    slot = (int(wait_for_line(r"curl http://198\.51\.100\.(\d+):", process).group(1)) - 2) // 4
    return f"/sys/class/net/sockhop{slot}/ifindex"


def read(path):
    try:
        with open(path) as file:
            return file.read()
    except OSError:
        return None


def others():
    """Processes of this test's pid namespace that are not the test's own."""
    own = {1, os.getpid()}
    return [pid for pid in map(int, filter(str.isdigit, os.listdir("/proc"))) if pid not in own]


def require_nothing_left(device, number):
    wait_for(lambda: not others(), "end of the run's processes", timeout=30)
    # Another test may have a device of that name meanwhile, but none with that number.
    wait_for(lambda: read(device) != number, "end of the run's device", timeout=30)
    left = [name for name in os.listdir(RUN) if name != os.path.basename(LOG)]
    assert not left, left


def test_quickstart_ends_at_ctrl_c():
    isolate()
    before = read("/proc/self/mounts")
    with started() as process:
        device = device_of_run(process)
        number = read(device)
        assert number, f"{device} is not there during the run"
        wait_for_line("measuring 1/1: quick.connect", process)
        os.killpg(process.pid, signal.SIGINT)
        assert process.wait(30) == 130, f"{process.returncode}\n{tail(LOG)}"
    assert "Traceback" not in tail(LOG), tail(LOG)
    require_nothing_left(device, number)
    assert read("/proc/self/mounts") == before


def test_quickstart_after_a_killed_run():
    isolate()
    with started() as process:
        device = device_of_run(process)
        number = read(device)
        process.kill()
        process.wait()
        require_nothing_left(device, number)
    with tempfile.NamedTemporaryFile() as figures:
        done = run([*words(), "--json", figures.name], env=environment(), timeout=150)
        rows = {row["id"]: row for row in json.loads(read(figures.name))["rows"]}
    assert "published nginx (wrk), req/s" in done.stdout, done.stdout
    assert list(rows) == ROWS, list(rows)
    for row in rows.values():
        assert sorted(row["arms"]) == ["host", "slirp", "sockhop"], row
        assert all(len(raw) == 1 and raw[0] > 0 for raw in row["arms"].values()), row
        assert "sockhop/host" in row["ratios"], row


def test_quickstart_remove():
    """On a copy of the machine's user files: other tests need the real user."""
    isolate()
    for part in ("upper", "work", "lib"):
        os.mkdir(f"{RUN}/{part}")
    run(["mount", "-t", "overlay", "overlay", "-o",
         f"lowerdir=/etc,upperdir={RUN}/upper,workdir={RUN}/work", "/etc"])
    run(["mount", "--bind", f"{RUN}/lib", os.path.dirname(STATE)])
    os.makedirs(f"{STATE}/rootfs-of-some-day/etc")
    for time in ("first", "second"):  # the second finds nothing, which is no error
        run([QUICKSTART, "--remove"], env=environment())
        for path in ("/etc/passwd", "/etc/group", "/etc/subuid", "/etc/subgid"):
            assert "sockhop-test" not in read(path), f"{path} after the {time} time"
        assert not os.path.exists(STATE)


def test_quickstart_refuses():
    """Before it asks for root or changes anything."""
    for wrong, remedy in ((["--json"], "--json FILE"), (["--nonsense"], "--remove"),
                          (["--repetitions", "0"], "1 to 99"),
                          (["--build", "/nowhere"], "bin/sockhopd")):
        done = run([QUICKSTART, *wrong], check=False)
        assert done.returncode != 0 and remedy in done.stdout + done.stderr, (wrong, done)


def test_long_root_file_system():
    """Made by debootstrap on a machine whose package lists were never fetched or thrown away."""
    isolate()
    run(["mount", "-t", "tmpfs", "tmpfs", STATE])
    run(["mount", "-t", "tmpfs", "tmpfs", "/var/lib/apt/lists"])
    setup = f". {ROOT}/tests/setup/all.sh && set_up $PACKAGES_RUN && rootfs_path"
    done = run(["bash", "-c", setup], timeout=800)
    path = done.stdout.strip()
    assert "fetching package lists" in done.stderr and "debootstrap" in done.stderr, done.stderr
    owner = user_entry().pw_uid
    assert os.stat(f"{path}/usr/bin/curl").st_uid == owner, "root inside is the test user"
    assert os.stat(f"{path}/var/mail").st_gid > owner, "others are its subordinate ids"
    run(["chroot", path, "curl", "--version"])
    assert run(["bash", "-c", setup]).stderr == "", "the second time there is nothing to do"
    assert os.listdir(STATE).count(f"{os.path.basename(path)}.part") == 0


def test_configuration_file():
    """examples/sockhop.toml: its rules hold, and what it does not name is as without it."""
    isolate()
    path = f"{expose(f'{ROOT}/examples', 'example-files')}/sockhop.toml"
    with Lab(daemon_options=["--config", path]) as lab:
        http_server(lab.machine, 8000)
        arm = lab.arm("sockhop", mounts=[programs_mount()])
        denied, hopped = probe(arm, [("203.0.113.5", 80), (lab.machine.address4, 8000)])
        assert denied == {"result": "ECONNREFUSED"}, denied
        assert hopped["cookie"] == host_cookie(), hopped
        assert hopped["own"] == arm.container.address, f"names are the container's: {hopped}"


if __name__ == "__main__":
    main(globals())
