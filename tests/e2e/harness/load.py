"""programs/load.c: clients and servers that miss no connection; what they say in the end."""

import collections
import json

from .languages import c_program
from .process import tail

Program = collections.namedtuple("Program", "mount inside outside")


def load_program():
    mount, inside = c_program("load.c")
    return Program(mount, inside, f"{mount[0]}/load")


def figures(log):
    """The JSON at the end of what it wrote into a file."""
    return figures_of(tail(log, 100_000))


def figures_of(text):
    assert "{" in text, text[-500:].lstrip(".")
    return json.loads(text[text.index("{"):].splitlines()[0])


def end_server(process, log):
    """Ends a server by SIGTERM, which runtimes pass on; answers its counts."""
    assert process.poll() is None, f"the server ended by itself: {tail(log, 500)}"
    process.terminate()
    process.wait(20)
    return figures(log)


def stop_server(process, log, count, given_up=0):
    """Every connection was served once, and there were no others but those that clients gave up."""
    counts = end_server(process, log)
    assert counts["silent"] <= given_up, counts
    assert counts["tokens"] == count == counts["connections"] - counts["silent"], counts
    assert counts["twice"] == counts["failed"] == 0, counts
