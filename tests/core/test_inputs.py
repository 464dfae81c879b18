"""What a performer gets: the same shape everywhere, what its branch may see, and the same bytes for every attempt."""

from __future__ import annotations

from typing import Any

import pytest

from orchestrator.core.data import DataLimits, compact, size
from orchestrator.core.facts import (
    Trigger,
    WorkflowNodeAttemptFailed,
    WorkflowNodeFailed,
    WorkflowNodeInputPinned,
    WorkflowNodeOperationCompleted,
    WorkflowNodeScheduled,
)
from orchestrator.core.outcomes import Failed, FailureKind, Succeeded
from tests.core.graphs import chain, gathered, lines, signal_wait, single, tries
from tests.core.world import World
from tests.definitions import START, action, document, for_each, join, node, visits


@pytest.mark.behaviour("B28")
def test_an_input_has_the_trigger_the_nodes_the_failures_and_the_item() -> None:
    trigger = Trigger("stageHook", "order", "A-17", "case-9")
    world = World.start(single(action("a")), {"amount": 3}, trigger=trigger)
    assert {
        "trigger": {
            "payload": {"amount": 3},
            "subject": {"kind": "order", "id": "A-17"},
            "correlation": "case-9",
        },
        "nodes": {"start": {"amount": 3}},
        "failures": {},
        "item": None,
    } == world.input("a")


@pytest.mark.behaviour("B28")
def test_without_subject_and_correlation_both_are_null() -> None:
    world = World.start(single(action("a")), [1])
    assert {"payload": [1], "subject": None, "correlation": None} == world.input("a")["trigger"]


@pytest.mark.behaviour("B29")
def test_a_node_sees_the_output_of_the_one_before_it() -> None:
    world = World.start(chain(action("a"), action("b")))
    world.answer("a", {"n": 1})
    assert {"start": {}, "a": {"n": 1}} == world.input("b")["nodes"]


@pytest.mark.behaviour("B29")
def test_a_node_that_failed_is_absent_and_why_it_failed_is_told() -> None:
    world = World.start(single(action("a", "failed"), action("b"), edges=("a.failed>b",)))
    world.answer("a", Failed("no stock", "E7", retryable=False))
    seen = world.input("b")
    assert {"start": {}} == seen["nodes"]
    assert {"a": {"kind": "Error", "code": "E7", "reason": "no stock"}} == seen["failures"]


def test_a_failed_attempt_is_no_failure_that_others_see() -> None:
    world = World.start(
        document(
            START,
            action("a", policy=tries(2)),
            action("b"),
            action("c"),
            edges=("start.next>a", "start.next>b", "b.next>c"),
        )
    )
    world.answer("a", Failed("once"))
    world.answer("b")
    assert {} == world.input("c")["failures"]


def test_the_latest_failure_of_a_node_counts() -> None:
    given = single(
        action("a", "failed", policy=visits(2)),
        action("b", policy=visits(2)),
        edges=("a.failed>b", "b.next>a"),
    )
    world = World.start(given)
    world.answer("a", Failed("first", retryable=False))
    world.answer("b")
    world.answer("a", Failed("second", retryable=False))
    assert "second" == world.input("b", visit=2)["failures"]["a"]["reason"]


def test_a_branch_sees_the_failures_of_root_and_root_never_those_of_a_branch() -> None:
    given = gathered(
        action("x", "failed"),
        action("y"),
        edges=("start.next>a", "a.failed>b", "fan.each>x", "x.failed>y", "y.next>gather"),
        others=[action("a", "failed"), action("b")],
        bound=1,
    )
    world = World.start(given, lines("k1", "k2"))
    world.answer("x", Failed("in a branch", retryable=False), key="k1")
    world.answer("a", Failed("in root", retryable=False))
    world.answer("y", key="k1")
    assert {"a"} == set(world.input("x", "k2")["failures"])
    assert {"x"} == set(world.input("y", "k1")["failures"]), "pinned before root failed"
    assert {"a"} == set(world.input("b")["failures"])
    world.answer("x", key="k2")
    assert {"a"} == set(world.input("after")["failures"])


@pytest.mark.parametrize("payload", ({}, None, 7, "text", [1, {"a": None}]))
def test_the_trigger_contributes_its_payload_whatever_json_it_is(payload: object) -> None:
    world = World.start(single(action("a")), {} if payload is None else payload)
    assert ({} if payload is None else payload) == world.input("a")["nodes"]["start"]


@pytest.mark.parametrize("output", (None, 0, False, "", [], {}, [[{}]]))
def test_any_json_value_is_an_output(output: object) -> None:
    world = World.start(chain(action("a"), action("b")))
    world.answer("a", Succeeded(output=output))
    assert output == world.input("b")["nodes"]["a"]
    assert output == world.output("a")


@pytest.mark.behaviour("B30")
def test_a_branch_sees_its_own_output_and_never_that_of_another() -> None:
    world = World.start(gathered(action("x"), action("y")), lines("k1", "k2"))
    world.answer("x", {"of": "k1"}, key="k1")
    world.answer("x", {"of": "k2"}, key="k2")
    assert {"of": "k1"} == world.input("y", "k1")["nodes"]["x"]
    assert {"of": "k2"} == world.input("y", "k2")["nodes"]["x"]


@pytest.mark.behaviour("B30")
def test_a_branch_does_not_see_what_only_another_branch_did() -> None:
    world = World.start(gathered(action("x"), action("y")), lines("k1", "k2"))
    world.answer("x", Failed("no", retryable=False), key="k1")
    world.answer("x", key="k2")
    seen = world.input("y", "k2")
    assert {"start", "fan", "x"} == set(seen["nodes"])
    assert {} == seen["failures"]


def _shared() -> dict[str, Any]:
    """A node that stands before the fan-out and in its body too."""
    return document(
        START,
        action("x", policy=visits(2)),
        for_each(),
        action("y"),
        join(),
        action("z"),
        edges=("start.next>x", "x.next>fan", "fan.each>y", "y.next>gather", "gather.completed>z"),
    )


@pytest.mark.behaviour("B31")
def test_a_branch_sees_what_root_did_before_it() -> None:
    world = World.start(_shared(), lines("k1"))
    world.answer("x", {"in": "root"})
    assert {"in": "root"} == world.input("y", "k1")["nodes"]["x"]


@pytest.mark.behaviour("B31")
def test_a_branch_prefers_its_own_output_to_that_of_root() -> None:
    given = document(
        START,
        action("x"),
        for_each(),
        action("y"),
        join(),
        edges=("start.next>x", "start.next>fan", "fan.each>x", "x.next>y"),
    )
    world = World.start(given, lines("k1"))
    world.answer("x", {"in": "root"})
    world.answer("x", {"in": "k1"}, key="k1")
    assert {"in": "k1"} == world.input("y", "k1")["nodes"]["x"]
    assert {"in": "root"} == world.input("y")["nodes"]["x"]


@pytest.mark.behaviour("B32")
def test_after_the_join_its_output_is_seen_and_not_that_of_the_branches() -> None:
    world = World.start(gathered(action("x")), lines("k1"))
    world.answer("x", {"n": 1}, key="k1")
    assert {
        "start": lines("k1"),
        "fan": {},
        "gather": {"k1": {"key": "k1", "status": "succeeded", "outlet": "next", "output": {"n": 1}}},
    } == world.input("after")["nodes"]


@pytest.mark.behaviour("B33")
def test_readers_see_the_output_of_the_latest_visit() -> None:
    given = single(
        node("x", "decision", "again", "done", policy=visits(3)),
        action("y"),
        edges=("x.again>x", "x.done>y"),
    )
    world = World.start(given)
    world.answer("x", Succeeded("again", {"n": 1}))
    world.answer("x", Succeeded("done", {"n": 2}))
    assert {"n": 1} == world.input("x", visit=2)["nodes"]["x"]
    assert {"n": 2} == world.input("y")["nodes"]["x"]


@pytest.mark.behaviour("B33")
def test_latest_is_what_stands_last_in_the_journal_not_the_visit_with_the_greatest_number() -> None:
    given = document(
        START,
        action("x", policy=visits(2)),
        action("a"),
        action("b"),
        action("c"),
        action("z"),
        edges=("start.next>a", "start.next>b", "a.next>x", "b.next>x", "start.next>c", "c.next>z"),
    )
    world = World.start(given)
    world.answer("a")
    world.answer("b")
    world.answer("x", {"visit": 2}, visit=2)
    world.answer("x", {"visit": 1}, visit=1)
    world.answer("c")
    assert {"visit": 1} == world.input("z")["nodes"]["x"]


@pytest.mark.behaviour("B34")
def test_a_retry_gets_the_input_of_the_first_attempt_whatever_happened_meanwhile() -> None:
    given = document(START, action("a", policy=tries(2)), action("b"), edges=("start.next>a", "start.next>b"))
    world = World.start(given)
    first = world.input("a")
    world.answer("a", Failed("not yet"))
    world.answer("b", {"new": True})
    world.wake(seconds=30)
    assert 2 == world.execution("a").attempt
    assert first == world.input("a")
    assert 2 == len(world.facts(WorkflowNodeInputPinned))


def test_the_input_is_pinned_by_reference_in_the_transaction_of_the_first_attempt() -> None:
    world = World.start(chain(action("a"), action("b")), {"n": 1})
    before = world.state.tail
    world.answer("a", {"m": 2})
    assert ["NodeOperationCompleted", "NodeSucceeded", "NodeInputPinned", "NodeScheduled"] == world.types(before)
    [pinned] = [f for f in world.facts(WorkflowNodeInputPinned) if f.execution.node == "b"]
    assert {"start": 1, "a": before + 1} == dict(pinned.nodes)


@pytest.mark.behaviour("B35")
def test_in_a_branch_item_is_the_whole_item_and_in_root_it_is_null() -> None:
    world = World.start(gathered(action("x")), {"lines": [{"key": "k1", "qty": 2, "deep": [{"a": 1}]}]})
    assert {"key": "k1", "qty": 2, "deep": [{"a": 1}]} == world.input("x", "k1")["item"]
    world.answer("x", key="k1")
    assert world.input("after")["item"] is None


def test_outputs_over_512_bytes_are_kept_by_reference_and_read_all_the_same() -> None:
    world = World.start(chain(action("a"), action("b")), {"large": "p" * 600})
    world.answer("a", {"large": "a" * 600})
    assert world.execution("a").output is not None
    assert world.execution("a").output.text is None  # type: ignore[union-attr]
    assert {"start": {"large": "p" * 600}, "a": {"large": "a" * 600}} == world.input("b")["nodes"]


@pytest.mark.parametrize("length", (499, 500, 501))
def test_an_output_is_kept_in_the_state_up_to_512_bytes(length: int) -> None:
    world = World.start(chain(action("a"), action("b")))
    text = "x" * length
    world.answer("a", {"large": text})
    output = world.execution("a").output
    assert output is not None
    assert length + 12 == output.size
    assert (length <= 500) == (output.text is not None)
    assert text == world.input("b")["nodes"]["a"]["large"]


def test_a_composed_input_that_is_too_large_fails_for_good_without_an_attempt() -> None:
    given = single(action("a", "failed", policy=tries(5)), action("b"), edges=("a.failed>b",))
    limits = DataLimits(max_bytes=2_000, max_input_bytes=1_000)
    world = World.start(given, {"large": "x" * 900}, limits=limits)
    assert [] == world.facts(WorkflowNodeAttemptFailed, WorkflowNodeScheduled, WorkflowNodeInputPinned)
    failed = world.facts(WorkflowNodeFailed)
    assert [("a", FailureKind.ERROR, "failed"), ("b", FailureKind.ERROR, None)] == [
        (f.execution.node, f.kind, f.outlet) for f in failed
    ]
    assert "at most 1000 are allowed" in failed[0].reason
    assert "Failed" == world.status


def test_the_limit_of_the_composed_input_is_inclusive_and_counts_its_bytes() -> None:
    given = single(action("a"))
    payload = {"large": "é" * 100}
    exact = size(compact(World.start(given, payload).input("a")))
    assert "Running" == World.start(given, payload, limits=DataLimits(max_input_bytes=exact)).status
    assert "Failed" == World.start(given, payload, limits=DataLimits(max_input_bytes=exact - 1)).status


def test_a_join_fires_before_more_is_scheduled_when_an_input_is_too_large() -> None:
    """The first branch fails without an attempt and satisfies the join; the second never starts."""
    given = gathered(
        action("x", "failed"), mode="any", edges=("fan.each>x", "x.next>gather", "x.failed>gather"), bound=10
    )
    payload = {"lines": [{"key": "k1", "large": "x" * 900}, {"key": "k2"}]}
    world = World.start(given, payload, limits=DataLimits(max_bytes=2_000, max_input_bytes=1_500))
    assert {"k1": "Failed", "k2": "Cancelled"} == world.statuses("x")
    assert [] == [f for f in world.facts(WorkflowNodeScheduled) if f.execution.node == "x"]


def test_a_join_output_counts_only_in_the_composed_input() -> None:
    limits = DataLimits(max_bytes=700)
    world = World.start(gathered(action("x")), lines("k1", "k2", "k3"), limits=limits)
    for key in ("k1", "k2", "k3"):
        world.answer("x", {"large": "x" * 600}, key=key)
    assert len(compact(world.output("gather"))) > 700
    assert "x" * 600 == world.input("after")["nodes"]["gather"]["k3"]["output"]["large"]


def test_the_output_of_a_wait_is_the_payload_given_and_empty_when_time_closed_it() -> None:
    given = chain(signal_wait("w", "resumed", "expired", expiresAfter="00:01:00"), action("a"), edges=("w.expired>a",))
    world = World.start(given)
    world.resolve("w", "resumed", {"paid": 3})
    assert {"paid": 3} == world.input("a")["nodes"]["w"]
    world = World.start(given)
    world.wake(minutes=1)
    assert {} == world.input("a")["nodes"]["w"]


def test_a_receipt_and_the_success_that_follows_hold_an_output_once() -> None:
    world = World.start(chain(action("a"), action("b")))
    world.answer("a", {"n": 1})
    [receipt] = world.facts(WorkflowNodeOperationCompleted)
    assert '{"n":1}' == receipt.value
    assert receipt.outcome.output is None
