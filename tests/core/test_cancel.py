"""Cancelling: in every live status, once, and nothing after it (semantics 2.4)."""

from __future__ import annotations

from typing import Any

import pytest

from orchestrator.core.data import EMPTY
from orchestrator.core.decide.commands import CompleteWait, ReconcileExecution, ResolveWait
from orchestrator.core.facts import (
    WorkflowNodeSucceeded,
    WorkflowNodesUnreachable,
    WorkflowRunCancelled,
    WorkflowWaitCancelled,
)
from orchestrator.core.outcomes import Ambiguous, Failed, Suspended, receipt_of
from orchestrator.core.state import ExecutionStatus
from orchestrator.errors import Refused, WaitClosed
from tests.core.graphs import approval, chain, gathered, lines, signal_wait, timer, tries
from tests.core.world import World
from tests.definitions import START, action, document


def busy() -> World:
    """A run with everything in flight: waits of every kind, work, a retry, pending branches and a suspension."""
    given = gathered(
        action("x", policy=tries(2)),
        bound=1,
        edges=(
            "fan.each>x",
            "x.next>gather",
            *(f"start.next>{name}" for name in ("w", "ok", "t", "a", "s", "r", "d")),
        ),
        others=[
            signal_wait("w"),
            approval("ok"),
            timer("t"),
            action("a"),
            action("s"),
            action("r", policy=tries(2)),
            action("d"),
        ],
    )
    world = World.start(given, lines("k1", "k2", "k3"))
    world.answer("s", Suspended("key"))
    world.answer("r", Failed("no"))
    return world


@pytest.mark.behaviour("B90")
def test_cancelling_withdraws_waits_and_cancels_what_is_live() -> None:
    world = busy()
    before = {e.ref.id: e for e in world.state.executions.values()}
    tail = world.state.tail
    world.cancel("anna", "not needed any more")
    assert "Cancelled" == world.status
    assert [*["WaitCancelled"] * 4, "RunCancelled"] == world.types(tail)
    withdrawn = world.facts(WorkflowWaitCancelled)
    assert ["w", "ok", "t", "s"] == [fact.execution.node for fact in withdrawn]
    assert {"the run was cancelled"} == {fact.reason for fact in withdrawn}
    for id, execution in before.items():
        expected = execution.status if execution.status.final else ExecutionStatus.CANCELLED
        assert expected is world.state.executions[id].status
    assert ({}, {}) == (world.owed, world.timers)
    [end] = world.facts(WorkflowRunCancelled)
    assert ("anna", "not needed any more") == (end.actor, end.reason)


@pytest.mark.behaviour("B90")
def test_after_a_cancel_answers_are_late_and_waits_are_closed() -> None:
    world = busy()
    waits = [world.wait(name).id for name in ("w", "ok", "t", "s")]
    world.cancel()
    tail = world.state.tail
    assert False is world.answer("a")
    assert False is world.answer("x", key="k1")
    assert False is world.time_out("d", effect="once")
    for wait in waits[:3]:
        with pytest.raises(WaitClosed, match="withdrawn"):
            world.tell(ResolveWait(wait, "approved", EMPTY))
    with pytest.raises(WaitClosed, match="withdrawn"):
        world.tell(CompleteWait(waits[3], receipt_of({})))
    assert 0 == world.signal("paid@1")
    assert tail == world.state.tail


@pytest.mark.behaviour("B91")
def test_cancelling_twice_changes_nothing() -> None:
    world = busy()
    world.cancel("anna")
    tail = world.state.tail
    world.cancel("bob")
    assert tail == world.state.tail
    assert ["anna"] == [fact.actor for fact in world.facts(WorkflowRunCancelled)]


@pytest.mark.behaviour("B91")
@pytest.mark.parametrize(("outcome", "status"), (({}, "Succeeded"), (Failed("no"), "Failed")))
def test_cancelling_after_the_end_changes_nothing(outcome: object, status: str) -> None:
    world = World.start(chain(action("a")))
    world.answer("a", outcome)
    world.cancel()
    assert status == world.status


def test_no_outlet_is_taken_and_nothing_is_told_of_unreachable_nodes() -> None:
    world = World.start(document(START, signal_wait("w"), action("a"), edges=("start.next>w", "w.cancelled>a")))
    world.cancel()
    assert [] == world.executions("a")
    assert None is world.execution("w").outlet
    assert [] == world.facts(WorkflowNodesUnreachable)
    assert ["start"] == [fact.execution.node for fact in world.facts(WorkflowNodeSucceeded)]


@pytest.mark.parametrize("outcome", (None, Failed("no"), Ambiguous("?"), Suspended("k")))
def test_a_run_is_cancelled_in_every_live_status(outcome: Any) -> None:
    world = World.start(chain(action("a", policy=tries(2)), action("b")))
    if outcome is not None:
        world.answer("a", outcome)
    world.cancel()
    assert ("Cancelled", ExecutionStatus.CANCELLED) == (world.status, world.execution("a").status)


def test_an_ambiguity_of_a_cancelled_run_cannot_be_reconciled() -> None:
    world = World.start(chain(action("a")))
    world.answer("a", Ambiguous("?"))
    world.cancel()
    with pytest.raises(Refused, match="is Cancelled"):
        world.tell(ReconcileExecution(world.execution("a").ref.id, receipt_of({})))


def test_a_cancelled_run_keeps_what_was_done() -> None:
    world = World.start(chain(action("a"), action("b")))
    world.answer("a", {"n": 1})
    world.cancel()
    assert {"n": 1} == world.output("a")
    assert world.now == world.snapshot().ended_at


def test_a_retry_that_waited_is_gone() -> None:
    world = World.start(chain(action("a", policy=tries(2))))
    world.answer("a", Failed("no"))
    world.cancel()
    assert None is world.execution("a").retry_due
    world.wake(days=1)
    assert "Cancelled" == world.status
