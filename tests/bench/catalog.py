"""Every row, in the order in which a full run takes them."""

from bench import (rows_calls, rows_connect, rows_crowd, rows_daemon, rows_published, rows_stream,
                   rows_udp)

ROWS = [*rows_stream.ROWS, *rows_connect.ROWS, *rows_crowd.ROWS, *rows_calls.ROWS,
        *rows_published.ROWS, *rows_udp.ROWS, *rows_daemon.ROWS, *rows_crowd.HUNDREDS]


def select(names):
    """The rows of these ids; all of them for none. KeyError names an unknown one."""
    known = {row.id: row for row in ROWS}
    return [known[name] for name in dict.fromkeys(names)] if names else ROWS
