"""Runs rows: every repetition goes once through all arms, so that a drift hits all of them."""

import subprocess
import sys

from bench.model import ArmUnavailable, Result, Turn

QUICK_REPETITIONS = 3


def note(text):
    print(f"bench: {text}", file=sys.stderr, flush=True)


class RowRun:
    """One row while it is measured; an arm that fails leaves the row and is named."""

    def __init__(self, row, world, quick):
        self.row, self.world, self.quick = row, world, quick
        self.labels = list(row.arms)
        self.results = {}

    def run(self):
        for label in list(self.labels):
            self._open(label)
        # One turn that does not count: caches, first connections, servers that start lazily.
        for label in list(self.labels):
            self._turn(label)
        for done in range(self._repetitions()):
            # Every other round backwards: nobody always runs behind the same neighbour.
            for label in self.labels[:: -1 if done % 2 else 1]:
                self._keep(label, self._turn(label))
        return list(self.results.values())

    def _repetitions(self):
        return QUICK_REPETITIONS if self.quick else self.row.repetitions

    def _open(self, label):
        try:
            self.world.arm(self.row.opened_by(label))
        except ArmUnavailable as error:
            self._drop(label, error)

    def _drop(self, label, why):
        note(f"{self.row.id}: arm {label} is left out: {why}")
        self.labels.remove(label)
        for result in self.results.values():
            result.arms.pop(label, None)

    def _turn(self, label):
        arm = self.world.arm(self.row.opened_by(label))
        try:
            return self.row.measure(Turn(self.world, arm, label, self.quick))
        except (RuntimeError, OSError, ValueError, KeyError,
                subprocess.TimeoutExpired, *self.world.failures) as error:
            self._drop(label, error)
            return {}

    def _keep(self, label, measured):
        values = measured if isinstance(measured, dict) else {"": measured}
        for suffix, value in values.items():
            name = f"{self.row.id}.{suffix}" if suffix else self.row.id
            result = self.results.setdefault(
                name, Result(name, self.row.unit, self.row.better,
                             {label: [] for label in self.labels}))
            result.arms[label].append(value)


def run_rows(rows, world, quick):
    results = []
    for number, row in enumerate(rows, 1):
        note(f"{row.id} ({number} of {len(rows)})")
        results += RowRun(row, world, quick).run()
    return results
