"""The command line of tests/bench.sh."""

import argparse
import sys

from bench import catalog, report


def parse(argv):
    parser = argparse.ArgumentParser(
        prog="tests/bench.sh", description="Measures sockhop beside the host and its rivals.")
    parser.add_argument("--list", action="store_true", help="show the rows and their arms")
    parser.add_argument("--quick", action="store_true", help="3 repetitions, about 20 s a row")
    parser.add_argument("--json", metavar="FILE", help="write the results to FILE as well")
    parser.add_argument("--build", metavar="DIR", default="build", help=argparse.SUPPRESS)
    parser.add_argument("rows", metavar="ROW", nargs="*", help="rows to run; all for none")
    options = parser.parse_args(argv)
    try:
        options.rows = catalog.select(options.rows)
    except KeyError as error:
        parser.error(f"there is no row {error}; --list shows them")
    return options


def show_rows():
    for row in catalog.ROWS:
        print(f"{row.id:<20} {row.unit:<7} {row.what} [{' '.join(row.arms)}]")


def measure(options):
    from bench.runner import note, run_rows  # these need root and Linux; --list does not
    from bench.world import World
    world = World(options.build)
    try:
        results = run_rows(options.rows, world, options.quick)
    finally:
        note("ending")
        world.close()
    print(report.table(results))
    if options.json:
        report.write_json(results, options.json)
    return 0 if any(result.arms for result in results) else 1


def main(argv):
    options = parse(argv)
    if options.list:
        show_rows()
        return 0
    from harness.isolate import SKIPPED, isolate
    from harness.process import HarnessError, Skip
    try:
        isolate()
        return measure(options)
    except Skip as reason:
        print(f"skipped: {reason}", file=sys.stderr)
        return SKIPPED
    except HarnessError as error:
        print(f"bench: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130  # as a shell says it; what was started ends with our pid namespace
