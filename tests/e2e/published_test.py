"""Servers in a container, published by sockhop: reached from another machine and from the host."""

from harness import HarnessError, Lab, main
from harness.languages import INSIDE, go_program, node, programs_mount
from harness.oracle import wait_for_injected
from harness.servers import http_server, redis_server, serve

NGINX = """
daemon off; pid /tmp/nginx.pid; error_log stderr; worker_processes 2;
events {}
http { access_log off;
  server { listen 80; location / { return 200 "hello from nginx to $remote_addr\\n"; } }
}
"""


def port_of(lab):
    return lab.machine.host_port()


def curl(place, address, port, check=True):
    return place.run(["curl", "-sS", "-m", "10", f"http://{address}:{port}/"], check=check)


def check_http(lab, arm, port, who):
    """20 requests from the machine, whose own address the server must have seen; then ours."""
    for _ in range(20):
        answer = curl(lab.machine, lab.machine.host4, port).stdout
        assert f"hello from {who} to " in answer and lab.machine.address4 in answer, answer
    wait_for_injected(arm, 20)
    answer = curl(lab.arm("host"), "127.0.0.1", port).stdout
    assert f"hello from {who}" in answer, answer


def published(lab, port=80, mounts=()):
    return lab.arm("sockhop", mounts=[programs_mount(), *mounts], ports=[f"{port_of(lab)}:{port}"])


def test_nginx():
    with Lab() as lab:
        arm = published(lab)
        arm.container.write("/tmp/nginx.conf", NGINX)
        early = curl(lab.machine, lab.machine.host4, port_of(lab), check=False)
        assert early.returncode == 7, f"refused until somebody listens inside: {early}"
        serve(arm, ["nginx", "-c", "/tmp/nginx.conf"], 80)
        check_http(lab, arm, port_of(lab), "nginx")
        # The server's own port inside goes on working beside the published one.
        assert "hello from nginx to 127.0.0.1" in curl(arm, "127.0.0.1", 80).stdout


def test_nginx_under_wrk():
    with Lab() as lab:
        arm = published(lab)
        arm.container.write("/tmp/nginx.conf", NGINX)
        serve(arm, ["nginx", "-c", "/tmp/nginx.conf"], 80)
        url = f"http://{lab.machine.host4}:{port_of(lab)}/"
        for extra in ([], ["-H", "Connection: close"]):
            out = lab.machine.run(["wrk", "-t1", "-c16", "-d1s", *extra, url]).stdout
            assert "Socket errors" not in out and "Non-2xx" not in out, out


def test_python():
    with Lab() as lab:
        arm = published(lab)
        http_server(arm, 80, text="hello from python")
        check_http(lab, arm, port_of(lab), "python")


def test_node():
    mounts, command = node()
    with Lab() as lab:
        arm = published(lab, mounts=mounts)
        serve(arm, [*command, f"{INSIDE}/net_client.js", "serve", "80"], 80)
        check_http(lab, arm, port_of(lab), "node")


def test_go():
    mounts, command = go_program("http_client.go")
    with Lab() as lab:
        arm = published(lab, mounts=mounts)
        serve(arm, [*command, "serve", "80"], 80)
        check_http(lab, arm, port_of(lab), "go")


def test_redis():
    with Lab() as lab:
        arm = published(lab, port=6379)
        redis_server(arm)
        done = lab.machine.run(["redis-benchmark", "-h", lab.machine.host4, "-p", port_of(lab),
                                "-n", "2000", "-c", "20", "-q", "-t", "set,get"])
        assert "GET:" in done.stdout, done.stdout
        wait_for_injected(arm, 20)


def test_host_address_is_honoured():
    with Lab() as lab:
        arm = lab.arm("sockhop", ports=[f"{lab.machine.host4}:{port_of(lab)}:80"])
        http_server(arm, 80)
        assert "hello" in curl(lab.machine, lab.machine.host4, port_of(lab)).stdout
        elsewhere = curl(lab.arm("host"), "127.0.0.1", port_of(lab), check=False)
        assert elsewhere.returncode == 7, elsewhere


def test_busy_port_is_an_error_of_register():
    with Lab() as lab:
        http_server(lab.arm("host"), port_of(lab))
        try:
            lab.daemon.register("busy", [f"{port_of(lab)}:80"])
        except HarnessError as error:
            assert str(port_of(lab)) in str(error), error
        else:
            raise AssertionError("a busy host port was registered")


if __name__ == "__main__":
    main(globals())
