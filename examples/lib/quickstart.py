"""The measuring half of quickstart.sh: three arms, three figures, one table."""

import argparse
import json
import os
import statistics
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [f"{ROOT}/tests", f"{ROOT}/tests/e2e"]

from bench.model import Result  # noqa: E402
from bench.report import write_json  # noqa: E402
from harness import HarnessError, Lab, Skip  # noqa: E402
from harness.isolate import RUN, expose  # noqa: E402
from harness.process import write_file  # noqa: E402
from harness.servers import http_server, iperf_server, serve  # noqa: E402

ARMS = ("slirp", "sockhop", "host")
CONNECT_PORT = 7000
NGINX_CONF = """
worker_processes 1;
daemon off;
error_log stderr;
pid {dir}/nginx.pid;
events {{ worker_connections 512; }}
http {{
  access_log off;
  keepalive_requests 1000000;
  client_body_temp_path {dir}; proxy_temp_path {dir}; fastcgi_temp_path {dir};
  uwsgi_temp_path {dir}; scgi_temp_path {dir};
  server {{ listen {port}; location / {{ return 200 "hello from {who}\\n"; }} }}
}}
"""
ROWS = (
    # id, unit, which way is better, what it is called in the table
    ("quick.download", "Gbit/s", "higher", "download (iperf3)"),
    ("quick.connect", "us", "lower", "connect + close"),
    ("quick.published", "req/s", "higher", "published nginx (wrk)"),
)


def progress(text):
    print(f"sockhop: {text}", file=sys.stderr, flush=True)


class Scene:
    """The three arms with what is measured in them running."""

    def __init__(self, lab, build):
        self.lab = lab
        self.ports = {name: lab.machine.host_port(i) for i, name in enumerate(ARMS)}
        programs = expose(f"{build}/examples", "examples")
        self.stopwatch = f"{programs}/connect_time"
        serve(lab.machine, [self.stopwatch, "serve", CONNECT_PORT], CONNECT_PORT)
        iperf_server(lab.machine)
        http_server(lab.machine, 8000)
        progress("starting RootlessKit, slirp4netns, sockhopd and two runc containers")
        mounts = [(programs, "/mnt")]
        self.arms = {
            "slirp": lab.arm("plain", mounts=mounts),
            "sockhop": lab.arm("sockhop", mounts=mounts,
                               ports=[f"{self.ports['sockhop']}:80"]),
            "host": lab.arm("host"),
        }
        self.check_by_curl()
        for name in ARMS:
            self.start_nginx(name)
        self.arms["slirp"].publish(self.ports["slirp"], 80)

    def check_by_curl(self):
        url = f"http://{self.lab.machine.address4}:8000/"
        for name, arm in self.arms.items():
            answer = arm.run(["curl", "-sS", "-m", "10", url]).stdout.strip()
            progress(f"curl {url} in {name}: {answer}")

    def start_nginx(self, name):
        on_host = name == "host"
        port = self.ports["host"] if on_host else 80
        directory = f"{RUN}/nginx" if on_host else "/tmp"
        conf = NGINX_CONF.format(dir=directory, port=port, who=name)
        if on_host:
            os.mkdir(directory)
            write_file(f"{directory}/nginx.conf", conf)
        else:
            self.arms[name].container.write("/tmp/nginx.conf", conf)
        serve(self.arms[name], ["nginx", "-c", f"{directory}/nginx.conf"], port)

    def download(self, name):
        done = self.arms[name].run(["iperf3", "-c", self.lab.machine.address4, "-R", "-J", "-t", 1])
        return json.loads(done.stdout)["end"]["sum_received"]["bits_per_second"] / 1e9

    def connect(self, name):
        program = self.stopwatch if name == "host" else "/mnt/connect_time"
        done = self.arms[name].run([program, self.lab.machine.address4, CONNECT_PORT, 0.5])
        return float(done.stdout)

    def published(self, name):
        url = f"http://{self.lab.machine.host4}:{self.ports[name]}/"
        out = self.lab.machine.run(["wrk", "-t1", "-c16", "-d1s", url]).stdout
        lines = dict(line.split(":", 1) for line in out.splitlines() if ":" in line)
        if "Socket errors" in lines or "Non-2xx or 3xx responses" in lines:
            raise HarnessError(f"wrk saw errors in {name}:\n{out}")
        rate = float(lines["Requests/sec"])
        if rate == 0:
            raise HarnessError(f"no request was answered in {name}:\n{out}")
        return rate


def measure(scene, repetitions):
    """Arms in turn, so that a slow moment of the machine hits all of them."""
    results = [Result(row, unit, better, {arm: [] for arm in ARMS})
               for row, unit, better, _title in ROWS]
    measures = (scene.download, scene.connect, scene.published)
    for repetition in range(repetitions):
        for result, one in zip(results, measures):
            for arm in ARMS:
                progress(f"measuring {repetition + 1}/{repetitions}: {result.id} in {arm}")
                result.arms[arm].append(one(arm))
    return results


def table(results):
    titles = {row: f"{title}, {unit}" for row, unit, _better, title in ROWS}
    lines = ["", f"{'':<32}{'slirp4netns':>13}{'sockhop':>13}{'host':>13}"]
    for result in results:
        cells = "".join(f"{statistics.median(result.arms[arm]):>13,.1f}" for arm in ARMS)
        lines.append(f"{titles[result.id]:<32}{cells}")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    parser.add_argument("--json")
    parser.add_argument("--repetitions", type=int, default=3)
    options = parser.parse_args()
    with Lab(options.build) as lab:
        results = measure(Scene(lab, options.build), options.repetitions)
    print(table(results))
    if options.json:
        write_json(results, options.json)


if __name__ == "__main__":
    try:
        main()
    except (HarnessError, Skip) as error:
        sys.exit(f"sockhop: {error}")
    except KeyboardInterrupt:
        sys.exit(130)
