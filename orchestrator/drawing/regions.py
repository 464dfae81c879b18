"""The shade behind the body of each fan-out. Which nodes a body has is `bodies`' concern."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Final

from orchestrator.drawing.parts import Plan
from orchestrator.drawing.picture import Region
from orchestrator.drawing.plan import REGION_BOTTOM, REGION_TOP
from orchestrator.drawing.strokes import bend

#: Between a shade and what is not of its body.
_AIR: Final = 4


def regions(made: Plan, dx: int, dy: int) -> list[Region]:
    """One rectangle for each body, drawn in where something else stands in its way."""
    weave = made.weave
    if not weave.grouped:
        return []
    extents: dict[int, dict[int, tuple[int, int]]] = {}
    for index, column in enumerate(weave.columns):
        for item in column:
            if weave.group[item]:
                up, down = made.spans[item]
                top, bottom = made.height[item] - up - REGION_TOP + 4, made.height[item] + down + REGION_BOTTOM
                was = extents.setdefault(weave.group[item], {}).get(index, (top, bottom))
                extents[weave.group[item]][index] = (min(was[0], top), max(was[1], bottom))
    found = []
    shades: dict[int, list[tuple[int, int]]] = {}
    for number, by_column in sorted(extents.items()):
        columns = sorted(by_column)
        if columns[-1] - columns[0] + 1 != len(columns):
            columns = columns[: next(i for i, c in enumerate(columns) if c != columns[0] + i)]
        strip = [by_column[column] for column in columns]
        level = (min(top for top, _ in strip), max(bottom for _, bottom in strip))
        strip = [_level(made, number, column=column, level=level, shades=shades) for column in columns]
        for at, sides in zip(columns, strip, strict=True):
            shades.setdefault(at, []).append(sides)
        left, right = dx + made.left[columns[0]] - 14, dx + made.right[columns[-1]] + 10
        edges = [left, *(dx + (made.right[c] + made.left[c + 1]) // 2 for c in columns[:-1]), right]
        upper = [(x, dy + top) for (top, _), ends in zip(strip, pairwise(edges), strict=True) for x in ends]
        lower = [(x, dy + bottom) for (_, bottom), ends in zip(strip, pairwise(edges), strict=True) for x in ends]
        outline = _corners([*upper, *reversed(lower)])
        found.append(
            Region(number - 1, bend(outline, closed=True), left + 12, dy + strip[0][0] + 15, edges[1] - left - 20)
        )
    return found


def _level(
    made: Plan, number: int, *, column: int, level: tuple[int, int], shades: Mapping[int, Sequence[tuple[int, int]]]
) -> tuple[int, int]:
    """The upper and lower side of a body in one column: those of the whole body, unless something else is there."""
    weave = made.weave
    own = [made.height[item] for item in weave.columns[column] if weave.group[item] == number]
    others = list(shades.get(column, ()))
    for item in weave.columns[column]:
        if weave.group[item] != number:
            up, down = made.spans[item]
            shade = (REGION_TOP - 4, REGION_BOTTOM) if weave.group[item] else (0, 0)
            others.append((made.height[item] - up - shade[0], made.height[item] + down + shade[1]))
    above = [lower + _AIR for upper, lower in others if upper < own[0]]
    below = [upper - _AIR for upper, lower in others if lower > own[-1]]
    return max([level[0], *above]), min([level[1], *below])


def _corners(points: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """An outline without the points in the middle of a straight stroke."""
    kept: list[tuple[int, int]] = []
    for index, point in enumerate(points):
        before, after = points[index - 1], points[(index + 1) % len(points)]
        if not (before[0] == point[0] == after[0] or before[1] == point[1] == after[1]):
            kept.append(point)
    return kept
