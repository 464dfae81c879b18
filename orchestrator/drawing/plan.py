"""The layout of one connected part of a graph up to its coordinates: columns, order, ports, heights, column edges.

The steps stand in `layers`, `ordering`, `ports` and `placing`; what comes out is turned into lines by `routes`.
"""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heappush, heapreplace
from itertools import pairwise
from typing import Final

from orchestrator.core.graph import NodeKind
from orchestrator.drawing.layers import layer, walk
from orchestrator.drawing.ordering import Weave, arrange
from orchestrator.drawing.parts import Part, Plan
from orchestrator.drawing.placing import Segment, place
from orchestrator.drawing.ports import LABEL_GAP, STEP, Exit, Port, half_height, spread
from orchestrator.drawing.segments import segments

#: Kept free above and below a node for the badges on its edges.
BADGE: Final = 10
#: A shaded body reaches this far above and below what is in it; the caption stands in the upper part.
REGION_TOP: Final = 30
REGION_BOTTOM: Final = 12
#: From one loop under a node to the next, and from one loop beside it to the next.
LANE: Final = 10
BESIDE: Final = 7
#: The stub of an unconnected outlet behind its name.
STUB: Final = 14
_CHANNEL: Final = 44


def plan(part: Part) -> Plan:
    """Gives every node and every bend of a part its coordinates."""
    count = len(part.nodes)
    ends = [(tie.source, tie.target) for tie in part.ties]
    roots = [index for index, node in enumerate(part.nodes) if node.kind is NodeKind.TRIGGER]
    backward, rank = walk(count, [*ends, *part.order], roots)
    arcs = [(t, s) if back else (s, t) for (s, t), back in zip(ends, backward, strict=False) if s != t]
    arcs += [pair for pair, back in zip(part.order, backward[len(ends) :], strict=True) if not back]
    del backward[len(ends) :]
    column = layer(count, arcs)
    weave, chains = _weave(part, backward, rank=rank, column=column)
    arrange(weave)
    lanes, below = _lanes(part, chains, backward=backward)
    ports = _ports(part, chains, backward=backward, weave=weave)
    half = [half_height(row) for row in ports]
    spans = [(h + BADGE, h + BADGE + (LANE * lane + 6 if lane else 0)) for h, lane in zip(half, below, strict=True)]
    spans += [(0, 0)] * (len(weave.column) - count)
    lanes = {tie: (half[part.ties[tie].source] + a, half[part.ties[tie].target] + b) for tie, (a, b) in lanes.items()}
    gaps = segments(part, chains, backward=backward, lanes=lanes, ports=ports, weave=weave)
    apart = [_apart(column_, weave) for column_ in weave.columns]
    height = place(weave.columns, gaps, size=len(weave.column), spans=spans, apart=apart)
    reach = [
        max([LABEL_GAP + port.width + (6 if port.connected else STUB) for port in row], default=0) for row in ports
    ]
    around = {tie: 0 for tie, chain in enumerate(chains) if chain is None and ends[tie][0] != ends[tie][1]}
    made = Plan(part, weave, chains, backward, lanes, ports, half, spans, height, reach, below, around)
    _columns(made, gaps)
    _bounds(made)
    return made


def _weave(
    part: Part, backward: Sequence[bool], *, rank: Sequence[int], column: list[int]
) -> tuple[Weave, list[list[int] | None]]:
    """Columns with a bend in every column a tie passes; the longest ties get none once there are too many bends."""
    count = len(part.nodes)
    places = column + column
    group = list(part.group) * 2
    columns: list[list[tuple[float, int]]] = [[] for _ in range(max(column) + 1)]
    for node, at in enumerate(column):
        columns[at].append((rank[node], node))
    chains: list[list[int] | None] = [None] * len(part.ties)
    budget = 400 + 2 * count
    for tie in sorted(
        range(len(part.ties)), key=lambda tie: abs(column[part.ties[tie].source] - column[part.ties[tie].target])
    ):
        _, source, target, _ = part.ties[tie]
        first, last = (target, source) if backward[tie] else (source, target)
        bends = column[last] - column[first] - 1
        budget -= max(bends, 0)
        if source == target or budget < 0:
            continue
        inside = _inside(part, source, target) if bends else 0
        chain = [first + count if backward[tie] else first]
        for at in range(column[first] + 1, column[last]):
            columns[at].append((rank[first] + 0.5, len(places)))
            chain.append(len(places))
            places.append(at)
            group.append(inside)
        chain.append(last + count if backward[tie] else last)
        chains[tie] = chain
    segments: list[list[tuple[int, int]]] = [[] for _ in columns[1:]]
    for chain_ in chains:
        if chain_:
            for at, pair in enumerate(pairwise(chain_), places[chain_[0]]):
                segments[at].append(pair)
    ordered = [[item for _, item in sorted(entries)] for entries in columns]
    return Weave(count, ordered, segments, places, group, any(part.group)), chains


def _inside(part: Part, source: int, target: int) -> int:
    """The fan-out whose body a tie runs in, its way in and out included."""
    if part.group[source] == part.group[target]:
        return part.group[source]
    if part.group[target] == part.numbers[source] + 1:
        return part.group[target]
    if part.group[source] and part.numbers[target] in part.closing.get(part.group[source] - 1, ()):
        return part.group[source]
    return 0


def _lanes(
    part: Part, chains: Sequence[list[int] | None], *, backward: Sequence[bool]
) -> tuple[dict[int, tuple[int, int]], list[int]]:
    """The lanes of loops under their nodes, short loops nearest: by tie below either end, and how many by node."""
    below = [0] * len(part.nodes)
    lanes: dict[int, tuple[int, int]] = {}

    def take(node: int) -> int:
        below[node] += 1
        return BADGE + LANE * below[node]

    loops = [tie for tie, (_, s, t, _) in enumerate(part.ties) if s == t or (backward[tie] and chains[tie])]
    for tie in sorted(loops, key=lambda tie: len(chains[tie] or ())):
        _, source, target, _ = part.ties[tie]
        depth = take(source)
        lanes[tie] = (depth, depth if source == target else take(target))
    return lanes, below


def _ports(
    part: Part, chains: Sequence[list[int] | None], *, backward: Sequence[bool], weave: Weave
) -> list[tuple[Port, ...]]:
    """The ports of every node, sorted by where their links lead."""
    ahead: dict[tuple[int, str], list[float]] = {}
    back: set[tuple[int, str]] = set()
    used: list[list[str]] = [[] for _ in part.nodes]
    for tie, (_, source, _, outlet) in enumerate(part.ties):
        chain = chains[tie]
        used[source].append(outlet)
        if chain and not backward[tie]:
            ahead.setdefault((source, outlet), []).append(weave.pos[chain[1]])
        else:
            back.add((source, outlet))
    rows = []
    for number, node in enumerate(part.nodes):
        exits = []
        for outlet in dict.fromkeys((*node.outlets, *used[number])):
            places = ahead.get((number, outlet))
            mean = sum(places) / len(places) if places else None
            exits.append(Exit(outlet, mean, (number, outlet) in back, outlet in node.outlets))
        rows.append(spread(exits))
    return rows


def _apart(column: Sequence[int], weave: Weave) -> list[int]:
    """The room kept above each item of a column beside what it spans itself."""
    nodes, group = weave.nodes, weave.group
    room = [0]
    for upper, lower in pairwise(column):
        free = 16 if upper < nodes or lower < nodes else STEP
        if group[upper] != group[lower]:
            free = 10 + (REGION_BOTTOM if group[upper] else 0) + (REGION_TOP if group[lower] else 0)
        room.append(free)
    return room


def _columns(made: Plan, gaps: Sequence[Sequence[Segment]]) -> None:
    """Gives every column its left side and its width, and every channel room for what bends in it."""
    part, weave, height = made.part, made.weave, made.height
    at = 0
    for index, column in enumerate(weave.columns):
        nodes = [item for item in column if item < weave.nodes]
        loops = max([made.below[node] for node in nodes], default=0)
        at += BESIDE * loops + 10 if loops else 0
        wide = max([part.cards[node].width for node in nodes], default=0)
        made.left.append(at)
        made.wide.append(wide)
        at += wide + max([made.reach[node] for node in nodes], default=0)
        at += BESIDE * loops + 10 if loops else 0
        made.right.append(at)
        if index < len(gaps):
            steep = max(
                [abs(height[a] + leaves - height[b] - arrives) for a, leaves, b, arrives, _ in gaps[index]], default=0
            )
            at += _CHANNEL + min(120, steep * 3 // 20) + (14 if weave.grouped else 0)
    made.width = at


def _bounds(made: Plan) -> None:
    """Finds the highest and the lowest line, and stacks what goes around everything below."""
    group = made.weave.group
    tops, bottoms = [], []
    for column in made.weave.columns:
        for item in (column[0], column[-1]):
            up, down = made.spans[item]
            tops.append(made.height[item] - up - (REGION_TOP if group[item] else 0))
            bottoms.append(made.height[item] + down + (REGION_BOTTOM if group[item] else 0))
    made.top, made.bottom = min(tops), max(bottoms)
    if made.around:
        ways = []
        for tie in made.around:
            _, source, target, _ = made.part.ties[tie]
            ends = made.weave.column[source], made.weave.column[target] - 1
            ways.append((min(ends), max(ends), tie))
        free: list[tuple[int, int]] = []
        for first, last, tie in sorted(ways):
            lane = len(free)
            if free and free[0][0] < first:
                _, lane = heapreplace(free, (last, free[0][1]))
            else:
                heappush(free, (last, lane))
            made.around[tie] = made.bottom + 12 + 6 * lane
        made.bottom += 12 + 6 * len(free)
