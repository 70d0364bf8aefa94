"""Statistics of the bench: ratios of paired repetitions and how sure they are.

All arms of a row run interleaved, so repetition i of one arm and repetition i of another saw the
machine in about the same state; their quotient is free of slow drifts that raw values carry.
"""

import math
import random
import statistics

RESAMPLES = 2000
LEVEL = 0.95


def paired_ratios(ours, other):
    """Quotients of the repetitions that both arms have; a zero below the line has no quotient."""
    return [a / b for a, b in zip(ours, other) if b]


def bootstrap_interval(values, resamples=RESAMPLES, level=LEVEL):
    """Percentile interval of the median. The same values always give the same interval."""
    if len(values) == 1:
        return values[0], values[0]
    chance = random.Random(0)
    medians = sorted(statistics.median(chance.choices(values, k=len(values)))
                     for _ in range(resamples))
    tail = (1 - level) / 2
    return medians[math.floor(tail * resamples)], medians[math.ceil((1 - tail) * resamples) - 1]


def ratio(ours, other):
    """{"median", "lo", "hi"} of our arm over the other, or None when there is nothing to divide."""
    values = paired_ratios(ours, other)
    if not values:
        return None
    lo, hi = bootstrap_interval(values)
    return {"median": statistics.median(values), "lo": lo, "hi": hi}


def geometric_mean(values):
    return math.exp(statistics.fmean(math.log(value) for value in values))
