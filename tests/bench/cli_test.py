import contextlib
import io
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "e2e"))

from bench import catalog, cli  # noqa: E402  (the harness must be found first)


class CommandLineTest(unittest.TestCase):
    def test_no_row_means_every_row(self):
        self.assertEqual(cli.parse([]).rows, catalog.ROWS)

    def test_named_rows_run_once_in_the_order_named(self):
        rows = cli.parse(["--quick", "stream.in.1", "connect.warm", "stream.in.1"]).rows
        self.assertEqual([row.id for row in rows], ["stream.in.1", "connect.warm"])

    def test_unknown_row_is_refused_by_name(self):
        said = io.StringIO()
        with contextlib.redirect_stderr(said), self.assertRaises(SystemExit) as end:
            cli.parse(["connect.none"])
        self.assertNotEqual(end.exception.code, 0)
        self.assertIn("connect.none", said.getvalue())

    def test_list_names_every_row(self):
        shown = io.StringIO()
        with contextlib.redirect_stdout(shown):
            self.assertEqual(cli.main(["--list"]), 0)
        self.assertEqual([line.split()[0] for line in shown.getvalue().splitlines()],
                         [row.id for row in catalog.ROWS])

    def test_every_arm_of_every_row_can_be_opened_by_name(self):
        from bench.arms import ARMS
        for row in catalog.ROWS:
            for label in row.arms:
                self.assertIn(row.opened_by(label), ARMS, row.id)


if __name__ == "__main__":
    unittest.main()
