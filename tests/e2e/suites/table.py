"""Prints what the last whole runs found, as README shows it: table.py BUILD."""

import glob
import json
import sys

HEAD = """\
| suite | passed without | passed with sockhop | differences | hops | seconds without, with |
|---|---:|---:|---:|---:|---:|"""


def line(row):
    without = row["without"]
    return (f"| {row['suite']} | {without['ok']} | {row['ok']} | {row['differences']} | "
            f"{row['hops']:,} | {without['seconds']:.0f}, {row['seconds']:.0f} |")


if __name__ == "__main__":
    print(HEAD)
    for path in sorted(glob.glob(f"{sys.argv[1]}/suites/*.row")):
        with open(path) as file:
            print(line(json.load(file)))
