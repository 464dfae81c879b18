"""Root, bodies and cycles of a graph, sound or not."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.core.data import EMPTY
from orchestrator.core.document_shapes import Document
from orchestrator.core.graph import Edge, Graph, Node, NodeKind
from orchestrator.core.regions import body_of, joins_of, regions_of
from tests.definitions import START, action, document, fan_out, for_each, join, node


def graph_of(given: dict[str, Any]) -> Graph:
    """The graph of a document, judged by nobody."""
    return Document.model_validate(given).read(EMPTY).graph


def test_root_steps_over_a_fan_out_and_the_body_stays_inside() -> None:
    graph = graph_of(fan_out())
    assert {"start", "fan", "gather"} == regions_of(graph).root
    assert {"ship"} == body_of(graph, "fan")


def test_an_each_edge_straight_into_the_join_makes_an_empty_body() -> None:
    graph = graph_of(document(START, for_each(), join(), edges=("start.next>fan", "fan.each>gather")))
    assert frozenset() == body_of(graph, "fan")


def test_the_other_outlets_of_a_for_each_belong_to_root() -> None:
    graph = graph_of(
        document(
            START,
            for_each(outlets=("each", "failed")),
            action("mend"),
            join(),
            edges=("start.next>fan", "fan.failed>mend"),
        )
    )
    assert {"start", "fan", "gather", "mend"} == regions_of(graph).root
    assert frozenset() == body_of(graph, "fan")


@pytest.mark.parametrize("joins", ((), ("j1", "j2")))
def test_without_exactly_one_join_no_body_is_computed_and_each_leads_nowhere(joins: tuple[str, ...]) -> None:
    edges = ("start.next>fan", "fan.each>a", *(f"a.next>{each}" for each in joins))
    graph = graph_of(document(START, for_each(), action("a"), *(join(each) for each in joins), edges=edges))
    assert frozenset() == body_of(graph, "fan")
    assert {"start", "fan"} == regions_of(graph).root


def test_edges_from_undeclared_outlets_and_of_absent_nodes_lead_nowhere() -> None:
    graph = graph_of(
        document(START, action("a"), action("b"), edges=("start.then>a", "start.next>ghost", "ghost.next>b"))
    )
    assert {"start"} == regions_of(graph).root


def test_a_join_with_an_otherwise_broken_configuration_still_gathers() -> None:
    graph = graph_of(document(START, for_each(), join(configuration={"mode": "most"})))
    assert {"fan": ["gather"]} == {key: [each.id for each in value] for key, value in joins_of(graph).items()}


@pytest.mark.parametrize("configuration", ("", "[]", "{", '{"forEach":1}', '{"forEach":null}', "{}"))
def test_a_join_that_names_nothing_gathers_nothing(configuration: str) -> None:
    broken = Node("gather", NodeKind.JOIN, (), configuration=configuration)
    assert {} == joins_of(Graph((broken,), ()))


def test_a_cycle_is_sought_in_each_region_by_itself() -> None:
    graph = graph_of(
        document(
            START,
            action("a", "again"),
            for_each(),
            action("b", "again"),
            action("c"),
            join(),
            action("left"),
            edges=(
                "start.next>a",
                "a.again>a",
                "a.next>fan",
                "fan.each>b",
                "b.again>b",
                "b.next>c",
                "c.next>gather",
                "left.next>left",
            ),
        )
    )
    assert {"a", "b", "left"} == regions_of(graph).cyclic


def test_a_round_through_a_fan_out_is_a_cycle_of_root_alone() -> None:
    graph = graph_of(
        document(
            START,
            for_each(),
            action("b"),
            join(),
            edges=("start.next>fan", "fan.each>b", "b.next>gather", "gather.partial>fan"),
        )
    )
    assert {"fan", "gather"} == regions_of(graph).cyclic


def test_long_chains_and_rings_are_no_recursion() -> None:
    names = [f"n{number}" for number in range(20_000)]
    nodes = tuple(Node(name, NodeKind.ACTION, ("next",)) for name in names)
    chain = tuple(Edge(a, "next", b) for a, b in pairwise(names))
    assert frozenset() == regions_of(Graph(nodes, chain)).cyclic
    assert frozenset(names) == regions_of(Graph(nodes, (*chain, Edge(names[-1], "next", names[0])))).cyclic


NAMES = st.sampled_from("abcdefg")


@given(st.lists(st.tuples(NAMES, NAMES), max_size=20))
def test_a_node_is_cyclic_exactly_when_it_reaches_itself(pairs: list[tuple[str, str]]) -> None:
    nodes = tuple(Node(name, NodeKind.ACTION, ("next",)) for name in "abcdefg")
    graph = Graph(nodes, tuple(Edge(a, "next", b) for a, b in pairs))

    def reached(start: str) -> set[str]:
        found: set[str] = set()
        ahead = [b for a, b in pairs if a == start]
        while ahead:
            at = ahead.pop()
            if at not in found:
                found.add(at)
                ahead.extend(b for a, b in pairs if a == at)
        return found

    assert {name for name in "abcdefg" if name in reached(name)} == regions_of(graph).cyclic


def test_of_two_nodes_with_one_id_the_first_counts() -> None:
    graph = graph_of(document(START, action("a"), node("a", "approval", "approved"), edges=("start.next>a",)))
    assert {"start", "a"} == regions_of(graph).root


def test_what_stands_in_a_body_knows_whose() -> None:
    edges = ("start.next>fan", "fan.each>inner", "inner.each>a", "a.next>gather-inner", "gather-inner.completed>gather")
    nodes = (START, for_each(), for_each("inner"), action("a"), join("gather-inner", "inner"), join())
    regions = regions_of(graph_of(document(*nodes, edges=edges)))
    assert {"inner": "fan", "gather-inner": "fan"} == regions.holder
