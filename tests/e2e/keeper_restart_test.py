"""sockhopd and sockhop-control end in every way; sessions go on and are found again."""

import os
import signal
import socket

from harness import main, run
from harness.keeper import KeeperWorld, free_port, is_taken


def test_killed_sockhopd_finds_its_sessions_again():
    port = free_port()
    with KeeperWorld(config='rules = ["deny 203.0.113.0/24"]') as world:
        world.sockhop("register", "web", "-p", f"{port}:80", "--rule", "stay 10.0.0.0/8")
        web = world.running("web")
        world.running("db")
        world.sockhop("off", "db")
        before = world.containers()
        world.kill()
        assert len(world.pids("sockhop-session")) == 2 and is_taken(port)
        world.start()
        assert world.containers() == before
        world.sockhop("unregister", "web")
        assert "deny 203.0.113.0/24" in world.sockhop("explain", "web", "198.51.100.1:80").stdout
        assert not is_taken(port)
        web.end()
        world.wait_until(lambda: list(world.containers()) == ["db"])


def test_waiting_registration_outlives_a_killed_sockhopd():
    port, other = free_port(), free_port()
    with KeeperWorld() as world:
        world.sockhop("register", "web", "-p", f"{port}:80", "--rule", "stay 10.0.0.0/8")
        world.sockhop("off", "web")
        world.sockhop("register", "gone", "-p", f"{other}:80")
        before = world.containers()
        world.sockhop("unregister", "gone")
        del before["gone"]
        world.kill()
        assert not is_taken(port)
        world.start()
        assert world.containers() == before and is_taken(port) and not is_taken(other)
        world.running("web")
        entry = world.containers()["web"]
        assert entry["registered"] and not entry["accelerate"] and len(entry["ports"]) == 1, entry
        assert "stay 10.0.0.0/8" in world.sockhop("explain", "web", "198.51.100.1:80").stdout
        assert not os.path.exists(world.path("waiting")), "its session knows it now"
        assert world.logged() == "", world.logged()


def test_waiting_registration_whose_port_is_taken_meanwhile():
    port = free_port()
    with KeeperWorld() as world:
        world.sockhop("register", "web", "-p", f"{port}:80")
        world.kill()
        with socket.create_server(("0.0.0.0", port)):
            world.start()
        assert "container web: its registration is lost" in world.logged(), world.logged()
        assert f"{port} is in use" in world.logged()
        assert not world.containers()


def test_unreadable_file_of_waiting_registrations():
    with KeeperWorld() as world:
        world.kill()
        with open(world.path("waiting"), "w") as file:
            file.write("no message")
        world.start()
        assert "are lost" in world.logged() and "register again" in world.logged()
        assert not world.containers()


def test_health_and_reflection():
    probe = f"{os.environ.get('SOCKHOP_BUILD', 'build')}/tests/bin/grpc_probe"
    with KeeperWorld() as world:
        said = run([probe, world.path("sockhop.sock")]).stdout.splitlines()
        assert said == ["serving", "sockhop.v1.ContainerService", "grpc.health.v1.Health"], said


def test_sessions_that_ended_meanwhile_are_swept():
    with KeeperWorld() as world:
        container = world.running("web")
        world.kill()
        container.end()
        world.wait_until(lambda: not world.pids("sockhop-session"))
        assert os.listdir(world.path("sessions"))
        world.start()
        assert not world.containers() and not os.listdir(world.path("sessions"))


def test_killed_control_is_started_again():
    with KeeperWorld() as world:
        world.running("web")
        guard = world.containers()["web"]["guard_pid"]
        for _ in range(3):
            (old,) = world.pids("sockhop-control")
            os.kill(old, signal.SIGKILL)
            # The client's connection waits in the socket's queue until control is back.
            assert world.containers()["web"]["guard_pid"] == guard
            assert world.pids("sockhop-control") != [old]


def test_killed_session_is_one_log_line():
    with KeeperWorld() as world:
        world.running("web")
        world.running("db")
        os.kill(int(world.containers()["web"]["guard_pid"]), signal.SIGKILL)
        world.wait_until(lambda: list(world.containers()) == ["db"])
        lines = world.logged().splitlines()
        assert len(lines) == 1 and "container web" in lines[0], lines


def test_sigterm_ends_cleanly_and_leaves_sessions():
    with KeeperWorld() as world:
        world.running("web")
        world.daemon.terminate()
        assert world.daemon.wait(5) == 0
        assert not os.path.exists(world.path("seccomp.sock"))
        assert not os.path.exists(world.path("sockhop.sock"))
        world.wait_until(lambda: not world.pids("sockhop-control"))
        assert len(world.pids("sockhop-session")) == 1
        world.start()
        assert "web" in world.containers()


def test_sighup_reads_the_configuration_again():
    with KeeperWorld(config='rules = ["stay 10.0.0.0/8"]') as world:
        world.running("web")

        def rules():
            return world.sockhop("explain", "web", "198.51.100.1:80").stdout
        assert "stay 10.0.0.0/8" in rules()
        world.write_config('rules = ["deny 203.0.113.0/24"]')
        world.daemon.send_signal(signal.SIGHUP)
        world.wait_until(lambda: "deny 203.0.113.0/24" in rules())
        world.write_config("rules = [")
        world.daemon.send_signal(signal.SIGHUP)
        world.wait_until(lambda: "the old one stays" in world.logged())
        assert "deny 203.0.113.0/24" in rules()


def test_stale_socket_is_replaced():
    with KeeperWorld() as world:
        world.kill()
        assert os.path.exists(world.path("seccomp.sock"))
        world.start()
        world.running("web")


def refusal(world, *words, **environment):
    done = run([f"{world.dir}/bin/sockhopd", *words], check=False, timeout=2,
               env={**world.environment(), **environment})
    return done.returncode, done.stderr


def test_refusals_name_the_remedy():
    with KeeperWorld() as world:
        code, text = refusal(world)
        assert code == 1 and "another sockhopd serves" in text, text
        code, text = refusal(world, XDG_RUNTIME_DIR="")
        assert code == 1 and "export XDG_RUNTIME_DIR=" in text, text
        code, text = refusal(world, XDG_RUNTIME_DIR="/nonexistent")
        assert code == 1 and "install -d" in text, text
        code, text = refusal(world, "--config", "/nonexistent")
        assert code == 1 and "/nonexistent" in text, text
        code, text = refusal(world, "--no-such-option")
        assert code == 2, text
        missing = world.sockhop("explain", "nobody", "198.51.100.1:80", check=False)
        assert missing.returncode == 1 and "sockhop ps" in missing.stderr, missing
        absent = world.sockhop("--socket", "/nonexistent", "ps", check=False)
        assert absent.returncode == 3 and "is it running?" in absent.stderr, absent
        assert world.sockhop("register", "web", "-p", "x", check=False).returncode == 2


def test_every_program_tells_its_version():
    with KeeperWorld() as world:
        for name in ("sockhopd", "sockhop-control", "sockhop"):
            assert run([f"{world.dir}/bin/{name}", "--version"]).stdout.startswith(f"{name} 0.")


def test_memory_of_keeper_and_control():
    with KeeperWorld() as world:
        world.require_plain_build("which takes memory of its own")
        world.running("web")
        world.containers()
        total = 0
        for pid in [world.daemon.pid, *world.pids("sockhop-control")]:
            with open(f"/proc/{pid}/status") as file:
                total += sum(int(line.split()[1]) for line in file if line.startswith("VmRSS"))
        print(f"{total} kB")
        assert total <= 25 * 1024, total


if __name__ == "__main__":
    main(globals())
