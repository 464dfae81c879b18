"""Which nodes are in which fan-out, of sound graphs and of others."""

from __future__ import annotations

from hypothesis import given

from orchestrator.core.graph import Graph
from orchestrator.core.regions import body_of
from orchestrator.drawing.bodies import Bodies, bodies
from tests.drawing.graphs import FLAGSHIP, any_graph, connected, graph, node


def of(given: Graph) -> Bodies:
    """The bodies of a graph."""
    number = {each.id: index for index, each in reversed(list(enumerate(given.nodes)))}
    edges = connected(given).values()
    return bodies(given, [(number[e.source], number[e.target]) for e in edges], [e.outlet for e in edges])


def members(given: Graph) -> dict[str, str]:
    """By id of a node in a body: the forEach."""
    return {given.nodes[index].id: given.nodes[fan - 1].id for index, fan in enumerate(of(given).member) if fan}


def test_a_body_is_what_lies_between_a_fan_out_and_its_join() -> None:
    assert {"ship-line": "per-line"} == members(FLAGSHIP)


def test_a_fan_out_without_a_join_has_no_body() -> None:
    assert {} == members(graph([node("fan", "forEach", "each"), node("a", "action")], "fan.each>a"))


def test_of_bodies_in_each_other_the_widest_has_the_nodes() -> None:
    given = graph(
        [
            node("outer", "forEach", "each"),
            node("inner", "forEach", "each"),
            node("a", "action"),
            node("end-inner", "join", "completed", forEach="inner"),
            node("end-outer", "join", "completed", forEach="outer"),
        ],
        "outer.each>inner",
        "inner.each>a",
        "a.next>end-inner",
        "end-inner.completed>end-outer",
    )
    assert dict.fromkeys(("inner", "a", "end-inner"), "outer") == members(given)


@given(any_graph())
def test_a_body_is_that_of_the_core_wherever_bodies_are_apart(given: Graph) -> None:
    found = members(given)
    for id, fan in found.items():
        if len(of(given).closing[[each.id for each in given.nodes].index(fan)]) == 1:
            assert id in body_of(given, fan)
