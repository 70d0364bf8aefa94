"""Results as the JSON form of the project's bench and as a table for people."""

import json
import os
import platform
import statistics

from bench import stats
from bench.model import OURS


def ratios_of(result):
    """Each of our arms over every other arm, in the order in which the arms ran."""
    found = {}
    for ours in result.arms:
        if ours not in OURS:
            continue
        for other in result.arms:
            value = other not in OURS and stats.ratio(result.arms[ours], result.arms[other])
            if value:
                found[f"{ours}/{other}"] = value
    return found


def to_document(results):
    return {
        "kernel": platform.release(),
        "cpus": len(os.sched_getaffinity(0)),
        "rows": [{"id": result.id, "unit": result.unit, "better": result.better,
                  "arms": result.arms, "ratios": ratios_of(result)}
                 for result in results if result.arms],
    }


def write_json(results, path):
    part = f"{path}.part"
    with open(part, "w", encoding="utf-8") as file:
        json.dump(to_document(results), file, indent=1)
        file.write("\n")
    os.replace(part, path)


def _number(value):
    return f"{value:.3g}" if abs(value) < 100 else f"{value:.0f}"


def _spread(values):
    return f"{_number(min(values))}..{_number(max(values))}"


def table(results):
    """One line an arm: its median, its range, and our arms' ratios over it."""
    lines = [f"{'row':<20} {'arm':<12} {'median':>9} {'range':>17} {'unit':<8} ratio [95 %]"]
    for result in results:
        ratios = ratios_of(result)
        for arm, values in result.arms.items():
            ours = [f"{key.split('/')[0]} is {value['median']:.2f} x "
                    f"[{value['lo']:.2f}, {value['hi']:.2f}]"
                    for key, value in ratios.items() if key.endswith(f"/{arm}")]
            lines.append(f"{result.id:<20} {arm:<12} {_number(statistics.median(values)):>9} "
                         f"{_spread(values):>17} {result.unit:<8} {', '.join(ours)}".rstrip())
    return "\n".join(lines)
