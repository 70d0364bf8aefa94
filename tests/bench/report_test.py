import json
import os
import tempfile
import unittest

from bench import report
from bench.model import Result


def connect_result():
    return Result("connect.warm", "us", "lower",
                  {"host": [10.0, 20.0], "slirp": [100.0, 200.0], "sockhop": [15.0, 30.0]})


class DocumentTest(unittest.TestCase):
    def test_document_has_the_agreed_form(self):
        document = report.to_document([connect_result()])
        self.assertEqual(set(document), {"kernel", "cpus", "rows"})
        row = document["rows"][0]
        self.assertEqual(list(row), ["id", "unit", "better", "arms", "ratios"])
        self.assertEqual(row["arms"]["host"], [10.0, 20.0])
        self.assertEqual(row["ratios"]["sockhop/host"], {"median": 1.5, "lo": 1.5, "hi": 1.5})

    def test_only_our_arms_stand_above_the_line_and_never_below_it(self):
        result = connect_result()
        result.arms["hostlocal"] = [12.0, 24.0]
        self.assertEqual(set(report.ratios_of(result)),
                         {"sockhop/host", "sockhop/slirp", "hostlocal/host", "hostlocal/slirp"})

    def test_a_row_that_no_arm_could_run_is_left_out(self):
        self.assertEqual(report.to_document([Result("x", "us", "lower")])["rows"], [])

    def test_written_file_reads_back(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "out.json")
            report.write_json([connect_result()], path)
            with open(path, encoding="utf-8") as file:
                self.assertEqual(json.load(file)["rows"][0]["id"], "connect.warm")
            self.assertEqual(os.listdir(folder), ["out.json"])


class TableTest(unittest.TestCase):
    def test_table_shows_the_ratio_in_the_line_of_the_arm_below(self):
        host = next(line for line in report.table([connect_result()]).splitlines()
                    if " host " in line)
        self.assertIn("sockhop is 1.50 x [1.50, 1.50]", host)


if __name__ == "__main__":
    unittest.main()
