"""The rows of rows_crowd.py with arms that only say what they were asked to run."""

import json
import sys
import unittest
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

sys.path.insert(0, str(Path(__file__).parents[1] / "e2e"))

from bench import rows_crowd  # noqa: E402  (the harness must be found first)
from bench.model import Turn  # noqa: E402


class FakeArm:
    def __init__(self, said, ran, name="first"):
        self.said, self.ran, self.name = said, ran, name

    def program(self, name):
        return name

    def another(self, name):
        return FakeArm(self.said, self.ran, name)

    def run(self, argv):
        self.ran.append((self.name, " ".join(map(str, argv))))
        return SimpleNamespace(stdout=self.said)


class FakeWorld:
    machine = SimpleNamespace(address4="198.51.100.2")

    def __init__(self):
        self.things = {}

    def connect_server(self):
        return 7000

    def silent_port(self):
        return 7001

    def shared(self, key, make):
        if key not in self.things:
            self.things[key] = make()
        return self.things[key]


class CrowdRowsTest(unittest.TestCase):
    def turn(self, label, *lines):
        self.ran = []
        said = "".join(json.dumps(line) + "\n" for line in lines)
        return Turn(FakeWorld(), FakeArm(said, self.ran), label, quick=True)

    def test_cold_runs_as_another_uid_in_its_arm_only(self):
        for label, uid in (("sockhop", "--uid 0"), ("subuid", "--uid 1000")):
            self.assertEqual(rows_crowd.cold(self.turn(label, {"mean_us": 900.0})), 900.0)
            self.assertTrue(self.ran[0][1].endswith(uid), self.ran)

    def test_parallel_adds_up_two_processes_in_each_of_four_containers(self):
        turn = self.turn("sockhop", {"cycles": 100}, {"cycles": 50})
        self.assertEqual(rows_crowd.parallel(turn), 4 * 150 * 2)  # --quick is half a second
        self.assertEqual({name for name, _ in self.ran}, {"first", 2, 3, 4})
        self.assertTrue(all(line.count("bench_connect") == 2 for _, line in self.ran), self.ran)

    def test_containers_of_an_arm_are_made_once(self):
        turn = self.turn("sockhop", {"cycles": 1})
        self.assertIs(rows_crowd.crew(turn), rows_crowd.crew(turn))

    def blocked_with(self, label, counts):
        turn = self.turn(label, {"p99_us": 70.0})
        with mock.patch.object(rows_crowd.Blocked, "count", side_effect=counts):
            return rows_crowd.blocked(turn)

    def test_alone_nothing_is_blocked(self):
        self.assertEqual(self.blocked_with("alone", []), 70.0)
        self.assertEqual(len(self.ran), 1)

    def test_blocked_begins_when_all_are_and_ends_them(self):
        self.assertEqual(self.blocked_with("sockhop", [10, 200, 200, 3, 0]), 70.0)
        self.assertEqual([name for name, _ in self.ran], ["blocked", "first", "blocked"])

    def test_connects_that_did_not_stay_blocked_are_no_figure(self):
        with self.assertRaises(rows_crowd.HarnessError):
            self.blocked_with("sockhop", [200, 199])

    def test_session_is_two_processes(self):
        with mock.patch("bench.processes.dirty_megabytes", side_effect=[0.1, 0.5, 0.1, 0.7]):
            self.assertAlmostEqual(
                rows_crowd.processes.dirty_megabytes_of_a_session([1, 2, 3, 4]), 0.7)


if __name__ == "__main__":
    unittest.main()
