"""The regions of a graph: the root, the body of each forEach, and the cycles in them (semantics 1.14).

Total for every graph, also a faulty one, and without recursion. What is a fault is `admission`'s to say. Edges that
name an absent node or leave an undeclared outlet lead nowhere here.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from orchestrator.core.graph import Graph, Node, NodeKind, Outlet

#: The edges of a region: where each node leads.
Steps: TypeAlias = Mapping[str, Sequence[str]]

#: Bodies may share nodes, so a graph can be small and its bodies together be huge; no sensible graph comes near.
MAX_IN_BODIES: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class Regions:
    """Which nodes run in which kind of branch."""

    #: What the trigger reaches, where a forEach leads straight to its join.
    root: frozenset[str]
    #: By forEach and join that stands in a body: the first forEach whose body that is.
    holder: Mapping[str, str]
    #: The nodes on a cycle of the region they stand in. What neither the trigger nor a forEach reaches is a region too.
    cyclic: frozenset[str]
    #: The bodies together hold more than `MAX_IN_BODIES` nodes: those left over were not looked into.
    too_many: bool = False


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
    ways = _Ways.of(graph)
    root = _reach(ways.triggers, ways.across)
    on_some_cycle = frozenset(_on_cycles(graph.node, ways.plain))
    holder: dict[str, str] = {}
    cyclic = set(_on_cycles(root, ways.across))
    strays = set(graph.node).difference(root)
    in_bodies = 0
    for fan in ways.joins:
        body = ways.body(fan)
        in_bodies += len(body)
        if in_bodies > MAX_IN_BODIES:
            break
        strays -= body
        for inside in ways.marked & body:
            holder.setdefault(inside, fan)
        cyclic.update(_on_cycles(body & on_some_cycle, ways.plain))
    cyclic.update(_on_cycles(strays, ways.across))
    return Regions(root, holder, frozenset(cyclic), in_bodies > MAX_IN_BODIES)


def body_of(graph: Graph, for_each: str) -> frozenset[str]:
    """What the `each` edges of a forEach reach without passing its join; nothing unless it has exactly one."""
    ways = _Ways.of(graph)
    return ways.body(for_each) if for_each in ways.joins else frozenset()


@dataclass(frozen=True, slots=True)
class _Ways:
    """The edges of a graph that lead somewhere, seen in three ways."""

    #: The join of each forEach that has exactly one.
    joins: Mapping[str, str]
    #: Every edge.
    plain: Steps
    #: Every edge, but one step to the join for all `each` edges of a forEach.
    across: Steps
    #: Only `each` edges of a forEach.
    into: Steps
    triggers: tuple[str, ...]
    #: All forEachs and joins.
    marked: frozenset[str]

    @classmethod
    def of(cls, graph: Graph) -> _Ways:
        """The ways of a graph."""
        named = joins_of(graph)
        fans = [node.id for node in graph.node.values() if node.kind is NodeKind.FOR_EACH]
        joins = {fan: named[fan][0].id for fan in fans if len(named.get(fan, ())) == 1}
        plain: dict[str, list[str]] = {}
        across: dict[str, list[str]] = {fan: [join] for fan, join in joins.items()}
        into: dict[str, list[str]] = {fan: [] for fan in fans}
        for edge in graph.edges:
            source = graph.node.get(edge.source)
            if source is not None and edge.target in graph.node and edge.outlet in source.outlets:
                plain.setdefault(edge.source, []).append(edge.target)
                into_branches = edge.outlet == Outlet.EACH and edge.source in into
                (into if into_branches else across).setdefault(edge.source, []).append(edge.target)
        triggers = tuple(node.id for node in graph.nodes if node.kind is NodeKind.TRIGGER)
        marked = (node.id for node in graph.node.values() if node.kind in (NodeKind.FOR_EACH, NodeKind.JOIN))
        return cls(joins, plain, across, into, triggers, frozenset(marked))

    def body(self, fan: str) -> frozenset[str]:
        """The body of a forEach with one join."""
        return _reach(self.into[fan], self.plain, barrier=self.joins[fan])


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
