"""What a row is, and what measuring it gives."""

from dataclasses import dataclass, field
from typing import Any, Callable

# Arms that show sockhop itself; each gets a ratio over every arm that does not.
OURS = ("sockhop", "subuid", "hostlocal", "swap", "on")


@dataclass(frozen=True)
class Row:
    """A line of the bench: one figure, measured in turn in several arms.

    `measure(turn)` runs one repetition and answers a number, or a dict of them by the suffix that
    makes their row ("" is the row itself, "close" is ROW.close). `arms` are names that the world
    can open; an arm of a row that is another state of one of these ("warm" runs in sockhop's
    container) maps to it in `within`.
    """

    id: str
    unit: str
    better: str
    what: str
    arms: tuple[str, ...]
    measure: Callable
    within: dict[str, str] = field(default_factory=dict)
    repetitions: int = 10

    def opened_by(self, arm):
        return self.within.get(arm, arm)


@dataclass(frozen=True)
class Turn:
    """One repetition: where it runs, and under which arm's name ("warm") it counts."""

    world: Any
    arm: Any
    label: str
    quick: bool


@dataclass
class Result:
    """The repetitions of one row, by arm."""

    id: str
    unit: str
    better: str
    arms: dict[str, list[float]] = field(default_factory=dict)


class ArmUnavailable(Exception):
    """The arm cannot run on this machine; the text says why."""
