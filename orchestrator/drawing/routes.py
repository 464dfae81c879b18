"""From coordinates to lines: boxes, labels, edge paths and shaded regions of a planned part, moved to their place.

Lines bend only in the channels between columns and pass a column level, so none runs through a node or a label.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from orchestrator.core.graph import NodeKind
from orchestrator.drawing.cards import at_a_time
from orchestrator.drawing.picture import Box, Label, Region, Route
from orchestrator.drawing.plan import BADGE, BESIDE, LANE, REGION_BOTTOM, REGION_TOP, STUB, Plan
from orchestrator.drawing.ports import LABEL_GAP

#: How deep the side of a decision slants.
POINT: Final = 14
#: The length of an arrow head.
HEAD: Final = 7
_RADIUS: Final = 9


def boxes(made: Plan, dx: int, dy: int) -> list[Box]:
    """The nodes of a part; all in a column are equally wide."""
    part, column = made.part, made.weave.column
    return [
        Box(
            part.numbers[node],
            dx + made.left[column[node]],
            dy + made.height[node] - made.half[node],
            made.wide[column[node]],
            2 * made.half[node],
            part.cards[node],
        )
        for node in range(len(part.nodes))
    ]


def labels(made: Plan, dx: int, dy: int) -> list[Label]:
    """The names of all outlets, each beside its port."""
    found = []
    for node, ports in enumerate(made.ports):
        column = made.weave.column[node]
        right = made.left[column] + made.wide[column]
        for port in ports:
            x = dx + right + LABEL_GAP
            start = dx + right - _slant(made, node, port.offset)
            end = None if port.connected else x + port.width + STUB - 5
            y = dy + made.height[node] + port.offset
            found.append(Label(made.part.numbers[node], port.outlet, port.text, x, y, port.width, start, end, port.declared))
    return found


def routes(made: Plan, dx: int, dy: int) -> list[Route]:
    """The lines of all edges of a part."""
    offset = [{port.outlet: port.offset for port in row} for row in made.ports]
    column, found = made.weave.column, []
    for tie, (edge, source, target, outlet) in enumerate(made.part.ties):
        away = offset[source][outlet]
        x = dx + made.left[column[source]] + made.wide[column[source]] - _slant(made, source, away)
        y = dy + made.height[source] + away
        tip = (dx + made.left[column[target]] - 1, dy + made.height[target])
        if tie in made.around:
            pen = _around(made, tie, start=(x, y), tip=tip, dx=dx, dy=dy)
        elif tie in made.lanes:
            pen = _loop(made, tie, start=(x, y), tip=tip, dx=dx, dy=dy)
        else:
            pen = _ahead(made, made.chains[tie] or [], start=(x, y), tip=tip, dx=dx, dy=dy)
        found.append(Route(edge, pen, tip))
    return found


def _slant(made: Plan, node: int, offset: int) -> int:
    """How far inside the right side of its rectangle the shape of a node ends at this height."""
    return POINT * abs(offset) // made.half[node] if made.part.nodes[node].kind is NodeKind.DECISION else 0


def _ahead(made: Plan, chain: Sequence[int], *, start: tuple[int, int], tip: tuple[int, int], dx: int, dy: int) -> str:
    """A line that runs from left to right through its bends."""
    column = made.weave.column
    x, y = start
    path = f"M{x} {y}"
    for a, b in zip(chain, chain[1:], strict=False):
        last = b == chain[-1]
        lower = tip[1] if last else dy + made.height[b]
        if lower == y:
            continue
        begin = dx + made.right[column[a]]
        end = tip[0] - HEAD + 1 if last else dx + made.left[column[b]]
        path += _level(x, begin) + _curve(begin, y, end, lower)
        x, y = end, lower
    return path + _level(x, tip[0] - HEAD + 1)


def _loop(made: Plan, tie: int, *, start: tuple[int, int], tip: tuple[int, int], dx: int, dy: int) -> str:
    """A line that turns below its source, runs from right to left and turns up again into its target."""
    _, source, target, _ = made.part.ties[tie]
    column = made.weave.column
    leaves, arrives = made.lanes[tie]
    low, end = dy + made.height[source] + leaves, dy + made.height[target] + arrives
    home = dx + made.left[column[source]]
    out = home + made.wide[column[source]] + made.reach[source] + _beside(made, source, leaves)
    back = dx + made.left[column[target]] - 8 - _beside(made, target, arrives)
    if source == target:
        return _bend([start, (out, start[1]), (out, low), (back, low), (back, tip[1]), (tip[0] - HEAD + 1, tip[1])])
    chain = made.chains[tie] or []
    path = _bend([start, (out, start[1]), (out, low), (home, low)])
    x, y = home, low
    for b, a in zip(chain[::-1], chain[-2::-1], strict=False):
        lower = end if a == chain[0] else dy + made.height[a]
        if lower == y:
            continue
        begin, until = dx + made.left[column[b]], dx + made.right[column[a]]
        path += _level(x, begin) + _curve(begin, y, until, lower)
        x, y = until, lower
    return path + _bend([(x, y), (back, end), (back, tip[1]), (tip[0] - HEAD + 1, tip[1])]).removeprefix(f"M{x} {y}")


def _around(made: Plan, tie: int, *, start: tuple[int, int], tip: tuple[int, int], dx: int, dy: int) -> str:
    """A line that goes below everything, for the longest links of a very large graph."""
    _, source, target, _ = made.part.ties[tie]
    low = dy + made.around[tie]
    out = dx + made.right[made.weave.column[source]] + 8 + 4 * (tie % 4)
    back = tip[0] - 11 - 4 * (tie % 4)
    return _bend([start, (out, start[1]), (out, low), (back, low), (back, tip[1]), (tip[0] - HEAD + 1, tip[1])])


def _beside(made: Plan, node: int, depth: int) -> int:
    """How far beside a node a loop of this depth turns: the deeper, the farther."""
    return 2 + BESIDE * ((depth - made.half[node] - BADGE) // LANE)


def _level(x: int, to: int) -> str:
    return f"H{to}" if to != x else ""


def _curve(x: int, y: int, to: int, lower: int) -> str:
    middle = (x + to) // 2
    return f"C{middle} {y} {middle} {lower} {to} {lower}"


def _bend(points: Sequence[tuple[int, int]], *, closed: bool = False) -> str:
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


def regions(made: Plan, dx: int, dy: int) -> list[Region]:
    """The shade behind each fan-out's body: one rectangle where nothing else is in it, else fitted column by column."""
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
    for number, by_column in sorted(extents.items()):
        columns = sorted(by_column)
        if columns[-1] - columns[0] + 1 != len(columns):
            columns = columns[: next(i for i, c in enumerate(columns) if c != columns[0] + i)]
        strip = [by_column[column] for column in columns]
        level = (min(top for top, _ in strip), max(bottom for _, bottom in strip))
        if not _strangers(made, number, columns=columns, level=level):
            strip = [level] * len(strip)
        left, right = dx + made.left[columns[0]] - 14, dx + made.right[columns[-1]] + 10
        edges = [left, *(dx + (made.right[c] + made.left[c + 1]) // 2 for c in columns[:-1]), right]
        upper = [(x, dy + top) for (top, _), pair in zip(strip, zip(edges, edges[1:], strict=False), strict=True) for x in pair]
        lower = [(x, dy + bottom) for (_, bottom), pair in zip(strip, zip(edges, edges[1:], strict=False), strict=True) for x in pair]
        outline = _corners([*upper, *reversed(lower)])
        found.append(Region(number - 1, _bend(outline, closed=True), left + 12, dy + strip[0][0] + 15, edges[1] - left - 20))
    return found


def _strangers(made: Plan, number: int, *, columns: Sequence[int], level: tuple[int, int]) -> bool:
    """Whether anything that is not of the body stands between two heights in these columns."""
    for column in columns:
        for item in made.weave.columns[column]:
            up, down = made.spans[item]
            if made.weave.group[item] != number and made.height[item] + down > level[0] and made.height[item] - up < level[1]:
                return True
    return False


def _corners(points: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """An outline without the points in the middle of a straight stroke."""
    kept: list[tuple[int, int]] = []
    for index, point in enumerate(points):
        before, after = points[index - 1], points[(index + 1) % len(points)]
        if not (before[0] == point[0] == after[0] or before[1] == point[1] == after[1]):
            kept.append(point)
    return kept
