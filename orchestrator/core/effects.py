"""What is owed for facts: attempts to hand out, timers to set, rows to keep in step. A pure function of the facts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from orchestrator.core.facts import (
    ExecutionRef,
    Recorded,
    WorkflowBranchesJoined,
    WorkflowJobStopped,
    WorkflowNodeAttemptFailed,
    WorkflowNodeOperationCompleted,
    WorkflowNodeOutcomeAmbiguous,
    WorkflowNodeScheduled,
    WorkflowRunCancelled,
    WorkflowRunFailed,
    WorkflowRunSucceeded,
    WorkflowWaitCancelled,
    WorkflowWaitOpened,
    WorkflowWaitResolved,
)
from orchestrator.core.ids import attempt_id
from orchestrator.core.state import ExecutionStatus, FanOutId, RunState, fan_out_of


@dataclass(slots=True)
class Effects:
    """What one append owes beside its facts; each attempt, timer and wait stands here with its last word only."""

    #: Attempts to hand out, by attempt id: the execution and the attempt's number.
    owed: dict[str, tuple[ExecutionRef, int]] = field(default_factory=dict)
    #: Attempts that are over.
    ended: set[str] = field(default_factory=set)
    #: By execution id: when the run must be woken for it; None clears the timer.
    timers: dict[str, datetime | None] = field(default_factory=dict)
    #: Waits that were opened or closed, by wait id, with their execution.
    waits: dict[str, ExecutionRef] = field(default_factory=dict)
    #: The run is over.
    swept: bool = False


def effects(facts: Sequence[Recorded], after: RunState) -> Effects:
    """What is owed for these facts, which led to the state `after`."""
    owes = Effects()
    for recorded in facts:
        match recorded.fact:
            case WorkflowNodeScheduled(execution=ref, attempt=number):
                owes.owed[attempt_id(ref.id, number)] = (ref, number)
                owes.timers[ref.id] = None
            case WorkflowNodeOperationCompleted(execution=ref, attempt=number):
                _end(owes, ref, number)
            case WorkflowNodeOutcomeAmbiguous(execution=ref, attempt=number):
                _end(owes, ref, number)
            case WorkflowNodeAttemptFailed(execution=ref, attempt=number, retry_due=due):
                _end(owes, ref, number)
                owes.timers[ref.id] = due
            case WorkflowJobStopped(execution=ref, attempt=number, retry_due=due):
                _end(owes, ref, number)
                retried = after.executions[ref.id].status is ExecutionStatus.RETRY_PENDING
                owes.timers[ref.id] = due if retried else None
            case WorkflowWaitOpened(execution=ref, wait_id=wait, deadline=due):
                owes.waits[wait] = ref
                owes.timers[ref.id] = due
            case WorkflowWaitResolved(execution=ref, wait_id=wait) | WorkflowWaitCancelled(execution=ref, wait_id=wait):
                owes.waits[wait] = ref
                owes.timers[ref.id] = None
            case WorkflowBranchesJoined() as fact:
                _joined(owes, fact, after)
            case WorkflowRunSucceeded() | WorkflowRunFailed() | WorkflowRunCancelled():
                owes.swept = True
            case _:
                pass
    return owes


def _end(owes: Effects, ref: ExecutionRef, number: int) -> None:
    id = attempt_id(ref.id, number)
    if owes.owed.pop(id, None) is None:
        owes.ended.add(id)


def _joined(owes: Effects, fact: WorkflowBranchesJoined, after: RunState) -> None:
    """A join that fired early takes the timers of what it cancelled, and calls off what nobody had claimed."""
    for id in fact.called_off:
        _end(owes, after.executions[id].ref, after.executions[id].attempt)
    gathered = fact.fan_out
    fan_out_id = FanOutId(gathered.branch, gathered.node, gathered.visit)
    fan_out = after.fan_outs[fan_out_id]
    if fan_out.ended == len(fan_out.keys):
        return
    for id, execution in after.executions.items():
        branch = execution.ref.branch
        if execution.status is ExecutionStatus.CANCELLED and branch and fan_out_of(branch) == fan_out_id:
            owes.timers[id] = None
