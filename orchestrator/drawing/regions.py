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
        left, right = made.left[columns[0]] - 14, made.right[columns[-1]] + 10
        steps = [(made.right[column] + made.left[column + 1]) // 2 for column in columns[:-1]]
        upper = _side([top for top, _ in strip], steps, left=left, right=right, out=-1)
        lower = _side([bottom for _, bottom in strip], steps, left=left, right=right, out=1)
        outline = _corners([(dx + x, dy + y) for x, y in (*upper, *reversed(lower))])
        room = (steps[0] if steps else right) - left - 20
        found.append(Region(number - 1, bend(outline, closed=True), dx + left + 12, dy + strip[0][0] + 15, room))
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


def _side(heights: Sequence[int], steps: Sequence[int], *, left: int, right: int, out: int) -> list[tuple[int, int]]:
    """The upper or lower side of a shade; it widens late and narrows early, so that shades do not touch there."""
    points = [(left, heights[0])]
    for (height, following), x in zip(pairwise(heights), steps, strict=True):
        at = x + (_AIR if (following - height) * out > 0 else -_AIR)
        points += [(at, height), (at, following)]
    return [*points, (right, heights[-1])]


def _corners(points: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """An outline without the points in the middle of a straight stroke."""
    kept: list[tuple[int, int]] = []
    for index, point in enumerate(points):
        before, after = points[index - 1], points[(index + 1) % len(points)]
        if not (before[0] == point[0] == after[0] or before[1] == point[1] == after[1]):
            kept.append(point)
    return kept
