"""Graphs to draw: a few that people would write, and a strategy for any at all, admitted or not."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

from hypothesis import strategies as st

from orchestrator.core.graph import Capability, Definition, Edge, Graph, Node, NodeKind
from orchestrator.drawing.overlay import NodeOverlay, Overlay
from orchestrator.drawing.palette import STATUSES


def node(id: str, kind: str, outlets: str = "next", /, **configuration: Any) -> Node:
    """A node; those that are performed get a capability of their own."""
    capability = Capability(f"test.{id}", 1) if kind in {"action", "decision"} else None
    return Node(id, NodeKind(kind), tuple(outlets.split()), capability, json.dumps(configuration))


def graph(nodes: Sequence[Node], *edges: str) -> Graph:
    """A graph of these nodes; an edge is written ``from.outlet>to``."""
    return Graph(tuple(nodes), tuple(edge(text) for text in edges))


def edge(text: str) -> Edge:
    """An edge, written ``from.outlet>to``."""
    way, target = text.split(">")
    source, outlet = way.split(".")
    return Edge(source, outlet, target)


def definition(of: Graph, workflow: str = "orders.fulfil") -> Definition:
    """A definition of this graph."""
    return Definition(workflow, 1, "orders", "order", of)


def chain(length: int) -> Graph:
    """Actions one after the other."""
    nodes = tuple(node(f"a{number}", "action") for number in range(length))
    return Graph(nodes, tuple(Edge(f"a{n}", "next", f"a{n + 1}") for n in range(length - 1)))


FLAGSHIP: Final = graph(
    (
        node("start", "trigger"),
        node("load-lines", "action"),
        node("per-line", "forEach", "each", itemsFrom="load-lines", itemsProperty="lines", maxParallelism=4),
        node("ship-line", "action", "next failed"),
        node("all-shipped", "join", "completed partial", forEach="per-line"),
        node("confirm", "action"),
        node("pick-up", "wait", "elapsed", kind="timer", after="00:00:05"),
        node("review", "approval", "approved rejected expired", expiresAfter="2.00:00:00"),
    ),
    "start.next>load-lines",
    "load-lines.next>per-line",
    "per-line.each>ship-line",
    "ship-line.next>all-shipped",
    "all-shipped.completed>confirm",
    "confirm.next>pick-up",
    "all-shipped.partial>review",
)

RETRYING: Final = graph(
    (
        node("start", "trigger"),
        node("book", "action"),
        node("judge", "decision", "yes no"),
        node("cool-down", "wait", "elapsed", kind="timer", after="00:05:00"),
        node("poll", "action", "next again"),
    ),
    "start.next>book",
    "book.next>judge",
    "judge.no>cool-down",
    "cool-down.elapsed>book",
    "judge.yes>poll",
    "poll.again>poll",
)

WAYS: Final = ("card", "invoice", "transfer", "crypto", "voucher")

#: A decision with five outlets whose ways meet again, named in another order than they are connected.
PAYING: Final = graph(
    (
        node("start", "trigger"),
        node("pay", "decision", " ".join(reversed(WAYS))),
        *(node(way, "action") for way in WAYS),
        node("settle", "action"),
    ),
    "start.next>pay",
    *(f"pay.{way}>{way}" for way in WAYS),
    *(f"{way}.next>settle" for way in WAYS),
)

PEOPLES: Final = (FLAGSHIP, RETRYING, PAYING)


# --- any graph at all -------------------------------------------------------------------------------------------------

#: Text that is awkward in XML, in Mermaid, in Markdown or on a screen.
odd_text = st.one_of(
    st.text(max_size=40),
    st.text(st.sampled_from("\"'`<>[](){}|\\#;&%*_~$:@-.\n\r\t\x00\x1b\u202e\ufffe\ud800🙂漢é1 "), max_size=20),
    st.sampled_from(
        ("]]>", "<!--", "-->", "&amp;", "#quot;", "end", "1. one", "www.a.b", "$$x$$", "fa:fa-car", "a" * 300)
    ),
)

_ids = st.one_of(st.sampled_from([f"n{number}" for number in range(12)]), odd_text)
_outlets = st.one_of(st.sampled_from(("next", "failed", "each", "completed", "partial", "yes", "no")), odd_text)
_configurations = st.one_of(
    st.just("{}"),
    st.sampled_from(("[]", "null", "{", '{"kind":"timer","after":"00:00:05"}', '{"after":5,"signal":{"id":1}}')),
    st.builds(lambda fan: json.dumps({"forEach": fan, "mode": "atLeast", "threshold": 2}), _ids),
    st.builds(lambda source: json.dumps({"itemsFrom": source, "itemsProperty": source, "maxParallelism": 3}), odd_text),
)
_nodes = st.builds(
    Node,
    id=_ids,
    kind=st.sampled_from(NodeKind),
    outlets=st.lists(_outlets, max_size=5).map(tuple),
    capability=st.none() | st.builds(Capability, odd_text, st.integers(0, 99)),
    configuration=_configurations,
)


@st.composite
def any_graph(draw: st.DrawFn) -> Graph:
    """Any graph: several triggers, none, doubled ids, edges from and to nowhere, loops, fan-outs in each other."""
    nodes = draw(st.lists(_nodes, max_size=14))
    ids = st.sampled_from([each.id for each in nodes]) | _ids if nodes else _ids
    edges = draw(st.lists(st.builds(Edge, ids, _outlets, ids), max_size=30))
    return Graph(tuple(nodes), tuple(edges))


@st.composite
def any_overlay(draw: st.DrawFn, of: Graph) -> Overlay | None:
    """Any overlay for a graph, or none."""
    status = st.sampled_from(tuple(STATUSES)) | odd_text
    counts = st.integers(0, 10_000)
    shown = st.builds(NodeOverlay, status, counts, counts, st.dictionaries(status, counts, max_size=8))
    ids = st.sampled_from([each.id for each in of.nodes]) | _ids if of.nodes else _ids
    taken = draw(st.sets(st.sampled_from(of.edges), max_size=10)) if of.edges else set[Edge]()
    return draw(st.none() | st.builds(Overlay, st.dictionaries(ids, shown, max_size=8), st.just(frozenset(taken))))


def connected(of: Graph) -> dict[int, Edge]:
    """The edges between nodes that exist, by their number."""
    ids = {each.id for each in of.nodes}
    return {number: each for number, each in enumerate(of.edges) if each.source in ids and each.target in ids}


@st.composite
def fanned_graph(draw: st.DrawFn) -> Graph:
    """Two fan-outs beside each other and a way past both, each with ways that part, meet, end and loop."""
    nodes = [node("start", "trigger"), node("load", "action")]
    edges = ["start.next>load"]
    for fan, letter, size in (("fan1", "b", draw(st.integers(1, 6))), ("fan2", "c", draw(st.integers(0, 5)))):
        join = f"join-{fan}"
        nodes += [node(fan, "forEach", "each"), node(join, "join", "completed partial", forEach=fan)]
        nodes += [node(f"{letter}{number}", "action", "next failed") for number in range(size)]
        edges += [f"load.next>{fan}", f"{fan}.each>{letter}0" if size else f"{fan}.each>{join}"]
        for number in range(size):
            earlier = draw(st.integers(0, max(number - 1, 0)))
            edges.append(f"{letter}{earlier}.{draw(st.sampled_from(('next', 'failed')))}>{letter}{number}")
            if draw(st.booleans()):
                edges.append(f"{letter}{number}.next>{join}")
    size = draw(st.integers(1, 6))
    nodes += [node(f"r{number}", "action", "next failed") for number in range(size)]
    edges.append("load.next>r0")
    edges += [f"r{draw(st.integers(0, number - 1))}.next>r{number}" for number in range(1, size)]
    edges += [f"join-fan{fan}.completed>r{draw(st.integers(0, size - 1))}" for fan in (1, 2)]
    return graph(nodes, *edges)
