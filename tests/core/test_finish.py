"""How a run ends, and where it stands before that (semantics 1.13, 2.6)."""

from __future__ import annotations

from typing import Any

import pytest

from orchestrator.core.facts import (
    WorkflowNodesUnreachable,
    WorkflowRunCancelled,
    WorkflowRunFailed,
    WorkflowRunSucceeded,
)
from orchestrator.core.outcomes import Ambiguous, Failed, FailureKind, Skipped, Succeeded, Suspended
from orchestrator.core.state import RunStatus
from tests.core.graphs import approval, chain, gathered, lines, signal_wait, single, timer, tries
from tests.core.world import World
from tests.definitions import START, action, document, node


@pytest.mark.behaviour("B87")
def test_nodes_that_no_path_reached_are_unreachable_at_the_end() -> None:
    given = single(
        node("d", "decision", "yes", "no"),
        action("a"),
        action("b"),
        action("c"),
        edges=("d.yes>a", "d.no>b", "b.next>c"),
    )
    world = World.start(given)
    world.answer("d", Succeeded("yes"))
    assert () == world.state.unreachable, "told at the finish, not before"
    world.answer("a")
    assert [("b", "c")] == [fact.nodes for fact in world.facts(WorkflowNodesUnreachable)]
    assert ("b", "c") == world.snapshot().unreachable
    assert ["NodesUnreachable", "RunSucceeded"] == world.types()[-2:]


def test_unreachable_nodes_are_told_of_a_failed_run_too() -> None:
    world = World.start(chain(action("a"), action("b")))
    world.answer("a", Failed("no"))
    assert ["NodesUnreachable", "RunFailed"] == world.types()[-2:]


def test_when_every_node_was_reached_there_is_nothing_to_tell() -> None:
    world = World.start(single(action("a")))
    world.answer("a", Failed("no"))
    assert [] == world.facts(WorkflowNodesUnreachable)


def test_a_node_whose_executions_were_all_cancelled_was_reached() -> None:
    given = gathered(action("x"), node("d", "decision", "go"), mode="any", bound=1)
    world = World.start(given, lines("a", "b"))
    world.answer("x", key="a")
    world.answer("d", Succeeded("go"), key="a")
    world.answer("after")
    assert [("rest",)] == [fact.nodes for fact in world.facts(WorkflowNodesUnreachable)]


def test_what_only_branches_reach_is_reached() -> None:
    world = World.start(gathered(action("x")), lines("a"))
    world.answer("x", key="a")
    world.answer("after")
    assert ("rest",) == world.state.unreachable


def test_of_an_empty_fan_out_the_body_is_unreachable() -> None:
    world = World.start(gathered(action("x")), lines())
    world.answer("after")
    assert ("x", "rest") == world.state.unreachable


@pytest.mark.behaviour("B88")
def test_an_unrouted_failure_in_root_fails_the_run_only_after_every_other_path_has_ended() -> None:
    given = document(
        START,
        action("a"),
        action("b"),
        signal_wait("w"),
        action("c"),
        edges=("start.next>a", "start.next>b", "b.next>w", "w.resumed>c"),
    )
    world = World.start(given)
    world.answer("a", Failed("no stock", "E7"))
    assert "Running" == world.status
    world.answer("b")
    assert "Waiting" == world.status
    world.signal("paid@1")
    world.answer("c")
    assert "Failed" == world.status
    [end] = world.facts(WorkflowRunFailed)
    assert ("a", FailureKind.ERROR, "no stock", "E7") == (end.execution.node, end.kind, end.reason, end.code)


def test_the_first_unrouted_failure_is_the_one_that_the_run_failed_for() -> None:
    given = document(START, action("a"), action("b"), edges=("start.next>a", "start.next>b"))
    world = World.start(given)
    world.answer("b", Failed("first"))
    world.answer("a", Failed("second"))
    assert ["first"] == [fact.reason for fact in world.facts(WorkflowRunFailed)]


def test_an_unrouted_failure_waits_for_a_fan_out_too() -> None:
    given = gathered(action("x"), edges=("fan.each>x", "x.next>gather", "start.next>z"), others=[action("z")])
    world = World.start(given, lines("a"))
    world.answer("z", Failed("no"))
    world.answer("x", key="a")
    world.answer("after")
    assert "Failed" == world.status


@pytest.mark.behaviour("B89")
def test_the_last_path_to_end_without_failure_ends_the_run_once() -> None:
    world = World.start(document(START, action("a"), action("b"), edges=("start.next>a", "start.next>b")))
    world.answer("a")
    assert [] == world.facts(WorkflowRunSucceeded)
    world.answer("b", Skipped("no"))
    assert 1 == len(world.facts(WorkflowRunSucceeded, WorkflowRunFailed, WorkflowRunCancelled))
    assert isinstance(world.facts()[-1], WorkflowRunSucceeded)


def test_a_routed_failure_does_not_fail_the_run() -> None:
    world = World.start(single(action("a", "failed"), action("b"), edges=("a.failed>b",)))
    world.answer("a", Failed("no"))
    world.answer("b")
    assert "Succeeded" == world.status
    assert [("a", "failed")] == [(f.execution.node, f.outlet) for f in world.snapshot().failures]


ENDS = {
    "Succeeded": {},
    "Failed": Failed("no"),
    "Cancelled": None,
}


@pytest.mark.parametrize("status", ENDS)
def test_nothing_follows_a_final_status(status: str) -> None:
    world = World.start(chain(action("a"), action("b")))
    world.answer("a")
    if status == "Cancelled":
        world.cancel()
    else:
        world.answer("b", ENDS[status])
    assert status == world.status
    tail = world.state.tail
    world.wake(days=10)
    world.cancel()
    assert 0 == world.signal("paid@1")
    assert False is world.answer("a", attempt=1)
    assert False is world.time_out("b")
    assert False is world.lose("b", losses=3)
    assert False is world.stop("b")
    assert (tail, status) == (world.state.tail, world.status)


# --- where a run stands -----------------------------------------------------------------------------------------------


def test_the_statuses_of_a_run_on_its_way() -> None:
    given = chain(action("a", policy=tries(2)), approval("ok"), action("b"), timer("t"), action("c"))
    world = World.start(given)
    seen = [world.status]
    for happens in (
        lambda: world.answer("a", Failed("no")),
        lambda: world.wake(seconds=30),
        lambda: world.answer("a"),
        lambda: world.resolve("ok", "approved"),
        lambda: world.answer("b", Ambiguous("?")),
        lambda: world.reconcile("b", {}),
        lambda: world.wake(minutes=1),
        lambda: world.answer("c", Suspended("s")),
        lambda: world.complete("c", {}),
    ):
        happens()
        seen.append(world.status)
    assert [
        "Running",
        "Running",
        "Running",
        "Waiting",
        "Running",
        "ReconciliationRequired",
        "Waiting",
        "Running",
        "Waiting",
        "Succeeded",
    ] == seen


@pytest.mark.parametrize("status", RunStatus)
def test_three_statuses_are_final(status: RunStatus) -> None:
    assert (status.value in ("Succeeded", "Failed", "Cancelled")) == status.final


def test_a_run_with_a_pending_branch_beside_a_wait_is_running() -> None:
    given = gathered(
        node("d", "decision", "wait", "go"),
        signal_wait("w"),
        bound=1,
        edges=("fan.each>d", "d.wait>w", "d.go>gather", "w.resumed>gather"),
    )
    world = World.start(given, lines("a", "b"))
    world.answer("d", Succeeded("wait"), key="a")
    assert "Running" == world.status
    world.answer("d", Succeeded("wait"), key="b")
    assert "Waiting" == world.status


def test_the_times_of_a_run_are_those_of_its_first_and_last_facts() -> None:
    world = World.start(single(action("a")))
    begun = world.now
    world.wake(minutes=3)
    assert (begun, begun) == (world.state.started_at, world.state.updated_at)
    world.answer("a")
    assert (world.now, world.now) == (world.state.updated_at, world.state.ended_at)


def test_a_snapshot_shows_the_run_as_people_see_it() -> None:
    given = document(
        START,
        action("a", policy=tries(2)),
        action("b"),
        approval("ok", expiresAfter="01:00:00"),
        edges=("start.next>a", "start.next>b", "start.next>ok"),
    )
    world = World.start(given, {"n": 1})
    world.answer("a", Failed("not yet"))
    world.answer("b", Failed("never", "E1", retryable=False))
    seen = world.snapshot().document()
    assert {
        "runId": world.state.run_id,
        "scope": "default",
        "workflow": "test",
        "version": 1,
        "key": "the-run",
        "status": "Running",
        "trigger": {"kind": "manual", "payload": {"n": 1}, "subject": None, "correlation": None},
        "unreachable": [],
        "startedAt": "2026-01-15T10:07:00Z",
        "endedAt": None,
        "tail": world.state.tail,
    } == {name: value for name, value in seen.items() if name not in ("executions", "waits", "failures")}
    assert [("start", "Succeeded"), ("a", "RetryPending"), ("b", "Failed"), ("ok", "Waiting")] == [
        (each["execution"]["node"], each["status"]) for each in seen["executions"]
    ]
    assert "2026-01-15T10:07:30Z" == seen["executions"][1]["retryDue"]
    assert [("b", "E1", None)] == [(f["execution"]["node"], f["code"], f["outlet"]) for f in seen["failures"]]
    [wait] = seen["waits"]
    assert ("approval", "2026-01-15T11:07:00Z") == (wait["kind"], wait["deadline"])


def test_executions_are_shown_in_the_order_of_their_arrival() -> None:
    world = World.start(gathered(action("x"), action("y"), bound=1), lines("a", "b"))
    for key in "ab":
        world.answer("x", key=key)
        world.answer("y", key=key)
    shown: list[Any] = [(each.node, each.key) for each in world.snapshot().executions]
    assert [
        ("start", None),
        ("fan", None),
        ("x", "a"),
        ("x", "b"),
        ("y", "a"),
        ("y", "b"),
        ("gather", None),
        ("after", None),
    ] == shown
