"""Running programs: as root, as the test user, and waiting for conditions."""

import os
import pwd
import subprocess
import time

USER = "sockhop-test"
STATE = "/var/lib/sockhop-test"
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


class HarnessError(Exception):
    """Something the harness needs did not work; the text says what."""


class Skip(Exception):
    """The test cannot run here; the text says why."""


def run(argv, check=True, **options):
    """Runs to the end; the answer's stdout and stderr are text. A failure shows both."""
    options.setdefault("timeout", 60)
    options.setdefault("stdin", None if "input" in options else subprocess.DEVNULL)
    try:
        done = subprocess.run([str(a) for a in argv], text=True, capture_output=True, **options)
    except subprocess.TimeoutExpired as error:
        raise HarnessError(f"{' '.join(map(str, argv))}: not done in {error.timeout} s") from error
    if check and done.returncode != 0:
        raise HarnessError(f"{' '.join(map(str, argv))}: exit {done.returncode}\n"
                           f"{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done


def start(argv, log=None, **options):
    """Starts a program that goes on; its output goes to the file `log`, or nowhere."""
    out = open(log, "ab") if log else subprocess.DEVNULL
    options.setdefault("stdin", subprocess.DEVNULL)
    options.setdefault("stdout", out)
    options.setdefault("stderr", subprocess.STDOUT)
    return subprocess.Popen([str(a) for a in argv], **options)


def stop(process, timeout=5):
    """SIGTERM, then SIGKILL; nothing if it has ended by itself."""
    if process is None or process.poll() is not None:
        return
    process.terminate()
    try:
        process.wait(timeout)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def wait_for(condition, what, timeout=10.0, alive=None):
    """Polls until `condition()` holds and answers its value; `alive`: a process that must live."""
    end = time.monotonic() + timeout
    while True:
        value = condition()
        if value:
            return value
        if alive is not None and alive.poll() is not None:
            raise HarnessError(f"{what}: {alive.args[0]} ended with {alive.returncode}")
        if time.monotonic() > end:
            raise HarnessError(f"{what}: not within {timeout} s")
        time.sleep(0.01)


def user_entry():
    return pwd.getpwnam(USER)


def runtime_dir():
    return f"/run/user/{user_entry().pw_uid}"


def user_env():
    return {"PATH": PATH, "HOME": user_entry().pw_dir, "USER": USER, "LANG": "C.UTF-8",
            "XDG_RUNTIME_DIR": runtime_dir()}


def as_user(argv):
    """The command line that runs `argv` as the test user with its environment and nothing else."""
    entry = user_entry()
    env = [f"{key}={value}" for key, value in user_env().items()]
    return ["setpriv", f"--reuid={entry.pw_uid}", f"--regid={entry.pw_gid}", "--init-groups",
            "env", "-i", *env, *map(str, argv)]


def tail(path, size=3000):
    try:
        with open(path, errors="replace") as file:
            return file.read()[-size:]
    except OSError as error:
        return f"({error})"


def write_file(path, text, mode=0o644):
    with open(path, "w") as file:
        file.write(text)
    os.chmod(path, mode)
