"""Runs two short rows for real and looks at the file they write; no figure is judged."""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

RUN = Path(__file__).parent / "run.py"
BUILD = os.environ.get("SOCKHOP_BUILD", "build")
SKIPPED = 77


def quick(rows, folder):
    path = f"{folder}/out.json"
    done = subprocess.run([sys.executable, RUN, "--build", BUILD, "--quick", "--json", path, *rows],
                          capture_output=True, text=True, timeout=170)
    if done.returncode == SKIPPED:
        print(done.stderr)
        sys.exit(SKIPPED)
    return done, path


class FormTest(unittest.TestCase):
    def test_quick_run_writes_three_repetitions_of_each_arm_that_works(self):
        with tempfile.TemporaryDirectory() as folder:
            done, path = quick(["connect.rtt", "calls.plain"], folder)
            self.assertEqual(done.returncode, 0, done.stderr)
            document = json.loads(Path(path).read_text(encoding="utf-8"))
        rows = {row["id"]: row for row in document["rows"]}
        self.assertIn("calls.plain.close", rows)
        for name, arms in (("connect.rtt", ("host", "slirp")), ("calls.plain", ("nofilter",))):
            for arm in arms:
                self.assertEqual(len(rows[name]["arms"][arm]), 3, f"{name} {arm}: {done.stderr}")
        # A connect cannot be faster than the line it goes over.
        self.assertGreater(min(rows["connect.rtt"]["arms"]["host"]), 480)
        if "BYPASS4NETNS" not in os.environ:
            self.assertIn("arm b4ns is left out", done.stderr)


if __name__ == "__main__":
    unittest.main()
