"""The pieces of links between neighbouring columns, ranked by how much they deserve to be straight.

What can be straight at the same time is decided by `placing`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from orchestrator.core.graph import Node
from orchestrator.drawing.ordering import Weave
from orchestrator.drawing.parts import Part
from orchestrator.drawing.placing import Segment
from orchestrator.drawing.ports import TROUBLE, Port


def segments(
    part: Part,
    chains: Sequence[list[int] | None],
    *,
    backward: Sequence[bool],
    lanes: Mapping[int, tuple[int, int]],
    ports: Sequence[tuple[Port, ...]],
    weave: Weave,
) -> list[list[Segment]]:
    """The pieces of all chains by gap; what deserves most to be straight has the smallest rank."""
    count, pos = weave.nodes, weave.pos
    offset = [{port.outlet: port.offset for port in row} for row in ports]
    leaving: list[list[float]] = [[] for _ in range(count)]
    arriving: list[list[float]] = [[] for _ in range(count)]
    for tie, chain in enumerate(chains):
        if chain and not backward[tie]:
            leaving[chain[0]].append(pos[chain[1]])
            arriving[chain[-1]].append(pos[chain[-2]])
    for places in (*leaving, *arriving):
        places.sort()
    gaps: list[list[Segment]] = [[] for _ in weave.segments]
    for tie, chain in enumerate(chains):
        if not chain:
            continue
        _, source, target, outlet = part.ties[tie]
        gap = weave.column[chain[0]]
        last = len(chain) - 2
        for index, (a, b) in enumerate(pairwise(chain)):
            leaves = arrives = 0
            if backward[tie]:
                rank = 9.0 if index in (0, last) else 0.0
                leaves = lanes[tie][1] if not index else 0
                arrives = lanes[tie][0] if index == last else 0
            elif 0 < index < last:
                rank = 0.0
            else:
                rank = 1.0 + 0.3 * last
                if not index:
                    leaves = offset[source][outlet]
                    rank += abs(leaving[source].index(pos[b]) - (len(leaving[source]) - 1) / 2) + _reluctance(
                        part.nodes[source], outlet
                    )
                if index == last:
                    rank += abs(arriving[target].index(pos[a]) - (len(arriving[target]) - 1) / 2)
            gaps[gap + index].append(Segment(weave.owner(a), leaves, weave.owner(b), arrives, rank))
    return gaps


def _reluctance(node: Node, outlet: str) -> float:
    """How gladly the way through an outlet bends aside: the first outlet is the main road, trouble is not."""
    return (0.7 if outlet in TROUBLE else 0.0) - (0.6 if node.outlets[:1] == (outlet,) else 0.0)
