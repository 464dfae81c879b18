"""No file grows into a drawer: outside the tests 400 lines are the ceiling; at 300 ask which noun wants to move out."""

from __future__ import annotations

from tests.house.sources import PACKAGES, nothing_wrong, sources

CEILING = 400

#: Files that may be longer, with their length today. This list may only shrink.
EXCEPTIONS: dict[str, int] = {}


def lengths() -> dict[str, int]:
    """By place: how many lines each file outside the tests has."""
    return {s.place: len(s.text.splitlines()) for s in sources(*PACKAGES, "examples", "benchmarks", "docs")}


def test_no_file_is_longer_than_the_ceiling() -> None:
    nothing_wrong(f"{place}: {n} lines" for place, n in lengths().items() if n > EXCEPTIONS.get(place, CEILING))


def test_an_exception_that_is_not_needed_any_more_is_struck_off() -> None:
    nothing_wrong(f"{place}: needs no exception" for place in EXCEPTIONS if lengths().get(place, 0) <= CEILING)
