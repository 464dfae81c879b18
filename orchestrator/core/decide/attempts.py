"""What became of an attempt: answered, timed out, lost or stopped (semantics 2.2, 2.8)."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from orchestrator.core.decide.commands import AnswerAttempt, LoseAttempt, StopAttempt, TimeOutAttempt
from orchestrator.core.decide.draft import Draft
from orchestrator.core.durations import format_duration
from orchestrator.core.facts import WorkflowJobStopped, WorkflowNodeOperationCompleted
from orchestrator.core.outcomes import FailureKind
from orchestrator.core.state import Execution, ExecutionStatus

#: So many workers may vanish while they hold one attempt before it fails.
MAX_LOSSES = 3


def answered(draft: Draft, command: AnswerAttempt) -> bool:
    """Record the receipt; False when the answer is late (semantics 2.2)."""
    execution = current(draft, command.execution_id, command.attempt)
    if execution is None:
        return False
    receipt = command.receipt
    draft.emit(
        WorkflowNodeOperationCompleted(
            execution.ref,
            command.attempt,
            replace(receipt, output=None),
            worker=command.worker,
            claimed_at=command.claimed_at,
            value=receipt.output,
        )
    )
    return True


def timed_out(draft: Draft, command: TimeOutAttempt) -> bool:
    """The attempt is past its deadline; with effect `once` nobody knows whether it happened."""
    execution = current(draft, command.execution_id, command.attempt)
    if execution is None:
        return False
    timeout = format_duration(draft.node(execution).policy.attempt_timeout)
    if command.effect == "once":
        draft.doubt(execution, f"attempt {command.attempt} did not answer within {timeout} and its effect is `once`")
    else:
        reason = f"attempt {command.attempt} did not answer within {timeout}"
        draft.fail_attempt(execution, FailureKind.TIMED_OUT, reason)
    return True


def lost(draft: Draft, command: LoseAttempt) -> bool:
    """The worker vanished: the third time the attempt fails, before that it is handed out again (not recorded here)."""
    execution = current(draft, command.execution_id, command.attempt)
    if execution is None:
        return False
    if command.effect == "once":
        draft.doubt(execution, f"the worker of attempt {command.attempt} was lost and its effect is `once`")
    elif command.losses >= MAX_LOSSES:
        draft.fail_attempt(execution, FailureKind.ERROR, f"worker lost {command.losses} times")
    elif draft.state.reconciling or draft.state.abandoned(execution.ref.branch):
        _again(draft, execution, timedelta(0))
    return True


def stopped(draft: Draft, command: StopAttempt) -> bool:
    """The job that carried the attempt was stopped: it runs again after retryDelay and no attempt is used."""
    execution = current(draft, command.execution_id, command.attempt)
    if execution is None:
        return False
    if command.effect == "once" and command.claimed:
        draft.doubt(execution, f"attempt {command.attempt} was stopped after it began and its effect is `once`")
    else:
        _again(draft, execution, draft.node(execution).policy.retry_delay)
    return True


def _again(draft: Draft, execution: Execution, delay: timedelta) -> None:
    """The same attempt runs again after this delay, but never in a branch that its join fired without."""
    due = None if draft.state.abandoned(execution.ref.branch) else draft.now + delay
    draft.emit(WorkflowJobStopped(execution.ref, execution.attempt, due))


def current(draft: Draft, execution_id: str, attempt: int) -> Execution | None:
    """The execution, if this is its present attempt and it is not over; None makes whatever came late."""
    execution = draft.state.executions.get(execution_id)
    if (
        execution is None
        or draft.state.final
        or execution.status is not ExecutionStatus.SCHEDULED
        or execution.attempt != attempt
        or execution.answer is not None
    ):
        return None
    return execution
