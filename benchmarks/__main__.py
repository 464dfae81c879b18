"""`python -m benchmarks`: runs all of them, prints a table of ratios and, as the last line, the same as JSON."""

from __future__ import annotations

import argparse
import json

from benchmarks import growth


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="What a step costs as runs grow.")
    parser.add_argument("--repeats", type=int, default=growth.REPEATS, help="how often each is measured")
    found = growth.report(parser.parse_args().repeats)
    for store, measures in found.items():
        for what, cost in measures.items():
            print(f"{store:<10} {cost['ratio']:5.2f}   {cost['largeMs']:7.3f} ms / {cost['smallMs']:7.3f} ms   {what}")
    print(json.dumps(found))


if __name__ == "__main__":
    main()
