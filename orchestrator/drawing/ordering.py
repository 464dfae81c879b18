"""The order of things inside each column, so that few links cross: barycentre sweeps, then swaps of neighbours.

Nothing has coordinates yet (`placing`); which column things stand in is decided (`layers`).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Sequence
from dataclasses import dataclass, field

#: Below this many items the order is worth polishing further.
SMALL = 300


@dataclass(slots=True)
class Weave:
    """Columns of items and the segments between neighbouring columns; worked on in place while a layout is made.

    An item is a node (0 … nodes - 1) or a bend of a long link (2·nodes …). A *place* is an item, or the lane under a
    node (nodes + node) where loops leave and arrive. Items of one group (the body of a fan-out, 0 is none) are kept
    together in a column, so that a region can be drawn around them.
    """

    nodes: int
    columns: list[list[int]]
    #: For each column but the last, the segments to the next: (place, place), in the author's order.
    segments: list[list[tuple[int, int]]]
    #: By place; those of lanes are never read.
    column: list[int]
    group: list[int]
    grouped: bool = False
    #: By place: where it stands in its column.
    pos: list[float] = field(default_factory=list)
    #: By item: the places it is linked with in the columns to its left and right.
    before: list[list[int]] = field(default_factory=list)
    after: list[list[int]] = field(default_factory=list)

    def owner(self, place: int) -> int:
        """The item a place belongs to."""
        return place - self.nodes if self.nodes <= place < 2 * self.nodes else place

    def link(self) -> None:
        """Reads the neighbours of every item out of the segments."""
        size = len(self.column)
        self.before = [[] for _ in range(size)]
        self.after = [[] for _ in range(size)]
        self.pos = [0.0] * size
        before, after, nodes, lanes = self.before, self.after, self.nodes, 2 * self.nodes
        for gap in self.segments:
            for a, b in gap:
                after[a - nodes if nodes <= a < lanes else a].append(b)
                before[b - nodes if nodes <= b < lanes else b].append(a)


def arrange(weave: Weave) -> int:
    """Orders the columns of `weave` in place and answers how many crossings are left."""
    weave.link()
    for column in weave.columns:
        _sort(weave, column, [float(index) for index in range(len(column))])
    best = _crossings(weave)
    kept = [column.copy() for column in weave.columns]
    small = len(weave.column) - weave.nodes < SMALL
    stale = 0
    for sweep in range(12 if small else 6):
        if not best or stale > 2:
            break
        forward = sweep % 2 == 0
        linked = weave.before if forward else weave.after
        for column in weave.columns[1:] if forward else weave.columns[-2::-1]:
            _sort(weave, column, _means(weave, column, linked))
        crossings = _crossings(weave)
        if crossings < best:
            best, stale = crossings, 0
            kept = [column.copy() for column in weave.columns]
        else:
            stale += 1
    for column, order in zip(weave.columns, kept, strict=True):
        column[:] = order
        _settle(weave, column)
    if best and small:
        _swap(weave)
        best = _crossings(weave)
    return best


def _settle(weave: Weave, column: list[int]) -> None:
    """Writes the positions of one column down."""
    pos, nodes = weave.pos, weave.nodes
    for index, item in enumerate(column):
        pos[item] = index
        if item < nodes:
            pos[nodes + item] = index + 0.4


def _means(weave: Weave, column: list[int], linked: Sequence[Sequence[int]]) -> list[float]:
    """For each item the mean position of what it is linked with, or its own where it is linked with nothing."""
    pos = weave.pos
    means = []
    for item in column:
        places = linked[item]
        if len(places) == 1:
            means.append(pos[places[0]])
        elif places:
            means.append(sum([pos[place] for place in places]) / len(places))
        else:
            means.append(pos[item])
    return means


def _sort(weave: Weave, column: list[int], wanted: list[float]) -> None:
    """Sorts one column by what each item wants, groups as one, equals as they stood."""
    want = dict(zip(column, wanted, strict=True))
    if weave.grouped:
        group = weave.group
        members: dict[int, list[float]] = {}
        for item in column:
            if group[item]:
                members.setdefault(group[item], []).append(want[item])
        mean = {number: sum(wants) / len(wants) for number, wants in members.items()}
        column.sort(key=lambda item: (mean.get(group[item], want[item]), group[item], want[item]))
    else:
        column.sort(key=want.__getitem__)
    _settle(weave, column)


def _crossings(weave: Weave) -> int:
    """How many pairs of segments cross."""
    pos = weave.pos
    total = 0
    for gap in weave.segments:
        if len(gap) < 2:
            continue
        seen: list[float] = []
        for _, b in sorted([(pos[a], pos[b]) for a, b in gap]):
            total += len(seen) - bisect_right(seen, b)
            insort(seen, b)
    return total


def _swap(weave: Weave) -> None:
    """Exchanges neighbours in a column while that undoes crossings."""
    pos, group = weave.pos, weave.group
    for _ in range(6):
        better = False
        for column in weave.columns:
            if len(column) < 2:
                continue
            near = {
                item: (
                    sorted([pos[place] for place in weave.before[item]]),
                    sorted([pos[place] for place in weave.after[item]]),
                )
                for item in column
            }
            for index in range(len(column) - 1):
                upper, lower = column[index], column[index + 1]
                if group[upper] != group[lower]:
                    continue
                (above_left, above_right), (below_left, below_right) = near[upper], near[lower]
                gain = _against(above_left, below_left) + _against(above_right, below_right)
                if gain > 0:
                    column[index], column[index + 1] = lower, upper
                    better = True
            _settle(weave, column)
        if not better:
            return


def _against(upper: list[float], lower: list[float]) -> int:
    """How many crossings exchanging two neighbours undoes, minus those it makes; the lists are sorted."""
    return sum([(len(upper) - bisect_right(upper, place)) - bisect_left(upper, place) for place in lower])
