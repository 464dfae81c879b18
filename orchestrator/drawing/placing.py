"""How high everything stands: straight runs become rigid blocks, which are stacked and slide towards their neighbours.

The orders inside the columns (`ordering`) are kept; distances between columns are `routes`' concern.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from orchestrator.drawing.ordering import SMALL


class Segment(NamedTuple):
    """A piece of a link between neighbouring columns, with how far from the middle of its items it starts and ends."""

    source: int
    leaves: int
    target: int
    arrives: int
    #: Segments of small rank are drawn straight first.
    rank: float


@dataclass(slots=True)
class _Blocks:
    """Items that move together: `root` and `shift` by item; by block what stands above, below and is linked."""

    root: list[int]
    shift: list[int]
    order: list[int]
    above: list[list[tuple[int, int]]]
    below: list[list[tuple[int, int]]]
    linked: list[list[tuple[int, int]]]


def place(
    columns: Sequence[Sequence[int]],
    gaps: Sequence[Sequence[Segment]],
    *,
    size: int,
    spans: Sequence[tuple[int, int]],
    apart: Sequence[Sequence[int]],
) -> list[int]:
    """The height of the middle of each item.

    `spans` says how far an item reaches above and below its middle, `apart` how much room is kept above each item of a
    column (the first of a column has none).
    """
    root, shift = _align(columns, gaps, size)
    blocks = _stack(columns, gaps, root=root, shift=shift, spans=spans, apart=apart)
    height = [0] * size
    for block in blocks.order:
        height[block] = max([height[other] + room for other, room in blocks.above[block]], default=0)
    for sweep in range(6 if len(blocks.order) < SMALL else 3):
        _slide(blocks, height, blocks.order if sweep % 2 else reversed(blocks.order))
    return [height[root[item]] + shift[item] for item in range(size)]


def _align(
    columns: Sequence[Sequence[int]], gaps: Sequence[Sequence[Segment]], size: int
) -> tuple[list[int], list[int]]:
    """Chooses the segments that will be straight: by rank, one on each side of an item, none crossing another."""
    pos = [0] * size
    for column in columns:
        for index, item in enumerate(column):
            pos[item] = index
    root = list(range(size))
    shift = [0] * size
    for gap in gaps:
        chosen: list[int] = []
        partner: list[int] = []
        joined: list[Segment] = []
        for segment in sorted(gap, key=_rank):
            a, b = pos[segment.source], pos[segment.target]
            at = bisect_left(chosen, a)
            if (at < len(chosen) and (chosen[at] == a or partner[at] <= b)) or (at and partner[at - 1] >= b):
                continue
            chosen.insert(at, a)
            partner.insert(at, b)
            joined.append(segment)
        for source, leaves, target, arrives, _ in joined:
            root[target] = root[source]
            shift[target] = shift[source] + leaves - arrives
    return root, shift


def _rank(segment: Segment) -> float:
    return segment.rank


def _stack(
    columns: Sequence[Sequence[int]],
    gaps: Sequence[Sequence[Segment]],
    *,
    root: list[int],
    shift: list[int],
    spans: Sequence[tuple[int, int]],
    apart: Sequence[Sequence[int]],
) -> _Blocks:
    """The blocks from top to bottom. Straight runs that do not cross always have such an order."""
    size = len(root)
    above: list[list[tuple[int, int]]] = [[] for _ in range(size)]
    below: list[list[tuple[int, int]]] = [[] for _ in range(size)]
    linked: list[list[tuple[int, int]]] = [[] for _ in range(size)]
    for column, room in zip(columns, apart, strict=True):
        for upper, lower, free in zip(column, column[1:], room[1:], strict=False):
            a, b = root[upper], root[lower]
            distance = shift[upper] + spans[upper][1] + free + spans[lower][0] - shift[lower]
            above[b].append((a, distance))
            below[a].append((b, distance))
    for gap in gaps:
        for source, leaves, target, arrives, _ in gap:
            a, b = root[source], root[target]
            if a != b:
                difference = shift[source] + leaves - shift[target] - arrives
                linked[b].append((a, difference))
                linked[a].append((b, -difference))
    missing = [len(pairs) for pairs in above]
    ready = deque(item for item in range(size) if root[item] == item and not missing[item])
    order: list[int] = []
    while ready:
        block = ready.popleft()
        order.append(block)
        for other, _ in below[block]:
            missing[other] -= 1
            if not missing[other]:
                ready.append(other)
    return _Blocks(root, shift, order, above, below, linked)


def _slide(blocks: _Blocks, height: list[int], order: Iterable[int]) -> None:
    """Moves every block as near as it may come to where most of its links would be straight."""
    for block in order:
        links = blocks.linked[block]
        if not links:
            continue
        now = height[block]
        if len(links) == 1:
            other, difference = links[0]
            wanted = height[other] + difference
        else:
            places = sorted([height[other] + difference for other, difference in links])
            half = len(places) // 2
            wanted = places[half] if len(places) % 2 else min(max(now, places[half - 1]), places[half])
        if wanted < now:
            height[block] = max([wanted, *[height[other] + room for other, room in blocks.above[block]]])
        elif wanted > now:
            height[block] = min([wanted, *[height[other] - room for other, room in blocks.below[block]]])
