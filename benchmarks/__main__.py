"""`python -m benchmarks`: runs all of them, prints a table of ratios and, as the last line, the same as JSON."""

from __future__ import annotations

import json

from benchmarks import growth


def main() -> None:
    """Measure and print."""
    found = growth.report()
    for store, ratios in found.items():
        for what, ratio in ratios.items():
            print(f"{store:<8} {ratio:5.2f}  {what}")
    print(json.dumps(found))


if __name__ == "__main__":
    main()
