"""Rows about datagrams."""

from bench.model import Row
from bench.rows_stream import iperf


def received(turn):
    """What arrives of datagrams sent as fast as the sender can."""
    end = iperf(turn, "--udp", "--bitrate", "0", "--length", "1200",
                "--time", 1 if turn.quick else 2)
    total = end["sum"]
    return total["bits_per_second"] * (1 - total["lost_percent"] / 100) / 1e9


ROWS = [
    Row("udp.hop", "Gbit/s", "higher",
        "iperf3 --udp, datagrams of 1,200 bytes, rate received; sockhop with udp = hop",
        ("host", "slirp", "sockhop"), received, within={"sockhop": "udphop"}),
]
