"""Small servers for tests; each works in a Machine and in an arm, and is ready on return."""

from .isolate import RUN
from .process import tail, wait_for

HTTP = """
import http.server, socket, sys
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_GET(self):
        body = (sys.argv[2] + " to " + self.client_address[0] + "\\n").encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
class Server(http.server.ThreadingHTTPServer):
    address_family = socket.AF_INET6
    request_queue_size = 512
Server(("::", int(sys.argv[1])), Handler).serve_forever()
"""


def listening(place, port):
    found = place.run(["ss", "-Hltn", f"sport = :{port}"], check=False).stdout
    return bool(found.strip())


def serve(place, argv, port):
    """Starts `argv` in a Machine or an arm and waits until it listens."""
    log = f"{RUN}/server-{port}.log"
    process = place.popen(argv, log)
    try:
        wait_for(lambda: listening(place, port), f"{argv[0]} on port {port}", alive=process)
    except Exception as error:
        raise type(error)(f"{error}\n{tail(log)}") from error
    return process


def http_server(place, port, text="hello from the machine"):
    """Answers every GET with `text` and the client's address; IPv4 and IPv6."""
    return serve(place, ["python3", "-c", HTTP, str(port), text], port)


def iperf_server(place, port=5201):
    return serve(place, ["iperf3", "-s", "-p", str(port)], port)


def redis_server(place, port=6379):
    return serve(place, ["redis-server", "--port", str(port), "--bind", "0.0.0.0", "--save", "",
                         "--protected-mode", "no"], port)
