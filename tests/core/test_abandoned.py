"""What becomes of the branches that a join did not wait for (semantics 1.12, 2.8)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from orchestrator.core.data import EMPTY
from orchestrator.core.decide.commands import AnswerAttempt, ResolveWait
from orchestrator.core.effects import effects
from orchestrator.core.facts import (
    WorkflowBranchesJoined,
    WorkflowJobStopped,
    WorkflowNodeAttemptFailed,
    WorkflowNodeFailed,
    WorkflowNodeSucceeded,
    WorkflowWaitCancelled,
    WorkflowWaitOpened,
)
from orchestrator.core.outcomes import Ambiguous, Failed, FailureKind, Skipped, Succeeded, Suspended, receipt_of
from orchestrator.core.state import ExecutionStatus
from orchestrator.errors import WaitClosed
from tests.core.graphs import approval, gathered, lines, signal_wait, timer, tries
from tests.core.world import World
from tests.definitions import action, node, visits


def fired_early(*claimed: str, given: dict[str, Any] | None = None, keys: str = "abc") -> World:
    """A join in mode any, fired by the last item, while workers hold `x` in the claimed branches."""
    world = World.start(given or gathered(action("x", policy=tries(3)), action("y"), mode="any"), lines(*keys))
    for key in claimed:
        world.claim("x", key=key)
    world.answer("x", {"n": 1}, key=keys[-1])
    world.answer("y", {"n": 2}, key=keys[-1])
    assert 1 == len(world.facts(WorkflowBranchesJoined))
    return world


def told(world: World) -> dict[str, str]:
    """What the join says of each branch."""
    return {key: branch["status"] for key, branch in world.output("gather").items()}


@pytest.mark.behaviour("B83")
def test_branches_that_have_not_started_never_start() -> None:
    world = World.start(gathered(action("x"), mode="any", bound=1), lines("a", "b", "c"))
    world.answer("x", key="a")
    assert {"a": "Succeeded", "b": "Cancelled", "c": "Cancelled"} == world.statuses("x")
    assert {"a": "succeeded", "b": "cancelled", "c": "cancelled"} == told(world)
    world.answer("after")
    assert "Succeeded" == world.status


def test_a_branch_that_was_not_waited_for_is_cancelled_with_nulls_whatever_it_had_done() -> None:
    world = World.start(gathered(action("x"), action("y"), mode="any"), lines("a", "b"))
    world.answer("x", {"done": True}, key="a")
    world.answer("x", key="b")
    world.answer("y", {"n": 1}, key="b")
    assert {"key": "a", "status": "cancelled", "outlet": None, "output": None} == world.output("gather")["a"]


def test_branches_that_had_ended_before_keep_what_they_were() -> None:
    world = World.start(gathered(action("x"), mode="any"), lines("a", "b", "c"))
    world.answer("x", Failed("no"), key="a")
    world.answer("x", Skipped("no"), key="c")
    assert {"a": "failed", "b": "cancelled", "c": "skipped"} == told(world)


def test_what_nobody_has_claimed_is_called_off() -> None:
    world = fired_early("b")
    [joined] = world.facts(WorkflowBranchesJoined)
    assert (world.execution("x", "a").ref.id,) == joined.called_off
    assert {"a": "Cancelled", "b": "Scheduled", "c": "Succeeded"} == world.statuses("x")
    assert False is world.answer("x", key="a")


def test_what_is_handed_out_and_abandoned_in_one_go_is_called_off_too() -> None:
    """The claim that the store knows is that of the attempt before."""
    given = gathered(action("x", policy=tries(2, retryDelay="00:00:00")), mode="any")
    world = World.start(given, lines("a", "b"))
    world.claim("x", key="a")
    world.claim("x", key="b")
    one, other = (world.execution("x", key).ref.id for key in "ab")
    world.tell(AnswerAttempt(one, 1, receipt_of(Failed("no"))), AnswerAttempt(other, 1, receipt_of({})))
    assert {"a": "Cancelled", "b": "Succeeded"} == world.statuses("x")
    assert [("after", None)] == world.scheduled()


def test_a_retry_that_waits_is_cancelled_and_its_timer_is_cleared() -> None:
    world = World.start(gathered(action("x", policy=tries(2)), mode="any"), lines("a", "b"))
    world.answer("x", Failed("no"), key="a")
    world.answer("x", key="b")
    assert {"a": "Cancelled", "b": "Succeeded"} == world.statuses("x")
    assert {} == world.timers
    world.wake(days=1)
    assert [("after", None)] == world.scheduled()


def test_a_retry_that_is_decided_and_abandoned_in_one_go_leaves_no_timer() -> None:
    world = World.start(gathered(action("x", policy=tries(2)), mode="any"), lines("a", "b"))
    one, other = (world.execution("x", key).ref.id for key in "ab")
    world.tell(AnswerAttempt(one, 1, receipt_of(Failed("no"))), AnswerAttempt(other, 1, receipt_of({})))
    assert {} == world.timers
    assert None is effects(world.told[-1].facts, world.state).timers[one]


@pytest.mark.behaviour("B83")
@pytest.mark.parametrize("wait", (signal_wait("w"), approval("w", expiresAfter="00:01:00"), timer("w", "00:01:00")))
def test_open_waits_are_withdrawn(wait: dict[str, Any]) -> None:
    given = gathered(
        node("d", "decision", "wait", "go"),
        wait,
        mode="any",
        edges=("fan.each>d", "d.wait>w", "d.go>gather", f"w.{wait['outlets'][0]}>gather"),
    )
    world = World.start(given, lines("a", "b", "c"))
    world.answer("d", Succeeded("wait"), key="a")
    world.answer("d", Succeeded("wait"), key="b")
    waits = [world.wait("w", key).id for key in "ab"]
    world.answer("d", Succeeded("go"), key="c")
    assert waits == [fact.wait_id for fact in world.facts(WorkflowWaitCancelled)]
    assert {"a": "Cancelled", "b": "Cancelled"} == world.statuses("w")
    assert {} == world.timers
    assert 0 == world.signal("paid@1")
    with pytest.raises(WaitClosed, match="withdrawn"):
        world.tell(ResolveWait(waits[0], wait["outlets"][0], EMPTY))


def test_of_timers_that_are_due_together_the_first_fires_the_join_and_the_others_are_withdrawn() -> None:
    world = World.start(gathered(timer("t", "00:01:00"), mode="any"), lines("a", "b", "c"))
    tail = world.state.tail
    world.wake(minutes=1)
    assert ["WaitResolved", "NodeSucceeded", "BranchesJoined", "WaitCancelled", "WaitCancelled"] == world.types(tail)[
        :5
    ]
    assert {"a": "Succeeded", "b": "Cancelled", "c": "Cancelled"} == world.statuses("t")


def test_a_suspended_node_is_withdrawn() -> None:
    world = World.start(gathered(action("x"), mode="any"), lines("a", "b"))
    world.answer("x", Suspended("s"), key="a")
    world.answer("x", key="b")
    assert ["the join fired without this branch"] == [fact.reason for fact in world.facts(WorkflowWaitCancelled)]
    assert ExecutionStatus.CANCELLED is world.execution("x", "a").status


def test_of_branches_that_one_signal_resumed_the_first_fires_the_join_and_the_others_move_nothing() -> None:
    world = World.start(gathered(signal_wait("w"), action("x", "failed"), mode="any", edges=_RESUMED), lines("a", "b"))
    assert 2 == world.signal("paid@1", {"n": 1})
    assert {"a": "succeeded", "b": "cancelled"} == told(world)
    assert {"a": "Succeeded", "b": "Succeeded"} == world.statuses("w"), "both were resolved, which stands"
    assert [] == world.executions("x", "b")


_RESUMED = ("fan.each>w", "w.resumed>gather", "w.cancelled>x")


@pytest.mark.behaviour("B84")
def test_an_attempt_that_runs_may_answer_is_recorded_and_moves_nothing() -> None:
    world = fired_early("a")
    world.answer("after")
    assert "Running" == world.status, "the run does not finish before it has answered"
    assert True is world.answer("x", {"late": True}, key="a")
    assert (ExecutionStatus.SUCCEEDED, {"late": True}) == (world.execution("x", "a").status, world.output("x", "a"))
    assert [] == world.executions("y", "a")
    assert 1 == len(world.facts(WorkflowBranchesJoined))
    assert "cancelled" == told(world)["a"]
    assert "Succeeded" == world.status


def test_nobody_sees_what_an_abandoned_branch_answered() -> None:
    world = fired_early("a")
    world.answer("x", {"late": True}, key="a")
    assert "x" not in world.input("after")["nodes"]


FAILING: dict[str, tuple[Callable[[World], bool], FailureKind]] = {
    "an error": (lambda world: world.answer("x", Failed("no"), key="a"), FailureKind.ERROR),
    "an outlet": (lambda world: world.answer("x", Succeeded("nowhere"), key="a"), FailureKind.INVALID_OUTLET),
    "a timeout": (lambda world: world.time_out("x", key="a"), FailureKind.TIMED_OUT),
    "a third loss": (lambda world: world.lose("x", losses=3, key="a"), FailureKind.ERROR),
}


@pytest.mark.parametrize("case", FAILING)
def test_a_failure_there_is_for_good_with_outlet_none_and_never_retried(case: str) -> None:
    happens, kind = FAILING[case]
    given = gathered(
        action("x", "failed", policy=tries(3)),
        action("y"),
        action("z"),
        mode="any",
        edges=("fan.each>x", "x.next>y", "y.next>gather", "x.failed>z"),
    )
    world = fired_early("a", given=given)
    assert True is happens(world)
    [failed] = world.facts(WorkflowNodeFailed)
    assert (kind, None) == (failed.kind, failed.outlet)
    assert [None] == [fact.retry_due for fact in world.facts(WorkflowNodeAttemptFailed)]
    assert ExecutionStatus.FAILED is world.execution("x", "a").status
    world.answer("after")
    assert "Succeeded" == world.status, "a failure of a branch never fails the run"


def test_skipped_there_is_skipped() -> None:
    world = fired_early("a")
    world.answer("x", Skipped("no"), key="a")
    assert ExecutionStatus.SKIPPED is world.execution("x", "a").status


def test_suspended_there_is_cancelled() -> None:
    world = fired_early("a")
    assert True is world.answer("x", Suspended("s"), key="a")
    assert ExecutionStatus.CANCELLED is world.execution("x", "a").status
    assert [] == world.facts(WorkflowWaitOpened)
    world.answer("after")
    assert "Succeeded" == world.status


def test_ambiguous_there_still_stops_the_run() -> None:
    world = fired_early("a")
    world.answer("x", Ambiguous("?"), key="a")
    assert "ReconciliationRequired" == world.status
    world.reconcile("x", {"n": 1}, key="a", actor="anna")
    assert ExecutionStatus.SUCCEEDED is world.execution("x", "a").status
    assert [] == world.executions("y", "a"), "recorded, and moves nothing"
    assert [("after", None)] == world.scheduled()


@pytest.mark.parametrize("outcome", (Failed("no"), Skipped("no")))
def test_reconciled_there_as_failure_or_skip_moves_nothing(outcome: object) -> None:
    world = fired_early("a")
    world.answer("x", Ambiguous("?"), key="a")
    world.reconcile("x", outcome, key="a")
    assert [None] * isinstance(outcome, Failed) == [fact.outlet for fact in world.facts(WorkflowNodeFailed)]
    world.answer("after")
    assert "Succeeded" == world.status


def test_an_effect_that_happens_once_is_in_doubt_there_too() -> None:
    world = fired_early("a")
    world.time_out("x", key="a", effect="once")
    assert "ReconciliationRequired" == world.status


@pytest.mark.parametrize("happens", ("stop", "lose"))
def test_what_was_stopped_or_lost_there_is_not_handed_out_again(happens: str) -> None:
    world = fired_early("a")
    assert True is getattr(world, happens)("x", key="a")
    assert ExecutionStatus.CANCELLED is world.execution("x", "a").status
    assert [None] == [fact.retry_due for fact in world.facts(WorkflowJobStopped)]
    assert {} == world.timers
    world.answer("after")
    assert "Succeeded" == world.status


def test_a_reconciled_skip_of_a_branch_may_fire_the_join() -> None:
    world = World.start(gathered(action("x"), action("y"), mode="any", bound=2), lines("a", "b", "c"))
    world.answer("x", Ambiguous("?"), key="a")
    world.answer("x", key="b")
    assert "ReconciliationRequired" == world.status
    assert [] == world.scheduled(), "nothing is scheduled while the run is stopped"
    world.reconcile("x", Skipped("nothing happened"), key="a")
    assert [("after", None)] == world.scheduled(), "the skipped branch fired the join"
    assert {"a": "skipped", "b": "cancelled", "c": "cancelled"} == told(world)


def test_a_join_may_fire_early_while_the_run_is_stopped() -> None:
    world = World.start(gathered(action("x"), mode="any"), lines("a", "b", "c"))
    world.answer("x", Ambiguous("?"), key="a")
    world.answer("x", {"n": 1}, key="b")
    assert {"a": "cancelled", "b": "succeeded", "c": "cancelled"} == told(world)
    assert "ReconciliationRequired" == world.status
    assert ExecutionStatus.RECONCILIATION_REQUIRED is world.execution("x", "a").status
    world.reconcile("x", {}, key="a")
    world.answer("after")
    assert "Succeeded" == world.status


def test_parallel_paths_of_an_abandoned_branch_are_all_given_up() -> None:
    given = gathered(
        action("x"),
        action("y"),
        signal_wait("w"),
        mode="any",
        edges=("fan.each>x", "fan.each>y", "fan.each>w", "x.next>gather", "y.next>gather", "w.resumed>gather"),
    )
    world = World.start(given, lines("a", "b"))
    world.claim("x", key="a")
    for name in ("x", "y"):
        world.answer(name, key="b")
    world.resolve("w", "resumed", key="b")
    assert "Scheduled" == world.statuses("x")["a"]
    assert "Cancelled" == world.statuses("y")["a"] == world.statuses("w")["a"]


def test_the_next_fan_out_of_the_same_for_each_is_not_touched() -> None:
    given = gathered(
        action("x"),
        fan={"policy": visits(2)},
        gather={"policy": visits(2), "outlets": ["completed"]},
        mode="any",
        edges=("fan.each>x", "x.next>gather", "gather.completed>fan"),
    )
    given["graph"]["nodes"][4]["policy"] = visits(2)
    world = World.start(given, lines("a", "b"))
    world.claim("x", key="b")
    world.answer("x", key="a")
    assert [("x", "b"), ("after", None), ("x", "a"), ("x", "b")] == world.scheduled()[:1] + sorted(
        world.scheduled()[1:], key=lambda work: work[1] or ""
    )


def test_successes_of_abandoned_branches_have_their_facts() -> None:
    world = fired_early("a")
    world.answer("x", {"late": True}, key="a")
    last = world.facts(WorkflowNodeSucceeded)[-1]
    assert ("x", "next") == (last.execution.node, last.outlet)
