"""Pieces of SVG paths: level strokes, bends from one height to another, and lines with round corners."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

_RADIUS: Final = 9


def level(x: int, to: int) -> str:
    """A level stroke, or nothing when the pen is there already."""
    return f"H{to}" if to != x else ""


def curve(x: int, y: int, to: int, lower: int) -> str:
    """A bend from one height to another that leaves and arrives level."""
    middle = (x + to) // 2
    return f"C{middle} {y} {middle} {lower} {to} {lower}"


def bend(points: Sequence[tuple[int, int]], *, closed: bool = False) -> str:
    """A line of level and upright strokes with round corners."""
    path = "" if closed else f"M{points[0][0]} {points[0][1]}"
    corners = range(len(points)) if closed else range(1, len(points) - 1)
    for index in corners:
        (px, py), (x, y), (nx, ny) = points[index - 1], points[index], points[(index + 1) % len(points)]
        radius = min(_RADIUS, (abs(x - px) + abs(y - py)) // 2, (abs(nx - x) + abs(ny - y)) // 2)
        ax, ay = x - radius * _sign(x - px), y - radius * _sign(y - py)
        bx, by = x + radius * _sign(nx - x), y + radius * _sign(ny - y)
        path += f"{'L' if path else 'M'}{ax} {ay}Q{x} {y} {bx} {by}"
    return path + ("Z" if closed else f"L{points[-1][0]} {points[-1][1]}")


def _sign(value: int) -> int:
    return (value > 0) - (value < 0)
