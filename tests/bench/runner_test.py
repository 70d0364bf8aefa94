import contextlib
import io
import unittest

from bench.model import ArmUnavailable, Row
from bench.runner import run_rows


class FakeWorld:
    failures = ()

    def __init__(self, missing=()):
        self.missing = missing

    def arm(self, name):
        if name in self.missing:
            raise ArmUnavailable("not installed")
        return name


def row(measure, arms=("host", "sockhop"), **options):
    return Row("r", "us", "lower", "", arms, measure, **options)


def run(*args):
    """The results by id, and what was said on stderr."""
    said = io.StringIO()
    with contextlib.redirect_stderr(said):
        results = run_rows(*args)
    return {result.id: result for result in results}, said.getvalue()


class RunnerTest(unittest.TestCase):
    def test_arms_alternate_within_each_repetition(self):
        order = []
        results, _ = run([row(lambda turn: order.append(turn.label) or 1.0)], FakeWorld(), True)
        self.assertEqual(order, ["host", "sockhop",  # warm-up, not counted
                                 "host", "sockhop", "sockhop", "host", "host", "sockhop"])
        self.assertEqual(results["r"].arms, {"host": [1.0] * 3, "sockhop": [1.0] * 3})

    def test_default_takes_ten_repetitions(self):
        results, _ = run([row(lambda turn: 1.0)], FakeWorld(), False)
        self.assertEqual(len(results["r"].arms["host"]), 10)

    def test_arm_that_cannot_run_is_left_out_and_named(self):
        results, said = run([row(lambda turn: 1.0)], FakeWorld(missing=["host"]), True)
        self.assertEqual(list(results["r"].arms), ["sockhop"])
        self.assertIn("r: arm host is left out: not installed", said)

    def test_arm_that_fails_halfway_leaves_no_half_list(self):
        seen = []

        def measure(turn):
            seen.append(turn.label)
            if turn.label == "host" and seen.count("host") == 3:
                raise ValueError("no event")
            return 1.0

        results, said = run([row(measure)], FakeWorld(), True)
        self.assertEqual(results["r"].arms, {"sockhop": [1.0] * 3})
        self.assertIn("arm host is left out: no event", said)

    def test_suffixes_become_rows_of_their_own(self):
        results, _ = run([row(lambda turn: {"": 1.0, "close": 2.0})], FakeWorld(), True)
        self.assertEqual(list(results), ["r", "r.close"])
        self.assertEqual(results["r.close"].arms["host"], [2.0] * 3)

    def test_state_of_an_arm_runs_inside_that_arm_under_its_own_name(self):
        turns = set()
        run([row(lambda turn: turns.add((turn.label, turn.arm)) or 1.0,
                 arms=("warm", "sockhop"), within={"warm": "sockhop"})], FakeWorld(), True)
        self.assertEqual(turns, {("warm", "sockhop"), ("sockhop", "sockhop")})


if __name__ == "__main__":
    unittest.main()
