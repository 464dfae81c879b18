"""Suspension: the answer of a performer comes later, by key, and is interpreted like any other (1.9, 1.11, 2.8)."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from orchestrator.core.data import EMPTY
from orchestrator.core.decide.commands import AnswerAttempt, CompleteWait, ResolveWait
from orchestrator.core.facts import (
    WorkflowNodeAttemptFailed,
    WorkflowNodeFailed,
    WorkflowNodeOperationCompleted,
    WorkflowWaitOpened,
    WorkflowWaitResolved,
)
from orchestrator.core.outcomes import Ambiguous, Failed, FailureKind, Skipped, Succeeded, Suspended, receipt_of
from orchestrator.core.state import ExecutionStatus
from orchestrator.errors import NotFound, Refused, WaitClosed
from tests.core.graphs import chain, gathered, lines, single, tries
from tests.core.world import DAWN, World
from tests.definitions import START, action, document


def suspended(given: dict[str, Any] | None = None, *, expires: timedelta | None = None) -> World:
    """A run whose node `a` is suspended with the key `k`."""
    world = World.start(given or chain(action("a"), action("b")))
    world.answer("a", Suspended("k", expires))
    return world


@pytest.mark.behaviour("B112")
def test_a_suspended_node_waits_and_holds_no_worker() -> None:
    world = suspended()
    assert (ExecutionStatus.WAITING, "Waiting") == (world.execution("a").status, world.status)
    assert {} == world.owed
    wait = world.wait("a")
    assert ("completion", "k", None) == (wait.kind, wait.key, wait.deadline)
    assert ["NodeOperationCompleted", "WaitOpened"] == world.types(4)


def test_a_suspended_node_holds_no_slot() -> None:
    world = World.start(gathered(action("x"), bound=1), lines("k1", "k2"))
    world.answer("x", Suspended("s"), key="k1")
    assert [("x", "k2")] == world.scheduled()


@pytest.mark.behaviour("B113")
def test_completed_by_key_it_goes_on_with_that_output() -> None:
    world = suspended()
    tail = world.state.tail
    world.complete("a", {"n": 1}, actor="partner")
    assert {"n": 1} == world.input("b")["nodes"]["a"]
    assert ["WaitResolved", "NodeSucceeded", "NodeInputPinned", "NodeScheduled"] == world.types(tail)
    [closed] = world.facts(WorkflowWaitResolved)
    assert (None, "succeeded", "partner") == (closed.outlet, closed.outcome.status, closed.actor)
    assert 1 == len(world.facts(WorkflowNodeOperationCompleted)), "no second receipt"


@pytest.mark.behaviour("B113")
def test_after_the_expiry_it_leaves_through_expired() -> None:
    given = single(action("a", "expired"), action("b"), edges=("a.expired>b",))
    world = suspended(given, expires=timedelta(hours=2))
    assert DAWN + timedelta(hours=2) == world.wait("a").deadline
    world.wake(hours=1, minutes=59)
    assert [] == world.scheduled()
    world.wake(minutes=1)
    assert [("b", None)] == world.scheduled()
    assert {} == world.output("a")


def test_without_an_expiry_it_waits_for_ever() -> None:
    world = suspended(expires=timedelta(0))
    world.wake(days=100_000)
    assert "Waiting" == world.status


def test_expired_where_it_is_not_declared_is_invalid_outlet_and_not_retried() -> None:
    given = single(action("a", "fallback", policy=tries(3)), action("b"), edges=("a.fallback>b",))
    world = suspended(given, expires=timedelta(minutes=1))
    world.wake(minutes=1)
    [failed] = world.facts(WorkflowNodeFailed)
    assert (FailureKind.INVALID_OUTLET, "fallback") == (failed.kind, failed.outlet)
    assert [None] == [fact.retry_due for fact in world.facts(WorkflowNodeAttemptFailed)]


def test_a_retryable_failure_is_retried_while_attempts_remain() -> None:
    world = suspended(single(action("a", policy=tries(2))))
    world.complete("a", Failed("not yet"))
    assert DAWN + timedelta(seconds=30) == world.execution("a").retry_due
    world.wake(seconds=30)
    assert 2 == world.execution("a").attempt
    world.answer("a", Suspended("k"))
    world.complete("a", Failed("again"))
    assert "Failed" == world.status
    assert ["not yet", "again"] == [fact.reason for fact in world.facts(WorkflowNodeAttemptFailed)]


def test_a_failure_that_is_not_retryable_is_for_good() -> None:
    given = single(action("a", "failed", policy=tries(3)), action("b"), edges=("a.failed>b",))
    world = suspended(given)
    world.complete("a", Failed("never", "E9", retryable=False))
    assert [("b", None)] == world.scheduled()
    assert "E9" == world.input("b")["failures"]["a"]["code"]


def test_completed_as_skipped_the_path_ends() -> None:
    world = suspended()
    world.complete("a", Skipped("no need"))
    assert ("Succeeded", ExecutionStatus.SKIPPED) == (world.status, world.execution("a").status)


@pytest.mark.parametrize(
    ("outcome", "why"),
    (
        (Ambiguous("who knows"), "not ambiguous"),
        (Suspended("k2"), "not suspended"),
        (Succeeded("nowhere"), "no outlet 'nowhere'"),
        (Succeeded(output=object()), "cannot be taken"),
        (Succeeded(output="x" * 40_000), "32,768"),
        (Succeeded(""), "name of the outlet must not be empty"),
    ),
)
def test_what_cannot_be_an_answer_is_refused_and_the_wait_stays_open(outcome: object, why: str) -> None:
    world = suspended()
    with pytest.raises(Refused, match=why):
        world.complete("a", outcome)
    assert "Waiting" == world.status
    world.complete("a", {})
    assert [("b", None)] == world.scheduled()


@pytest.mark.parametrize("outlet", ("resumed", "cancelled", "approved", "expired", "next"))
def test_a_completion_is_not_closed_through_an_outlet(outlet: str) -> None:
    world = suspended()
    with pytest.raises(Refused, match="by completing its key"):
        world.resolve("a", outlet)
    assert 0 == world.signal("k@1")


def test_the_second_completion_learns_how_it_was_closed() -> None:
    world = suspended()
    wait = world.wait("a").id
    world.complete("a", {"n": 1}, actor="partner")
    with pytest.raises(WaitClosed) as told:
        world.tell(CompleteWait(wait, receipt_of({"n": 2})))
    assert ("next", "partner", DAWN) == (told.value.outlet, told.value.actor, told.value.at)
    assert {"n": 1} == world.output("a")


def test_a_completion_before_its_suspension_is_refused() -> None:
    world = World.start(single(action("a")))
    with pytest.raises(NotFound):
        world.tell(CompleteWait(f"{world.execution('a').ref.id}.1", receipt_of({})))


def test_each_suspension_of_an_execution_is_a_wait_of_its_own() -> None:
    world = suspended(single(action("a", policy=tries(2, retryDelay="00:00:00"))))
    first = world.wait("a").id
    world.complete("a", Failed("again"))
    world.answer("a", Suspended("k"))
    assert first != world.wait("a").id
    with pytest.raises(WaitClosed, match="through 'failed'"):
        world.tell(CompleteWait(first, receipt_of({})))
    world.complete("a", {})
    assert "Succeeded" == world.status
    assert [first, f"{first.split('.')[0]}.2"] == [fact.wait_id for fact in world.facts(WorkflowWaitOpened)]


# --- keys -------------------------------------------------------------------------------------------------------------


def two(**policy: Any) -> dict[str, Any]:
    """Two actions side by side."""
    return document(START, action("a"), action("b", policy=policy), edges=("start.next>a", "start.next>b"))


def test_a_key_that_is_open_already_fails_the_second_suspension_with_error() -> None:
    world = World.start(two())
    world.answer("a", Suspended("k"))
    world.answer("b", Suspended("k"))
    [failed] = world.facts(WorkflowNodeFailed)
    assert ("b", FailureKind.ERROR) == (failed.execution.node, failed.kind)
    assert "the completion key 'k' is open already" in failed.reason
    world.complete("a", {})
    assert "Failed" == world.status


def test_a_key_that_another_run_holds_counts_too() -> None:
    world = World.start(single(action("a", policy=tries(2))))
    world.foreign_keys["k"] = "an-execution-of-another-run"
    world.answer("a", Suspended("k"))
    assert ExecutionStatus.RETRY_PENDING is world.execution("a").status
    del world.foreign_keys["k"]
    world.wake(seconds=30)
    world.answer("a", Suspended("k"))
    assert ExecutionStatus.WAITING is world.execution("a").status


def test_a_key_can_be_used_again_once_it_is_closed() -> None:
    world = World.start(two())
    world.answer("a", Suspended("k"))
    world.complete("a", {})
    world.answer("b", Suspended("k"))
    assert "k" == world.wait("b").key


def test_of_two_suspensions_with_one_key_in_one_go_the_first_holds_it() -> None:
    world = World.start(two())
    ids = [world.execution(node).ref.id for node in ("a", "b")]
    world.tell(*(AnswerAttempt(id, 1, receipt_of(Suspended("k"))) for id in ids))
    assert [ExecutionStatus.WAITING, ExecutionStatus.FAILED] == [world.execution(n).status for n in ("a", "b")]


def test_a_key_that_a_join_gave_up_in_the_same_go_is_free() -> None:
    given = gathered(
        action("x"), mode="any", edges=("fan.each>x", "x.next>gather", "start.next>z"), others=[action("z")]
    )
    world = World.start(given, lines("k1", "k2"))
    world.answer("x", Suspended("k"), key="k1")
    answers = (
        AnswerAttempt(world.execution("x", "k2").ref.id, 1, receipt_of({})),
        AnswerAttempt(world.execution("z").ref.id, 1, receipt_of(Suspended("k"))),
    )
    world.tell(*answers)
    assert "k" == world.wait("z").key
    assert {"k1": "Cancelled", "k2": "Succeeded"} == world.statuses("x")


def test_the_outlet_of_a_completion_is_one_of_the_nodes_own() -> None:
    given = single(action("a", "paid"), action("b"), edges=("a.paid>b",))
    world = suspended(given)
    world.complete("a", Succeeded("paid", [1]))
    assert [1] == world.input("b")["nodes"]["a"]


def test_an_answer_for_a_suspended_attempt_is_late() -> None:
    world = suspended()
    assert False is world.answer("a", {}, attempt=1)
    assert False is world.time_out("a", effect="once")
    assert "Waiting" == world.status


def test_a_suspended_node_cannot_be_told_what_only_other_waits_are_told() -> None:
    world = suspended()
    with pytest.raises(Refused):
        world.tell(ResolveWait(world.wait("a").id, "cancelled", EMPTY))


@pytest.mark.parametrize("expires", (timedelta.max, timedelta(days=1_000_001), timedelta(seconds=-1)))
def test_an_expiry_beyond_every_calendar_is_an_error_of_the_performer(expires: timedelta) -> None:
    world = suspended(single(action("a", policy=tries(3))), expires=expires)
    [failed] = world.facts(WorkflowNodeFailed)
    assert (FailureKind.ERROR, "expires_after must be a timedelta from zero to 1,000,000 days") == (
        failed.kind,
        failed.reason,
    )
