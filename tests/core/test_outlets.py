"""Through which outlet an execution leaves, and what follows when there is no way on (semantics 1.1, 1.4, 1.10)."""

from __future__ import annotations

from typing import Any

import pytest

from orchestrator.core.decide.commands import AnswerAttempt
from orchestrator.core.facts import (
    Trigger,
    WorkflowNodeAttemptFailed,
    WorkflowNodeFailed,
    WorkflowNodeScheduled,
    WorkflowNodeSucceeded,
)
from orchestrator.core.graph import Capability
from orchestrator.core.outcomes import Failed, FailureKind, Skipped, Succeeded, failure
from orchestrator.core.state import ExecutionStatus
from tests.core.graphs import approval, chain, gathered, lines, signal_wait, single, timer, tries
from tests.core.world import World
from tests.definitions import START, action, document, join, node


def failed(world: World, node: str) -> WorkflowNodeFailed:
    """The one failure for good of a node."""
    [fact] = [fact for fact in world.facts(WorkflowNodeFailed) if fact.execution.node == node]
    assert isinstance(fact, WorkflowNodeFailed)
    return fact


# --- edges ------------------------------------------------------------------------------------------------------------


def test_several_edges_from_one_outlet_are_parallel_paths() -> None:
    world = World.start(
        document(START, action("a"), action("b"), action("c"), edges=("start.next>a", "start.next>b", "a.next>c"))
    )
    assert [("a", None), ("b", None)] == world.scheduled()
    world.answer("a")
    assert [("b", None), ("c", None)] == world.scheduled()
    world.answer("b")
    world.answer("c")
    assert "Succeeded" == world.status


def test_leaving_through_an_outlet_that_is_not_connected_ends_the_path_and_is_no_failure() -> None:
    world = World.start(single(node("d", "decision", "yes", "no"), action("a"), edges=("d.yes>a",)))
    world.answer("d", Succeeded("no"))
    assert "Succeeded" == world.status
    assert "no" == world.execution("d").outlet


def test_an_outlet_may_have_any_name() -> None:
    world = World.start(single(action("a", "über 'quota'/1"), action("b"), edges=("a.über 'quota'/1>b",)))
    world.answer("a", Succeeded("über 'quota'/1"))
    assert [("b", None)] == world.scheduled()


@pytest.mark.behaviour("B51")
def test_only_the_edges_of_the_outlet_a_decision_picked_are_followed() -> None:
    given = single(
        node("d", "decision", "approve", "decline"), action("a"), action("b"), edges=("d.approve>a", "d.decline>b")
    )
    world = World.start(given)
    world.answer("d", Succeeded("approve"))
    assert [("a", None)] == world.scheduled()
    world.answer("a")
    assert ("b",) == world.state.unreachable


@pytest.mark.behaviour("B52")
def test_skipped_ends_the_path_without_failure_and_without_output() -> None:
    world = World.start(chain(action("a"), action("b")))
    world.answer("a", Skipped("nothing to ship"))
    assert ExecutionStatus.SKIPPED is world.execution("a").status
    assert None is world.execution("a").output
    assert [] == world.executions("b")
    assert "Succeeded" == world.status


def test_what_a_skipped_node_left_out_is_not_seen_by_others() -> None:
    given = document(START, action("a"), action("b"), action("c"), edges=("start.next>a", "start.next>b", "b.next>c"))
    world = World.start(given)
    world.answer("a", Skipped("no"))
    world.answer("b")
    assert {"start", "b"} == set(world.input("c")["nodes"])


@pytest.mark.parametrize("outlets", ((), ("other",)))
def test_a_trigger_without_next_simply_ends_and_the_run_succeeds_at_once(outlets: tuple[str, ...]) -> None:
    trigger = node("start", "trigger", *outlets)
    world = World.start(document(trigger, action("a"), edges=("start.other>a",) if outlets else ()), {"n": 1})
    assert "Succeeded" == world.status
    assert [None] == [fact.outlet for fact in world.facts(WorkflowNodeSucceeded)]
    assert {"n": 1} == world.output("start")
    assert ("a",) == world.state.unreachable


def test_the_trigger_has_a_success_with_its_payload() -> None:
    world = World.start(single(action("a")), {"n": 1})
    assert ["RunAdmitted", "NodeSucceeded"] == world.types()[:2]
    assert "next" == world.execution("start").outlet


@pytest.mark.behaviour("B27")
@pytest.mark.parametrize("kind", ("manual", "signal", "stageHook", "schedule", "somethingNew"))
def test_the_kind_of_trigger_is_recorded_and_changes_nothing(kind: str) -> None:
    world = World.start(single(action("a")), trigger=Trigger(kind))
    usual = World.start(single(action("a")))
    assert usual.types() == world.types()
    assert kind == world.snapshot().trigger["kind"]


# --- where failures go ------------------------------------------------------------------------------------------------

WAYS = {
    "both": (("fallback", "failed"), ("a.fallback>f", "a.failed>g"), "fallback", "failed"),
    "only failed": (("fallback", "failed"), ("a.failed>g",), "failed", "failed"),
    "only fallback": (("fallback", "failed"), ("a.fallback>f",), "fallback", None),
    "neither": (("fallback", "failed"), (), None, None),
    "undeclared": ((), (), None, None),
}
UNUSABLE = {
    FailureKind.INVALID_OUTLET: Succeeded("nowhere"),
    FailureKind.INVALID_OUTPUT: Succeeded(output=object()),
}


@pytest.mark.behaviour("B42")
@pytest.mark.behaviour("B43")
@pytest.mark.behaviour("B44")
@pytest.mark.parametrize("ways", WAYS)
@pytest.mark.parametrize("kind", UNUSABLE)
def test_an_unusable_answer_leaves_through_fallback_else_failed_else_is_unrouted(kind: FailureKind, ways: str) -> None:
    outlets, edges, unusable, _ = WAYS[ways]
    world = World.start(single(action("a", *outlets, policy=tries(3)), action("f"), action("g"), edges=edges))
    world.answer("a", UNUSABLE[kind])
    assert (kind, unusable) == (failed(world, "a").kind, failed(world, "a").outlet)
    assert 1 == world.execution("a").attempt
    assert None is world.execution("a").retry_due
    reached = {None: [], "fallback": [("f", None)], "failed": [("g", None)]}
    assert reached[unusable] == world.scheduled()
    assert ("Failed" if unusable is None else "Running") == world.status


@pytest.mark.behaviour("B38")
@pytest.mark.behaviour("B45")
@pytest.mark.parametrize("ways", WAYS)
def test_an_error_leaves_through_failed_and_never_through_fallback(ways: str) -> None:
    outlets, edges, _, error = WAYS[ways]
    world = World.start(single(action("a", *outlets), action("f"), action("g"), edges=edges))
    world.answer("a", Failed("no"))
    assert error == failed(world, "a").outlet
    assert [("g", None)] * (error is not None) == world.scheduled()


@pytest.mark.behaviour("B44")
def test_an_output_over_the_limit_is_invalid_output() -> None:
    world = World.start(single(action("a")))
    world.answer("a", {"large": "x" * 32_768})
    assert FailureKind.INVALID_OUTPUT is failed(world, "a").kind
    assert "32,768" in failed(world, "a").reason


@pytest.mark.behaviour("B21")
def test_a_missing_performer_is_not_retried_and_leaves_through_failed() -> None:
    world = World.start(single(action("a", "failed", "fallback", policy=tries(3)), action("g"), edges=("a.failed>g",)))
    receipt = failure(FailureKind.PERFORMER_MISSING, "no performer is registered for test.a@1")
    world.tell(AnswerAttempt(world.execution("a").ref.id, 1, receipt))
    assert (FailureKind.PERFORMER_MISSING, "failed") == (failed(world, "a").kind, failed(world, "a").outlet)
    assert [("g", None)] == world.scheduled()


def test_the_code_of_a_failure_is_kept() -> None:
    world = World.start(single(action("a")))
    world.answer("a", Failed("no stock", "E7"))
    assert ("no stock", "E7") == (failed(world, "a").reason, failed(world, "a").code)
    assert "E7" == world.snapshot().failures[0].code


def test_failing_for_good_takes_every_edge_of_the_outlet() -> None:
    given = single(action("a", "failed"), action("b"), action("c"), edges=("a.failed>b", "a.failed>c"))
    world = World.start(given)
    world.answer("a", Failed("no"))
    assert [("b", None), ("c", None)] == world.scheduled()


# --- outlets of the engine that a node does not declare ---------------------------------------------------------------


ENGINE_OUTLETS: dict[str, tuple[dict[str, Any], Any]] = {
    "approved": (approval("n", "rejected"), lambda world: world.resolve("n", "approved")),
    "rejected": (approval("n", "approved"), lambda world: world.resolve("n", "rejected")),
    "approval expired": (approval("n", "approved", expiresAfter="00:01:00"), lambda world: world.wake(minutes=1)),
    "resumed": (signal_wait("n", "cancelled"), lambda world: world.signal("paid@1")),
    "cancelled": (signal_wait("n", "resumed"), lambda world: world.resolve("n", "cancelled")),
    "wait expired": (signal_wait("n", "resumed", expiresAfter="00:01:00"), lambda world: world.wake(minutes=1)),
    "elapsed": (timer("n", "00:01:00", "resumed"), lambda world: world.wake(minutes=1)),
    "each": (
        node("n", "forEach", "done", configuration={"itemsFrom": "start", "itemsProperty": "lines"}),
        lambda world: None,
    ),
}


@pytest.mark.parametrize("ways", ("fallback", "failed", "neither"))
@pytest.mark.parametrize("case", ENGINE_OUTLETS)
def test_an_engine_outlet_that_a_node_does_not_declare_is_invalid_outlet(case: str, ways: str) -> None:
    given, happens = ENGINE_OUTLETS[case]
    routes = {"fallback": ("fallback", "failed"), "failed": ("failed",), "neither": ()}[ways]
    given = given | {"outlets": [*given["outlets"], *routes]}
    gather = [join(of="n")] if case == "each" else []
    edges = tuple(f"n.{route}>{to}" for route, to in zip(routes, ("f", "g"), strict=False))
    world = World.start(single(given, action("f"), action("g"), *gather, edges=edges), lines("k1"))
    happens(world)
    outlet = routes[0] if routes else None
    assert (FailureKind.INVALID_OUTLET, outlet) == (failed(world, "n").kind, failed(world, "n").outlet)
    assert [] == world.facts(WorkflowNodeAttemptFailed)
    assert ("Failed" if outlet is None else "Running") == world.status


@pytest.mark.parametrize(("fails", "outlet"), ((False, "completed"), (True, "partial")))
def test_a_join_that_does_not_declare_its_outlet_is_invalid_outlet(fails: bool, outlet: str) -> None:
    declared = {"completed", "partial"} - {outlet}
    given = gathered(
        action("x"),
        gather={"outlets": [*declared, "fallback"]},
        others=[action("f")],
        edges=("fan.each>x", "x.next>gather", "gather.fallback>f"),
    )
    world = World.start(given, lines("k1"))
    world.answer("x", Failed("no") if fails else None, key="k1")
    assert (FailureKind.INVALID_OUTLET, "fallback") == (failed(world, "gather").kind, failed(world, "gather").outlet)
    assert f"outlet '{outlet}' is not declared" in failed(world, "gather").reason
    assert [("f", None)] == world.scheduled()


def test_what_the_engine_does_has_no_attempt_that_could_fail() -> None:
    world = World.start(single(approval("n", "rejected", "failed"), action("g"), edges=("n.failed>g",)))
    world.resolve("n", "approved", actor="anna")
    assert ["WaitResolved", "NodeFailed"] == world.types()[3:5]
    assert 0 == world.execution("n").attempt


# --- what is never looked at ------------------------------------------------------------------------------------------


@pytest.mark.behaviour("B20")
def test_the_capability_of_a_node_that_the_engine_does_is_never_looked_up() -> None:
    given = gathered(action("x"), gather={"capability": "x@99"}, fan={"capability": "nobody@7"})
    world = World.start(given, lines("k1"))
    assert Capability("x", 99) == world.state.definition.graph.node["gather"].capability
    world.answer("x", key="k1")
    world.answer("after")
    assert "Succeeded" == world.status
    assert {"x", "after"} == {fact.execution.node for fact in world.facts(WorkflowNodeScheduled)}


@pytest.mark.behaviour("B19")
def test_an_approval_whose_configuration_says_timer_is_an_approval() -> None:
    world = World.start(single(approval("n", kind="timer", after="00:00:00")))
    assert ("approval", None) == (world.wait("n").kind, world.wait("n").deadline)
    world.wake(days=100)
    world.resolve("n", "approved")
    assert "approved" == world.execution("n").outlet


@pytest.mark.behaviour("B18")
def test_a_run_goes_on_with_the_version_that_it_was_started_with() -> None:
    """The definition is in the first fact: nothing outside the journal is asked, whatever is published meanwhile."""
    one = World.start(chain(action("a"), action("b")))
    two = World.start(
        document(START, action("a"), action("c"), edges=("start.next>a", "a.next>c"), version=2), key="k2"
    )
    one.answer("a")
    two.answer("a")
    assert (1, [("b", None)]) == (one.snapshot().version, one.scheduled())
    assert (2, [("c", None)]) == (two.snapshot().version, two.scheduled())
