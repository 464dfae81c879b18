"""Which nodes are the body of a fan-out: what its ``each`` edges reach without passing its joins (semantics 1.14).

Found for any graph, admitted or not: one forEach may be named by several joins, and where bodies overlap a node belongs
to the widest, so that one shade can be drawn.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from orchestrator.core.graph import Graph, NodeKind, Outlet
from orchestrator.drawing.cards import settings
from orchestrator.drawing.layers import Link


@dataclass(frozen=True, slots=True)
class Bodies:
    """The fan-outs of a graph; nodes are numbers."""

    #: By node the fan-out it is in: the number of its forEach plus one, or 0.
    member: Sequence[int]
    #: By forEach the joins that name it.
    closing: Mapping[int, frozenset[int]] = field(default_factory=dict)
    #: From each forEach and each end of its body to its join: no edges, but the join comes after them.
    order: Sequence[Link] = ()


def bodies(graph: Graph, links: Sequence[Link], outlets: Sequence[str]) -> Bodies:
    """The bodies of all fan-outs of a graph; `outlets` says through which outlet each link leaves."""
    nodes = graph.nodes
    number = {node.id: index for index, node in reversed(list(enumerate(nodes)))}
    closing: dict[int, set[int]] = {}
    for index, node in enumerate(nodes):
        if node.kind is NodeKind.JOIN:
            gathered = settings(node).get("forEach")
            if isinstance(gathered, str) and gathered in number and nodes[number[gathered]].kind is NodeKind.FOR_EACH:
                closing.setdefault(number[gathered], set()).add(index)
    member = [0] * len(nodes)
    if not closing:
        return Bodies(member)
    leaving: list[list[tuple[int, str]]] = [[] for _ in nodes]
    for (source, target), outlet in zip(links, outlets, strict=True):
        if outlet in nodes[source].outlets:
            leaving[source].append((target, outlet))
    found: list[tuple[int, int, list[int]]] = []
    order: list[Link] = []
    # Bodies of an admitted graph do not overlap, so together they are no larger than the graph.
    left = 8 * (len(nodes) + len(links))
    for fan, joins in sorted(closing.items()):
        seen = {fan, *joins}
        reached = [target for target, outlet in leaving[fan] if outlet == Outlet.EACH]
        body: list[int] = []
        while reached and left > 0:
            node_ = reached.pop()
            if node_ in seen:
                continue
            seen.add(node_)
            body.append(node_)
            left -= 1 + len(leaving[node_])
            reached += [target for target, _ in leaving[node_]]
        found.append((-len(body), fan, body))
        join = min(joins)
        order += [(end, join) for end in (fan, *(end for end in sorted(body) if not leaving[end])) if end != join]
    for _, fan, body in sorted(found):
        for node_ in body:
            member[node_] = member[node_] or fan + 1
    return Bodies(member, {fan: frozenset(joins) for fan, joins in closing.items()}, order)
