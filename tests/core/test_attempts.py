"""What becomes of attempts: answered, failed and retried, timed out, lost, stopped, late (semantics 1.10, 2.2, 2.8)."""

from __future__ import annotations

from datetime import timedelta

import pytest

from orchestrator.core.decide.commands import AnswerAttempt, LoseAttempt, StopAttempt, TimeOutAttempt
from orchestrator.core.decide.decision import decide
from orchestrator.core.facts import (
    WorkflowJobStopped,
    WorkflowNodeAttemptFailed,
    WorkflowNodeFailed,
    WorkflowNodeOperationCompleted,
    WorkflowNodeOutcomeAmbiguous,
    WorkflowNodeScheduled,
)
from orchestrator.core.outcomes import (
    Ambiguous,
    Failed,
    FailureKind,
    Skipped,
    Succeeded,
    receipt_of,
    receipt_of_exception,
)
from orchestrator.core.state import ExecutionStatus
from tests.core.graphs import chain, gathered, lines, single, tries
from tests.core.world import DAWN, World
from tests.definitions import START, action, document, visits


def attempts(world: World, node: str = "a") -> list[int]:
    """The numbers of the attempts that were scheduled, in order."""
    return [fact.attempt for fact in world.facts(WorkflowNodeScheduled) if fact.execution.node == node]


# --- retries ----------------------------------------------------------------------------------------------------------


@pytest.mark.behaviour("B36")
def test_two_errors_and_a_success_are_three_calls_with_one_idempotency_key() -> None:
    world = World.start(single(action("a", policy=tries(3))))
    for _ in range(2):
        world.answer("a", Failed("not yet"))
        world.wake(seconds=30)
    world.answer("a", {"done": True})
    assert "Succeeded" == world.status
    scheduled = world.facts(WorkflowNodeScheduled)
    assert [1, 2, 3] == [fact.attempt for fact in scheduled]
    assert 1 == len({fact.execution.id for fact in scheduled})


@pytest.mark.behaviour("B37")
def test_a_retry_starts_no_earlier_than_its_delay_after_the_failure() -> None:
    world = World.start(single(action("a", policy=tries(2, retryDelay="00:00:30"))))
    world.wake(seconds=7)
    world.answer("a", Failed("no"))
    assert DAWN + timedelta(seconds=37) == world.execution("a").retry_due
    assert ExecutionStatus.RETRY_PENDING is world.execution("a").status
    assert "Running" == world.status
    world.wake(seconds=29, microseconds=999_999)
    assert [] == world.scheduled()
    world.wake(microseconds=1)
    assert [("a", None)] == world.scheduled()
    assert None is world.execution("a").retry_due


def test_a_retry_without_delay_is_due_at_once() -> None:
    world = World.start(single(action("a", policy=tries(2, retryDelay="00:00:00"))))
    world.answer("a", Failed("no"))
    assert [1, 2] == attempts(world)


def test_each_retry_is_due_the_same_delay_after_its_failure() -> None:
    world = World.start(single(action("a", policy=tries(3, retryDelay="00:10:00"))))
    world.answer("a", Failed("no"))
    world.wake(hours=5)
    world.answer("a", Failed("no"))
    assert DAWN + timedelta(hours=5, minutes=10) == world.execution("a").retry_due


@pytest.mark.behaviour("B38")
def test_with_the_default_policy_there_is_no_retry() -> None:
    world = World.start(single(action("a", "failed"), action("b"), edges=("a.failed>b",)))
    world.answer("a", Failed("no"))
    assert [1] == attempts(world)
    assert [("b", None)] == world.scheduled()
    assert ["NodeOperationCompleted", "NodeAttemptFailed", "NodeFailed"] == world.types()[4:7]


def test_the_last_attempt_has_its_failure_too_with_no_retry_due() -> None:
    world = World.start(single(action("a", policy=tries(2, retryDelay="00:00:00"))))
    world.answer("a", Failed("one"))
    world.answer("a", Failed("two"))
    told = [(f.attempt, f.reason, f.retry_due) for f in world.facts(WorkflowNodeAttemptFailed)]
    assert [(1, "one", DAWN), (2, "two", None)] == told
    assert ["two"] == [fact.reason for fact in world.facts(WorkflowNodeFailed)]


def test_a_failure_that_is_not_retryable_is_for_good_with_attempts_left() -> None:
    world = World.start(single(action("a", policy=tries(5))))
    world.answer("a", Failed("never", retryable=False))
    assert "Failed" == world.status


@pytest.mark.behaviour("B39")
def test_raising_is_an_error_and_retried() -> None:
    world = World.start(single(action("a", policy=tries(2))))
    world.tell(AnswerAttempt(world.execution("a").ref.id, 1, receipt_of_exception(RuntimeError("boom"))))
    [failed] = world.facts(WorkflowNodeAttemptFailed)
    assert (FailureKind.ERROR, "RuntimeError: boom") == (failed.kind, failed.reason)
    assert ExecutionStatus.RETRY_PENDING is world.execution("a").status


@pytest.mark.behaviour("B42")
@pytest.mark.parametrize("outcome", (Succeeded("nowhere"), Succeeded(output=object())))
def test_an_unusable_answer_is_not_retried_with_attempts_left(outcome: object) -> None:
    world = World.start(single(action("a", policy=tries(3))))
    world.answer("a", outcome)
    assert [1] == attempts(world)
    assert ExecutionStatus.FAILED is world.execution("a").status


def test_attempts_are_counted_per_execution() -> None:
    given = single(action("a", policy=tries(2, retryDelay="00:00:00", maxVisits=2)), edges=("a.next>a",))
    world = World.start(given)
    world.answer("a", Failed("no"))
    world.answer("a")
    world.answer("a", Failed("no"))
    assert [1, 2, 1, 2] == attempts(world)


# --- timeouts ---------------------------------------------------------------------------------------------------------


@pytest.mark.behaviour("B40")
def test_a_timeout_is_retried_while_attempts_remain() -> None:
    world = World.start(single(action("a", "failed", policy=tries(2, attemptTimeout="00:02:00")), edges=()))
    world.time_out("a")
    [failed] = world.facts(WorkflowNodeAttemptFailed)
    assert (FailureKind.TIMED_OUT, DAWN + timedelta(seconds=30)) == (failed.kind, failed.retry_due)
    assert "attempt 1 did not answer within 00:02:00" == failed.reason
    world.wake(seconds=30)
    world.time_out("a")
    [failed] = world.facts(WorkflowNodeFailed)
    assert (FailureKind.TIMED_OUT, None) == (failed.kind, failed.outlet)
    assert [] == world.facts(WorkflowNodeOperationCompleted)


def test_a_timeout_for_good_leaves_through_failed_and_never_through_fallback() -> None:
    given = single(action("a", "failed", "fallback"), action("b"), action("c"), edges=("a.failed>b", "a.fallback>c"))
    world = World.start(given)
    world.time_out("a")
    assert [("b", None)] == world.scheduled()


@pytest.mark.behaviour("B41")
def test_a_success_after_the_timeout_is_ignored() -> None:
    world = World.start(single(action("a", policy=tries(2))))
    world.time_out("a")
    tail = world.state.tail
    assert False is world.answer("a", {"late": True}, attempt=1)
    world.wake(seconds=30)
    assert False is world.answer("a", {"late": True}, attempt=1)
    assert tail + 1 == world.state.tail
    assert ExecutionStatus.SCHEDULED is world.execution("a").status


@pytest.mark.parametrize("effect", ("safe", "idempotent"))
def test_safe_and_idempotent_effects_are_treated_alike(effect: str) -> None:
    world = World.start(single(action("a", policy=tries(2))))
    world.time_out("a", effect=effect)
    assert ExecutionStatus.RETRY_PENDING is world.execution("a").status


@pytest.mark.parametrize("happens", ("time_out", "lose", "stop"))
def test_of_an_effect_that_happens_once_nobody_knows_after_trouble(happens: str) -> None:
    world = World.start(single(action("a", policy=tries(5))))
    getattr(world, happens)("a", effect="once")
    assert "ReconciliationRequired" == world.status
    assert [] == world.facts(WorkflowNodeAttemptFailed, WorkflowJobStopped)
    [doubt] = world.facts(WorkflowNodeOutcomeAmbiguous)
    assert "`once`" in doubt.reason


def test_stopped_before_anybody_claimed_it_nothing_of_a_once_effect_can_have_happened() -> None:
    world = World.start(single(action("a")))
    world.stop("a", effect="once", claimed=False)
    assert ExecutionStatus.RETRY_PENDING is world.execution("a").status


# --- losses -----------------------------------------------------------------------------------------------------------


@pytest.mark.behaviour("B46")
def test_a_lost_worker_uses_up_nothing_and_is_not_recorded() -> None:
    """The same attempt is handed out again, under the next fence, which is the outbox's business."""
    world = World.start(single(action("a", policy=tries(2))))
    tail = world.state.tail
    assert True is world.lose("a", losses=1)
    assert True is world.lose("a", losses=2)
    assert tail == world.state.tail
    assert (1, ExecutionStatus.SCHEDULED) == (world.execution("a").attempt, world.execution("a").status)
    assert True is world.answer("a")


def test_the_third_loss_fails_the_attempt_which_is_retried_like_any() -> None:
    world = World.start(single(action("a", policy=tries(2))))
    world.lose("a", losses=3)
    [failed] = world.facts(WorkflowNodeAttemptFailed)
    assert (FailureKind.ERROR, DAWN + timedelta(seconds=30)) == (failed.kind, failed.retry_due)
    assert failed.reason.startswith("worker lost")
    world.wake(seconds=30)
    world.lose("a", losses=3)
    assert "Failed" == world.status


# --- stopped jobs -----------------------------------------------------------------------------------------------------


@pytest.mark.behaviour("B97")
def test_a_stopped_job_runs_again_after_the_delay_and_uses_no_attempt() -> None:
    world = World.start(single(action("a", policy=tries(1, retryDelay="00:00:30"))))
    world.stop("a")
    assert [(1, DAWN + timedelta(seconds=30))] == [(f.attempt, f.retry_due) for f in world.facts(WorkflowJobStopped)]
    assert ExecutionStatus.RETRY_PENDING is world.execution("a").status
    world.wake(seconds=29)
    assert [] == world.scheduled()
    world.wake(seconds=1)
    assert [1, 1] == attempts(world)
    world.answer("a")
    assert "Succeeded" == world.status


@pytest.mark.behaviour("B97")
def test_a_job_may_be_stopped_again_and_again() -> None:
    world = World.start(single(action("a", policy=tries(2, retryDelay="00:00:00"))))
    for _ in range(4):
        world.stop("a")
    world.answer("a", Failed("no"))
    assert [1, 1, 1, 1, 1, 2] == attempts(world)


@pytest.mark.behaviour("B97")
def test_the_answer_of_a_stopped_job_is_late() -> None:
    world = World.start(single(action("a")))
    world.stop("a")
    assert False is world.answer("a", attempt=1)
    assert False is world.time_out("a")
    assert False is world.lose("a", losses=3)


def test_a_stopped_job_frees_its_slot() -> None:
    world = World.start(gathered(action("x", policy=tries(1)), bound=1), lines("k1", "k2"))
    world.stop("x", key="k1")
    assert [("x", "k2")] == world.scheduled()


# --- late and doubled -------------------------------------------------------------------------------------------------


@pytest.mark.behaviour("B47")
@pytest.mark.behaviour("B48")
def test_the_same_answer_twice_is_recorded_once() -> None:
    world = World.start(chain(action("a"), action("b")))
    assert True is world.answer("a", {"n": 1})
    tail = world.state.tail
    assert False is world.answer("a", {"n": 2}, attempt=1)
    assert tail == world.state.tail
    assert {"n": 1} == world.output("a")
    assert 1 == len(world.facts(WorkflowNodeOperationCompleted))


@pytest.mark.behaviour("B48")
@pytest.mark.parametrize("outcome", ({}, Failed("no"), Failed("no", retryable=False), Skipped("no"), Ambiguous("?")))
@pytest.mark.parametrize("late", ({}, Failed("no"), Ambiguous("?")))
def test_after_an_answer_nothing_more_is_heard_of_its_attempt(outcome: object, late: object) -> None:
    world = World.start(single(action("a", policy=tries(2))))
    world.answer("a", outcome)
    tail = world.state.tail
    execution = world.execution("a").ref.id
    for command in (
        AnswerAttempt(execution, 1, receipt_of(late)),
        TimeOutAttempt(execution, 1, "once"),
        LoseAttempt(execution, 1, 3, "once"),
        StopAttempt(execution, 1, "once", claimed=True),
    ):
        assert False is world.tell(command)
    assert tail == world.state.tail


@pytest.mark.parametrize("attempt", (0, 2, 99))
def test_an_answer_for_an_attempt_that_never_was_is_refused(attempt: int) -> None:
    world = World.start(single(action("a", policy=tries(3))))
    assert False is world.tell(AnswerAttempt(world.execution("a").ref.id, attempt, receipt_of({})))


def test_an_answer_for_an_execution_that_nobody_knows_is_refused() -> None:
    world = World.start(single(action("a")))
    assert False is world.tell(AnswerAttempt("no-such-execution", 1, receipt_of({})))


def test_a_receipt_says_who_answered_and_since_when_it_was_claimed() -> None:
    world = World.start(single(action("a")))
    world.tell(AnswerAttempt(world.execution("a").ref.id, 1, receipt_of({"n": 1}), "worker-7", DAWN))
    [receipt] = world.facts(WorkflowNodeOperationCompleted)
    assert ("worker-7", DAWN, 1) == (receipt.worker, receipt.claimed_at, receipt.attempt)


# --- idempotency keys -------------------------------------------------------------------------------------------------


@pytest.mark.behaviour("B50")
def test_the_idempotency_key_differs_between_visits() -> None:
    world = World.start(single(action("a", policy=visits(3)), edges=("a.next>a",)))
    for _ in range(3):
        world.answer("a")
    assert 3 == len({fact.execution.id for fact in world.facts(WorkflowNodeScheduled)})


@pytest.mark.behaviour("B50")
def test_the_idempotency_key_differs_between_branches_and_runs() -> None:
    one = World.start(gathered(action("x")), lines("k1", "k2"))
    other = World.start(gathered(action("x")), lines("k1", "k2"), key="another")
    keys = [fact.execution.id for world in (one, other) for fact in world.facts(WorkflowNodeScheduled)]
    assert 4 == len(set(keys))


# --- several at once --------------------------------------------------------------------------------------------------


def test_answers_told_together_are_decided_one_after_another() -> None:
    given = document(
        START,
        action("a"),
        action("b", policy=tries(2)),
        action("c"),
        edges=("start.next>a", "start.next>b", "a.next>c"),
    )
    world = World.start(given)
    one, other = world.execution("a").ref.id, world.execution("b").ref.id
    tail = world.state.tail
    world.tell(AnswerAttempt(one, 1, receipt_of({})), AnswerAttempt(other, 1, receipt_of(Failed("no"))))
    assert [
        "NodeOperationCompleted",
        "NodeSucceeded",
        "NodeInputPinned",
        "NodeScheduled",
        "NodeOperationCompleted",
        "NodeAttemptFailed",
    ] == world.types(tail)


def test_of_two_answers_for_one_attempt_in_one_go_the_first_counts() -> None:
    world = World.start(single(action("a")))
    id = world.execution("a").ref.id
    answers = [AnswerAttempt(id, 1, receipt_of({"n": 1})), AnswerAttempt(id, 1, receipt_of({"n": 2}))]
    assert (True, False) == decide(world.state, answers, world.now).replies
