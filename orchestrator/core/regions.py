"""The regions of a graph: the root, the body of each forEach, and the cycles in them (semantics 1.14).

Total for every graph, also a faulty one, and without recursion. What is a fault is `admission`'s to say. Edges that
name an absent node or leave an undeclared outlet lead nowhere here.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from orchestrator.core.graph import Graph, Node, NodeKind, Outlet

#: The edges of a region: where each node leads.
Steps: TypeAlias = Mapping[str, Sequence[str]]


@dataclass(frozen=True, slots=True)
class Regions:
    """Which nodes run in which kind of branch."""

    #: What the trigger reaches, where a forEach leads straight to its join.
    root: frozenset[str]
    #: By forEach with exactly one join: what its `each` edges reach without passing that join.
    bodies: Mapping[str, frozenset[str]]
    #: The nodes on a cycle of the region they stand in. What neither the trigger nor a forEach reaches is a region too.
    cyclic: frozenset[str]


def joins_of(graph: Graph) -> dict[str, tuple[Node, ...]]:
    """The joins that name each forEach, by its id, whatever else is wrong with their configuration."""
    found: dict[str, list[Node]] = {}
    for node in graph.nodes:
        if node.kind is NodeKind.JOIN and (gathered := _gathered(node)) is not None:
            found.setdefault(gathered, []).append(node)
    return {key: tuple(value) for key, value in found.items()}


def _gathered(join: Node) -> str | None:
    try:
        configuration = json.loads(join.configuration)
    except ValueError:
        return None
    named = configuration.get("forEach") if isinstance(configuration, dict) else None
    return named if isinstance(named, str) else None


def regions_of(graph: Graph) -> Regions:
    """The regions of a graph, in time linear in the sum of their sizes."""
    joins = {key: value[0].id for key, value in joins_of(graph).items() if len(value) == 1}
    fans = [node.id for node in graph.node.values() if node.kind is NodeKind.FOR_EACH]
    plain, across, into = _steps(graph, joins, frozenset(fans))
    triggers = [node.id for node in graph.nodes if node.kind is NodeKind.TRIGGER]
    root = _reach(triggers, across)
    bodies = {fan: _reach(into.get(fan, ()), plain, barrier=joins[fan]) for fan in fans if fan in joins}
    strays = set(graph.node).difference(root, *bodies.values())
    cyclic = set(_on_cycles(root, across))
    cyclic.update(_on_cycles(strays, across))
    for body in bodies.values():
        cyclic.update(_on_cycles(body, plain))
    return Regions(root, bodies, frozenset(cyclic))


def _steps(graph: Graph, joins: Mapping[str, str], fans: frozenset[str]) -> tuple[Steps, Steps, Steps]:
    """Every edge; every edge but with one step from a forEach to its join for its `each` edges; only `each` edges."""
    plain: dict[str, list[str]] = {}
    across: dict[str, list[str]] = {fan: [join] for fan, join in joins.items() if fan in fans}
    into: dict[str, list[str]] = {}
    for edge in graph.edges:
        source = graph.node.get(edge.source)
        if source is None or edge.target not in graph.node or edge.outlet not in source.outlets:
            continue
        plain.setdefault(edge.source, []).append(edge.target)
        into_branches = edge.outlet == Outlet.EACH and edge.source in fans
        (into if into_branches else across).setdefault(edge.source, []).append(edge.target)
    return plain, across, into


def _reach(starts: Iterable[str], steps: Steps, barrier: str | None = None) -> frozenset[str]:
    found: set[str] = set()
    ahead = [start for start in starts if start != barrier]
    while ahead:
        node = ahead.pop()
        if node not in found:
            found.add(node)
            ahead.extend(target for target in steps.get(node, ()) if target != barrier)
    return frozenset(found)


def _on_cycles(region: Iterable[str], steps: Steps) -> Iterator[str]:
    """The nodes of a region that lie on a cycle inside it: strongly connected components, after Tarjan."""
    inside = frozenset(region)
    order: dict[str, int] = {}
    low: dict[str, int] = {}
    open_nodes: list[str] = []
    is_open: set[str] = set()
    for start in inside:
        if start in order:
            continue
        order[start] = low[start] = len(order)
        open_nodes.append(start)
        is_open.add(start)
        path = [(start, iter(steps.get(start, ())))]
        while path:
            node, ahead = path[-1]
            for target in ahead:
                if target not in inside:
                    continue
                if target not in order:
                    order[target] = low[target] = len(order)
                    open_nodes.append(target)
                    is_open.add(target)
                    path.append((target, iter(steps.get(target, ()))))
                    break
                if target in is_open:
                    low[node] = min(low[node], order[target])
            else:
                path.pop()
                if path:
                    above = path[-1][0]
                    low[above] = min(low[above], low[node])
                if low[node] == order[node]:
                    yield from _component(node, open_nodes, is_open, steps)


def _component(first: str, open_nodes: list[str], is_open: set[str], steps: Steps) -> tuple[str, ...]:
    """Closes the component that began with `first`; empty when it is one node that does not lead to itself."""
    at = len(open_nodes) - 1
    while open_nodes[at] != first:
        at -= 1
    members = tuple(open_nodes[at:])
    del open_nodes[at:]
    is_open.difference_update(members)
    return members if len(members) > 1 or first in steps.get(first, ()) else ()
