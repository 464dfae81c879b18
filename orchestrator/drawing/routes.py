"""From coordinates to lines: boxes, labels and edge paths of a planned part, moved to their place.

Lines bend only in the channels between columns and pass a column level, so none runs through a node or a label.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from orchestrator.core.graph import NodeKind
from orchestrator.drawing.parts import Plan
from orchestrator.drawing.picture import Box, Label, Route
from orchestrator.drawing.plan import BADGE, BESIDE, LANE, STUB
from orchestrator.drawing.ports import LABEL_GAP
from orchestrator.drawing.strokes import bend, curve, level

#: How deep the side of a decision slants.
POINT: Final = 14
#: The length of an arrow head.
HEAD: Final = 7


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
            found.append(
                Label(made.part.numbers[node], port.outlet, port.text, x, y, port.width, start, end, port.declared)
            )
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
    for a, b in pairwise(chain):
        last = b == chain[-1]
        lower = tip[1] if last else dy + made.height[b]
        if lower == y:
            continue
        begin = dx + made.right[column[a]]
        end = tip[0] - HEAD + 1 if last else dx + made.left[column[b]]
        path += level(x, begin) + curve(begin, y, end, lower)
        x, y = end, lower
    return path + level(x, tip[0] - HEAD + 1)


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
        return bend([start, (out, start[1]), (out, low), (back, low), (back, tip[1]), (tip[0] - HEAD + 1, tip[1])])
    chain = made.chains[tie] or []
    path = bend([start, (out, start[1]), (out, low), (home, low)])
    x, y = home, low
    for b, a in pairwise(chain[::-1]):
        lower = end if a == chain[0] else dy + made.height[a]
        if lower == y:
            continue
        begin, until = dx + made.left[column[b]], dx + made.right[column[a]]
        path += level(x, begin) + curve(begin, y, until, lower)
        x, y = until, lower
    return path + bend([(x, y), (back, end), (back, tip[1]), (tip[0] - HEAD + 1, tip[1])]).removeprefix(f"M{x} {y}")


def _around(made: Plan, tie: int, *, start: tuple[int, int], tip: tuple[int, int], dx: int, dy: int) -> str:
    """A line that goes below everything, for the longest links of a very large graph."""
    source = made.part.ties[tie].source
    low = dy + made.around[tie]
    out = dx + made.right[made.weave.column[source]] + 8 + 4 * (tie % 4)
    back = tip[0] - 11 - 4 * (tie % 4)
    return bend([start, (out, start[1]), (out, low), (back, low), (back, tip[1]), (tip[0] - HEAD + 1, tip[1])])


def _beside(made: Plan, node: int, depth: int) -> int:
    """How far beside a node a loop of this depth turns: the deeper, the farther."""
    return 2 + BESIDE * ((depth - made.half[node] - BADGE) // LANE)
