"""Outcomes that nobody knows: the run stops for a person, and what goes on meanwhile (semantics 1.9, 2.4)."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from orchestrator.core.decide.commands import ReconcileExecution
from orchestrator.core.facts import (
    WorkflowJobStopped,
    WorkflowNodeAttemptFailed,
    WorkflowNodeFailed,
    WorkflowNodeOutcomeAmbiguous,
    WorkflowNodeReconciled,
    WorkflowNodeScheduled,
    WorkflowRunNeedsReconciliation,
    WorkflowWaitResolved,
)
from orchestrator.core.outcomes import Ambiguous, Failed, FailureKind, Skipped, Succeeded, Suspended, receipt_of
from orchestrator.core.state import ExecutionStatus
from orchestrator.errors import NotFound, Refused
from tests.core.graphs import approval, chain, gathered, lines, signal_wait, single, timer, tries
from tests.core.world import DAWN, World
from tests.definitions import START, action, document, for_each, join


def beside(*others: dict[str, Any], edges: tuple[str, ...] = (), later: tuple[dict[str, Any], ...] = ()) -> World:
    """A run with `a`, then `b`, and these others beside it from the start; `later` only where edges lead."""
    given = document(
        START,
        action("a", "failed", policy=tries(3)),
        action("b"),
        *others,
        *later,
        edges=("start.next>a", *(f"start.next>{each['id']}" for each in others), "a.next>b", *edges),
    )
    return World.start(given, lines("k1", "k2"))


def stopped(*others: dict[str, Any], edges: tuple[str, ...] = (), later: tuple[dict[str, Any], ...] = ()) -> World:
    """The same, stopped because nobody knows what became of `a`."""
    world = beside(*others, edges=edges, later=later)
    world.answer("a", Ambiguous("no answer from the bank"))
    return world


@pytest.mark.behaviour("B92")
def test_an_ambiguous_outcome_is_never_retried_and_stops_the_run() -> None:
    world = stopped()
    assert ("ReconciliationRequired", ExecutionStatus.RECONCILIATION_REQUIRED) == (
        world.status,
        world.execution("a").status,
    )
    assert ["NodeOperationCompleted", "NodeOutcomeAmbiguous", "RunNeedsReconciliation"] == world.types()[-3:]
    assert [] == world.facts(WorkflowNodeAttemptFailed)
    assert ["no answer from the bank"] == [fact.reason for fact in world.facts(WorkflowNodeOutcomeAmbiguous)]
    world.wake(days=1)
    assert 1 == world.execution("a").attempt


@pytest.mark.behaviour("B93")
def test_reconciled_as_a_success_the_run_goes_on_through_that_outlet_and_the_actor_is_kept() -> None:
    world = stopped()
    tail = world.state.tail
    world.reconcile("a", {"paid": True}, actor="anna")
    assert {"paid": True} == world.input("b")["nodes"]["a"]
    assert ["NodeReconciled", "NodeSucceeded", "NodeInputPinned", "NodeScheduled"] == world.types(tail)
    [chosen] = world.facts(WorkflowNodeReconciled)
    assert ("anna", "succeeded", "next") == (chosen.actor, chosen.outcome.status, chosen.outcome.outlet)


@pytest.mark.behaviour("B94")
@pytest.mark.parametrize("routed", (True, False))
def test_reconciled_as_a_failure_it_is_routed_like_an_error_and_not_retried(routed: bool) -> None:
    world = stopped(edges=("a.failed>b",) if routed else ())
    world.reconcile("a", Failed("the bank says no", "E1"), actor="anna")
    [failed] = world.facts(WorkflowNodeFailed)
    assert (FailureKind.ERROR, "the bank says no", "E1") == (failed.kind, failed.reason, failed.code)
    assert ("failed" if routed else None) == failed.outlet
    assert [] == world.facts(WorkflowNodeAttemptFailed), "an ambiguous outcome is no failed attempt"
    assert ("Running" if routed else "Failed") == world.status


@pytest.mark.behaviour("B95")
def test_reconciled_as_skipped_the_path_ends() -> None:
    world = stopped()
    world.reconcile("a", Skipped("nothing was sent"))
    assert ("Succeeded", ExecutionStatus.SKIPPED) == (world.status, world.execution("a").status)


@pytest.mark.parametrize(
    ("outcome", "why"),
    (
        (Ambiguous("still"), "not ambiguous"),
        (Suspended("k"), "not suspended"),
        (Succeeded("nowhere"), "no outlet 'nowhere'; it declares 'next', 'failed'"),
        (Succeeded(output=object()), "cannot be taken"),
        (Succeeded(output="x" * 40_000), "32,768"),
    ),
)
def test_what_cannot_be_chosen_is_refused_and_the_run_stays_stopped(outcome: object, why: str) -> None:
    world = stopped()
    with pytest.raises(Refused, match=why):
        world.reconcile("a", outcome)
    assert "ReconciliationRequired" == world.status


def test_only_an_open_ambiguity_is_reconciled() -> None:
    world = stopped(signal_wait("w"), action("c"))
    for name in ("start", "w", "c"):
        with pytest.raises(Refused, match="only an execution that is ReconciliationRequired"):
            world.reconcile(name, {})
    with pytest.raises(NotFound):
        world.tell(ReconcileExecution("no-such-execution", receipt_of({})))
    world.reconcile("a", {})
    with pytest.raises(Refused, match="is Succeeded"):
        world.reconcile("a", {})


# --- while the run is stopped -----------------------------------------------------------------------------------------


@pytest.mark.behaviour("B96")
def test_while_the_run_is_stopped_nothing_is_scheduled() -> None:
    world = stopped(action("c"), edges=("c.next>d",), later=(action("d"),))
    scheduled = world.facts(WorkflowNodeScheduled)
    world.answer("c", {"n": 1})
    assert ExecutionStatus.PENDING is world.execution("d").status
    world.wake(days=1)
    assert scheduled == world.facts(WorkflowNodeScheduled)
    world.reconcile("a", {})
    assert {("b", None), ("d", None)} == set(world.scheduled())


@pytest.mark.behaviour("B96")
def test_while_the_run_is_stopped_no_retry_is_due() -> None:
    world = beside(action("c", policy=tries(2)))
    world.answer("c", Failed("no"))
    world.answer("a", Ambiguous("?"))
    world.wake(minutes=5)
    assert ExecutionStatus.RETRY_PENDING is world.execution("c").status
    world.reconcile("a", {})
    assert [("c", None), ("b", None)] == world.scheduled(), "what became due meanwhile is due now"


@pytest.mark.behaviour("B96")
@pytest.mark.parametrize("wait", (timer("c"), approval("c", expiresAfter="00:01:00")))
def test_while_the_run_is_stopped_no_wait_expires(wait: dict[str, Any]) -> None:
    world = stopped(wait)
    world.wake(minutes=5)
    assert ExecutionStatus.WAITING is world.execution("c").status
    world.reconcile("a", {})
    assert ExecutionStatus.SUCCEEDED is world.execution("c").status, "what became due meanwhile closes now"
    assert wait["outlets"][-1] == world.execution("c").outlet


def test_while_the_run_is_stopped_waits_are_resolved_and_routed() -> None:
    edges = ("c.approved>d", "w.resumed>t")
    world = stopped(approval("c"), signal_wait("w"), edges=edges, later=(action("d"), timer("t")))
    world.resolve("c", "approved", actor="bob")
    assert 1 == world.signal("paid@1")
    assert 2 == len(world.facts(WorkflowWaitResolved))
    assert ExecutionStatus.PENDING is world.execution("d").status
    assert ExecutionStatus.WAITING is world.execution("t").status
    assert "ReconciliationRequired" == world.status


def test_while_the_run_is_stopped_answers_in_flight_are_recorded_and_routed() -> None:
    """Arrivals, waits that open, fan-outs and joins go on."""
    world = stopped(
        action("c"),
        edges=("c.next>fan", "fan.each>w", "w.resumed>gather", "gather.completed>after"),
        later=(for_each(), signal_wait("w"), join(), action("after")),
    )
    world.answer("c", {"n": 1})
    assert {"k1": "Waiting", "k2": "Waiting"} == world.statuses("w")
    world.signal("paid@1")
    assert ExecutionStatus.SUCCEEDED is world.execution("gather").status
    assert ExecutionStatus.PENDING is world.execution("after").status
    assert [] == world.scheduled()
    world.reconcile("a", {})
    assert {("b", None), ("after", None)} == set(world.scheduled())


def test_while_the_run_is_stopped_a_suspension_opens_its_wait() -> None:
    world = stopped(action("c"))
    world.answer("c", Suspended("k"))
    assert "completion" == world.wait("c").kind
    world.complete("c", {"n": 1})
    assert {"n": 1} == world.output("c")


def test_while_the_run_is_stopped_a_timeout_is_recorded_and_nothing_is_handed_out_again() -> None:
    world = stopped(action("c", policy=tries(2, retryDelay="00:00:00")))
    world.time_out("c")
    assert [DAWN] == [fact.retry_due for fact in world.facts(WorkflowNodeAttemptFailed)]
    assert ExecutionStatus.RETRY_PENDING is world.execution("c").status
    world.reconcile("a", {})
    assert (2, ExecutionStatus.SCHEDULED) == (world.execution("c").attempt, world.execution("c").status)


def test_while_the_run_is_stopped_a_loss_is_recorded_and_nothing_is_handed_out_again() -> None:
    world = stopped(action("c"))
    world.lose("c", losses=1)
    assert [("c", 1, DAWN)] == [(f.execution.node, f.attempt, f.retry_due) for f in world.facts(WorkflowJobStopped)]
    assert [] == world.scheduled()
    world.wake(minutes=1)
    assert [] == world.scheduled()
    world.reconcile("a", {})
    assert (1, ExecutionStatus.SCHEDULED) == (world.execution("c").attempt, world.execution("c").status)


def test_while_the_run_is_stopped_a_third_loss_fails_the_attempt() -> None:
    world = stopped(action("c"))
    world.lose("c", losses=3)
    assert ExecutionStatus.FAILED is world.execution("c").status


def test_while_the_run_is_stopped_a_stopped_job_waits_too() -> None:
    world = stopped(action("c"))
    world.stop("c")
    world.wake(hours=1)
    assert [] == world.scheduled()
    world.reconcile("a", {})
    assert ("c", None) in world.scheduled()


# --- several at once, and one after another ---------------------------------------------------------------------------


def test_of_two_open_ambiguities_the_last_to_be_settled_lets_the_run_go_on() -> None:
    world = stopped(action("c"), edges=("c.next>d",), later=(action("d"),))
    world.answer("c", Ambiguous("?"))
    assert 2 == len(world.facts(WorkflowNodeOutcomeAmbiguous))
    assert ["a"] == [fact.execution.node for fact in world.facts(WorkflowRunNeedsReconciliation)]
    world.reconcile("c", {})
    assert ("ReconciliationRequired", ExecutionStatus.PENDING) == (world.status, world.execution("d").status)
    world.reconcile("a", {})
    assert {("d", None), ("b", None)} == set(world.scheduled())


def test_each_stop_is_told_once() -> None:
    given = chain(action("a"), action("b"), action("c"))
    world = World.start(given)
    for name in "abc":
        world.answer(name, Ambiguous("?"))
        world.reconcile(name, {})
    stops = [fact.execution.node for fact in world.facts(WorkflowRunNeedsReconciliation)]
    assert ["a", "b", "c"] == stops
    assert "Succeeded" == world.status


def test_a_reconciled_outcome_may_lead_to_the_next_stop() -> None:
    given = single(action("a", policy={"maxVisits": 2}), edges=("a.next>a",))
    world = World.start(given)
    world.answer("a", Ambiguous("?"))
    world.reconcile("a", {})
    world.time_out("a", effect="once")
    assert "ReconciliationRequired" == world.status
    assert 2 == len(world.facts(WorkflowRunNeedsReconciliation))


def test_what_was_due_while_the_run_was_stopped_closes_in_its_order_each_settled_before_the_next() -> None:
    world = stopped(timer("t1", "00:02:00"), timer("t2", "00:01:00"), edges=("t2.elapsed>c",), later=(action("c"),))
    world.wake(hours=1)
    tail = world.state.tail
    world.reconcile("a", Skipped("no"))
    assert [
        "NodeReconciled",
        "NodeSkipped",
        "WaitResolved",
        "NodeSucceeded",
        "WaitResolved",
        "NodeSucceeded",
    ] == [each for each in world.types(tail) if each not in ("NodeInputPinned", "NodeScheduled")]
    assert ["t2", "t1"] == [fact.execution.node for fact in world.facts(WorkflowWaitResolved)]


def test_an_ambiguous_execution_holds_no_slot_when_the_run_goes_on() -> None:
    world = World.start(gathered(action("x"), action("y"), bound=1), lines("k1", "k2"))
    world.answer("x", Ambiguous("?"), key="k1")
    world.now += timedelta(minutes=1)
    assert [] == world.scheduled()
    world.reconcile("x", {}, key="k1")
    assert [("y", "k1")] == world.scheduled()
