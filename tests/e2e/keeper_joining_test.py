"""The joining table, with the real sockhopd, a fake runtime and a fake session."""

import os
import socket

from harness import main, run
from harness.keeper import FakeContainer, KeeperWorld, free_port, is_taken


def test_container_without_registration():
    with KeeperWorld() as world:
        world.running("web")
        entry = world.containers()["web"]
        assert entry["running"] and not entry["registered"] and not entry["ports"], entry
        assert entry["notify_fds"] == 1, entry


def test_registration_reserves_its_ports():
    port = free_port()
    with KeeperWorld() as world:
        world.sockhop("register", "web", "-p", f"{port}:80")
        assert is_taken(port)
        try:
            socket.create_connection(("127.0.0.1", port))
            raise AssertionError("a reserved port answers")
        except ConnectionRefusedError:
            pass
        entry = world.containers()["web"]
        assert entry["registered"] and not entry["running"], entry
        assert entry["ports"][0]["port"]["host_port"] == port, entry
        world.sockhop("unregister", "web")
        assert not is_taken(port) and not world.containers()


def test_list_that_no_packet_holds():
    """Pages between sockhopd and sockhop-control: few containers with many ports, many without."""
    with KeeperWorld() as world:
        names = [f"heavy-{number}" for number in range(18)]
        for number, name in enumerate(names):
            first = 22000 + 240 * number
            ports = [f"127.0.0.1:{port}:{port}" for port in range(first, first + 240)]
            world.sockhop("register", name, *(word for port in ports for word in ("-p", port)))
        names += [f"light-{number}" for number in range(10)]
        for name in names[18:]:
            world.sockhop("register", name)
        listed = world.containers()
        assert sorted(listed) == sorted(names), sorted(listed)
        assert [len(listed[name]["ports"]) for name in names[:18]] == [240] * 18


def test_busy_port_is_an_error_that_names_it():
    with KeeperWorld() as world, socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        refused = world.sockhop("register", "web", "-p", f"{port}:80", check=False)
        assert refused.returncode == 1, refused
        assert f"0.0.0.0:{port} is in use" in refused.stderr, refused
        assert not world.containers(), "a refused registration is none"


def test_registration_first_then_container():
    port = free_port()
    with KeeperWorld() as world:
        world.sockhop("register", "web", "-p", f"127.0.0.1:{port}:80", "--rule", "stay 10.0.0.0/8")
        world.running("web")
        entry = world.containers()["web"]
        assert entry["registered"] and entry["ports"][0]["port"]["container_port"] == 80, entry
        assert is_taken(port), "the session holds the endpoint now"
        assert "stay 10.0.0.0/8" in world.sockhop("explain", "web", "198.51.100.1:80").stdout


def test_container_first_then_registration():
    port = free_port()
    with KeeperWorld() as world:
        world.running("web")
        world.sockhop("register", "web", "-p", f"{port}:80", "--rule", "stay 10.0.0.0/8")
        entry = world.containers()["web"]
        assert entry["registered"] and len(entry["ports"]) == 1 and is_taken(port), entry
        assert "stay 10.0.0.0/8" in world.sockhop("explain", "web", "198.51.100.1:80").stdout


def test_unregister_leaves_the_session():
    port = free_port()
    with KeeperWorld() as world:
        world.sockhop("register", "web", "-p", f"{port}:80", "--rule", "stay 10.0.0.0/8")
        world.running("web")
        guard = world.containers()["web"]["guard_pid"]
        world.sockhop("unregister", "web")
        entry = world.containers()["web"]
        assert entry["running"] and not entry["registered"] and not entry["ports"], entry
        assert entry["guard_pid"] == guard and not is_taken(port), entry
        assert "10.0.0.0/8" not in world.sockhop("explain", "web", "198.51.100.1:80").stdout


def test_nothing_is_left_of_an_ended_container():
    port = free_port()
    with KeeperWorld() as world:
        world.sockhop("register", "web", "-p", f"{port}:80")
        container = world.running("web")
        before = sorted(os.listdir(f"/proc/{world.daemon.pid}/fd"))
        container.end()
        world.wait_until(lambda: not world.containers())
        world.wait_until(lambda: not world.pids("sockhop-session"))
        assert not is_taken(port) and not os.listdir(world.path("sessions"))
        assert len(os.listdir(f"/proc/{world.daemon.pid}/fd")) < len(before)
        assert world.logged() == "", world.logged()


def test_exec_brings_another_notify_fd():
    with KeeperWorld() as world:
        world.running("web")
        second = world.container("web")
        world.wait_until(lambda: world.containers()["web"]["notify_fds"] == 2)
        assert len(world.pids("sockhop-session")) == 1
        second.end()
        world.wait_until(lambda: world.containers()["web"]["notify_fds"] == 1)


def test_name_that_is_used_again_gets_a_new_session():
    with KeeperWorld() as world:
        for _ in range(20):
            world.running("web").end()
        world.wait_until(lambda: not world.containers())
        assert "error" not in world.logged(), world.logged()


def test_off_and_on():
    with KeeperWorld() as world:
        world.running("web")
        world.sockhop("off", "web")
        assert world.containers()["web"]["accelerate"] is False
        world.sockhop("on", "web")
        assert world.containers()["web"]["accelerate"] is True


def test_state_in_any_split_and_beside_silent_connections():
    with KeeperWorld() as world:
        silent = [world.connect() for _ in range(300)]
        container = FakeContainer("slow")
        state = container.state(annotations={"long": "x" * 900_000})
        with world.connect() as connection:
            socket.send_fds(connection, [state[:1]], [container.notify])
            container.forget_notify_fd()
            for first in range(1, 2000):
                connection.sendall(state[first:first + 1])
            connection.sendall(state[2000:])
            # The connection stays open: nobody waits for its end.
            world.wait_until(lambda: "slow" in world.containers())
        for connection in silent:
            connection.close()
        container.end()


def test_bad_states_are_one_log_line_each():
    with KeeperWorld() as world:
        container = FakeContainer("web")
        bad = [(b"GET / HTTP/1.1\r\n\r\n", [container.notify]),
               (b"{}", [container.notify]),
               (container.state(), []),
               (container.state(), [0]),
               (container.state(id=""), [container.notify]),
               (container.state(), [container.notify] * 17),
               (container.state(annotations={"long": "x" * 1_100_000}), [container.notify])]
        for count, (text, descriptors) in enumerate(bad, 1):
            with world.connect() as connection:
                try:
                    socket.send_fds(connection, [text[:100]], descriptors)
                    connection.sendall(text[100:])
                except BrokenPipeError:
                    pass
                world.wait_until(lambda: len(world.logged().splitlines()) == count,
                                 f"the line about {text[:40]}")
        assert not world.containers()
        world.bring(container)
        world.wait_until(lambda: "web" in world.containers())
        container.end()


def test_processes_of_a_container_are_refused():
    with KeeperWorld() as world:
        container = world.running("web", own_namespaces=True)
        inside = ["nsenter", "-t", str(container.process.pid), "-n"]
        environment = [f"XDG_RUNTIME_DIR={world.runtime}"]
        refused = run([*inside, "env", *environment, f"{world.dir}/bin/sockhop", "ps"], check=False)
        assert refused.returncode == 3, refused
        assert "is a process of a container" in world.logged()
        other = run(["unshare", "--net", "--mount", "env", *environment,
                     f"{world.dir}/bin/sockhop", "ps"])
        assert "web" in other.stdout, "namespaces of nobody's container are admitted"


if __name__ == "__main__":
    main(globals())
