"""The fluent builder writes the same document that a hand would."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator import graph
from orchestrator.core.document import definition_from, document_of
from orchestrator.core.yaml_text import parse_yaml
from orchestrator.errors import BadData, Refused, Rejected
from orchestrator.reference import EXAMPLE
from tests.definitions import START, action, document, node


def empty() -> graph.Workflow:
    return graph.workflow("test", version=1, area="tests")


def test_the_documented_example_is_the_same_in_python() -> None:
    order = graph.workflow(
        "orders.fulfil", version=1, area="orders", subject_kind="order", capabilities={"orders.load-lines": 1}
    )
    start = order.trigger("start")
    load = order.action(
        "load-lines",
        "orders.load-lines@1",
        max_attempts=3,
        attempt_timeout=timedelta(minutes=1),
        retry_delay=timedelta(seconds=10),
    )
    lines = order.for_each("per-line", items=load["lines"], max_parallelism=4)
    ship = order.action("ship-line", "orders.ship-line@1")
    shipped = order.join("all-shipped", of=lines)
    review = order.approval("review", expires_after=timedelta(days=2))
    start >> load >> lines >> ship >> shipped
    shipped.on("partial", review)
    assert definition_from(parse_yaml(EXAMPLE)) == order.definition()


def test_what_the_builder_gives_is_the_canonical_document() -> None:
    made = empty()
    made.trigger("start").next(made.action("a", "x@1"))
    expected = document(START, action("a", capability="x@1"), edges=("start.next>a",))
    assert expected == made.document()


def test_each_kind_goes_on_through_its_own_outlet() -> None:
    made = empty()
    start, end = made.trigger("start"), made.action("end", "x@1", max_visits=9)
    fan = made.for_each("fan", items=start["lines"])
    for each in (
        start,
        made.action("act", "x@1"),
        made.wait_timer("sleep", after=timedelta(hours=1)),
        made.wait_signal("hear", signal="paid@1"),
        made.approval("ask"),
        fan,
        made.join("gather", of=fan),
    ):
        each >> end
    assert ["next", "next", "elapsed", "resumed", "approved", "each", "completed"] == [
        edge["outlet"] for edge in made.document()["graph"]["edges"]
    ]


def test_nodes_declare_what_the_engine_may_choose() -> None:
    made = empty()
    made.trigger("start")
    made.wait_signal("hear")
    made.wait_signal("hear-a-while", expires_after=timedelta(hours=1))
    made.approval("ask")
    made.approval("ask-a-while", expires_after=timedelta(hours=1))
    made.decision("choose", "x@1", outlets=("yes", "no"))
    assert {
        "start": ["next"],
        "hear": ["resumed", "cancelled"],
        "hear-a-while": ["resumed", "cancelled", "expired"],
        "ask": ["approved", "rejected"],
        "ask-a-while": ["approved", "rejected", "expired"],
        "choose": ["yes", "no"],
    } == {each["id"]: each["outlets"] for each in made.document()["graph"]["nodes"]}


def test_connecting_an_outlet_declares_it_once() -> None:
    made = empty()
    work, mend = made.action("work", "x@1"), made.action("mend", "y@1")
    work.on("failed", mend).on("next", mend).on("fallback")
    assert ["next", "failed", "fallback"] == made.document()["graph"]["nodes"][0]["outlets"]


def test_several_targets_run_side_by_side() -> None:
    made = empty()
    start, a, b = made.trigger("start"), made.action("a", "x@1"), made.action("b", "x@1")
    start.next(a, b)
    assert ("a", "b") == made.definition().graph.targets("start", "next")


def test_the_configuration_of_an_action_is_handed_on() -> None:
    made = empty()
    configuration = {"url": "https://example.org", "expires_after": 1}
    made.action("a", "x@1", configuration=configuration)
    expected = node("a", "action", "next", capability="x@1", configuration=configuration)
    assert [expected] == made.document()["graph"]["nodes"]


def test_a_decision_has_no_way_that_simply_goes_on() -> None:
    made = empty()
    choose = made.decision("choose", "x@1")
    with pytest.raises(Refused, match="say through which it leaves"):
        choose.next(made.action("a", "x@1"))


def test_an_id_is_given_once() -> None:
    made = empty()
    made.trigger("start")
    with pytest.raises(Refused, match="has a node 'start' already"):
        made.trigger("start")


def test_nodes_of_two_workflows_are_not_connected() -> None:
    made, other = empty(), empty()
    with pytest.raises(Refused, match="belongs to another workflow"):
        made.trigger("start").next(other.action("a", "x@1"))


@pytest.mark.parametrize("capability", ("x", "x@", "@1", "x@one", "x@1.0", "x@-1", ""))
def test_a_capability_names_its_version(capability: str) -> None:
    with pytest.raises(Refused, match="name@version"):
        empty().action("a", capability)


def test_a_configuration_that_is_no_json_is_refused_where_it_is_written() -> None:
    with pytest.raises(BadData, match=r"\$\.x"):
        empty().action("a", "x@1", configuration={"x": object()})


def test_what_makes_no_sense_as_a_whole_is_rejected_with_every_reason() -> None:
    made = empty()
    load = made.action("load", "x@0", max_attempts=0)
    made.for_each("fan", items=load["lines"])
    made.wait_timer("sleep", after=timedelta(seconds=-1))
    with pytest.raises(Rejected) as caught:
        made.definition()
    assert {
        ("NoTrigger", "graph.nodes"),
        ("InvalidConfiguration", "graph.nodes[0].capability"),
        ("InvalidConfiguration", "graph.nodes[0].policy.maxAttempts"),
        ("ForEachWithoutSingleJoin", "graph.nodes[1]"),
        ("InvalidConfiguration", "graph.nodes[2].configuration.after"),
    } == {(reason.kind, reason.where) for reason in caught.value.reasons}


DURATIONS = st.timedeltas(timedelta(microseconds=1), timedelta(days=1_000))
NAMES = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=4)


@st.composite
def workflows(draw: st.DrawFn) -> graph.Workflow:
    """Chains of any engine nodes and actions, with a fan-out now and then."""
    subject_kind = draw(st.none() | NAMES)
    made = graph.workflow(draw(NAMES), version=draw(st.integers(1, 99)), area=draw(NAMES), subject_kind=subject_kind)
    start = last = made.trigger("start")
    for number in range(draw(st.integers(0, 6))):
        id = f"{number}{draw(NAMES)}"
        add: Any = draw(st.sampled_from(("action", "decision", "timer", "signal", "approval", "fan")))
        match add:
            case "action":
                node = made.action(
                    id,
                    f"{draw(NAMES)}@{draw(st.integers(1, 9))}",
                    outlets=draw(st.sampled_from(((), ("next",), ("failed", "next")))),
                    configuration=draw(st.dictionaries(NAMES, NAMES, max_size=2)),
                    max_attempts=draw(st.integers(1, 3)),
                    attempt_timeout=draw(DURATIONS),
                    retry_delay=draw(DURATIONS),
                )
            case "decision":
                node = made.decision(id, "choose@1", outlets=("yes", "no"), max_visits=draw(st.integers(1, 3)))
            case "timer":
                node = made.wait_timer(id, after=draw(DURATIONS))
            case "signal":
                contract = draw(st.none() | st.just("paid@1"))
                node = made.wait_signal(id, signal=contract, expires_after=draw(st.none() | DURATIONS))
            case "approval":
                node = made.approval(id, expires_after=draw(st.none() | DURATIONS))
            case _:
                fan = made.for_each(id, items=start["lines"], max_parallelism=draw(st.integers(-1, 4)))
                node = made.join(f"{id}!", of=fan, mode="atLeast", threshold=draw(st.integers(1, 3)))
                last.on("on", fan)
                fan >> node
                last = node
                continue
        last.on("on", node)
        last = node
    return made


@given(workflows())
def test_the_document_the_definition_and_the_document_again_are_one_thing(made: graph.Workflow) -> None:
    written = made.document()
    assert written == document_of(definition_from(written))
    assert made.definition() == definition_from(written)
