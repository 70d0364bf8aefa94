"""Entry of the bench; tests/bench.sh calls it after it has built what it needs."""

import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS), str(TESTS / "e2e")]

from bench.cli import main  # noqa: E402  (the path comes first)

sys.exit(main(sys.argv[1:]))
