"""Reads what a picture's paths say: the points along them, and the rectangles of what stands beside them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

_STROKE = re.compile(r"([MLHVCQZ])([^MLHVCQZ]*)")


class Area(NamedTuple):
    """A rectangle."""

    left: float
    top: float
    right: float
    bottom: float

    def overlaps(self, other: Area) -> bool:
        """Whether two rectangles share more than an edge."""
        across = self.left < other.right and other.left < self.right
        return across and self.top < other.bottom and other.top < self.bottom

    def holds(self, x: float, y: float, *, margin: float = 0) -> bool:
        """Whether a point is inside, at least `margin` from the left and right side and off the upper and lower."""
        return self.left + margin < x < self.right - margin and self.top < y < self.bottom


def points(path: str) -> list[tuple[float, float]]:
    """Points along a path of absolute strokes, close enough that no node slips between two."""
    x = y = 0.0
    found: list[tuple[float, float]] = []
    for command, numbers in _STROKE.findall(path):
        given = [float(number) for number in numbers.split()]
        match command:
            case "M":
                knots = [(given[0], given[1])]
            case "L":
                knots = [(x, y), (given[0], given[1])]
            case "H":
                knots = [(x, y), (given[0], y)]
            case "V":
                knots = [(x, y), (x, given[0])]
            case "Q" | "C":
                knots = [(x, y), *zip(given[::2], given[1::2], strict=True)]
            case _:
                continue
        found += _along(knots)
        x, y = knots[-1]
    return found


def _along(knots: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Points of a Bézier curve of any degree, by halving its knots over and over."""
    reach = max(abs(x - knots[0][0]) + abs(y - knots[0][1]) for x, y in knots)
    steps = max(1, int(reach / 6))
    found = []
    for step in range(steps + 1):
        t = step / steps
        row = knots
        while len(row) > 1:
            row = [(a * (1 - t) + c * t, b * (1 - t) + d * t) for (a, b), (c, d) in pairwise(row)]
        found.append(row[0])
    return found


def encloses(outline: Sequence[tuple[float, float]], x: float, y: float) -> bool:
    """Whether a point is inside a closed outline: a ray from it to the right leaves an odd number of times."""
    inside = False
    for (ax, ay), (bx, by) in pairwise([*outline, outline[0]]):
        if (ay > y) != (by > y) and x < ax + (y - ay) * (bx - ax) / (by - ay):
            inside = not inside
    return inside
