"""Why a run does not move: one sentence for each thing that it stands on, from its state and its attempts' rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from orchestrator.core.state import Execution, ExecutionStatus, RunState
from orchestrator.ports.records import AttemptRow, AttemptState


def reasons(state: RunState, attempts: Sequence[AttemptRow], now: datetime) -> Iterator[str]:
    """What the run stands on; nothing when it is final."""
    if state.final:
        return
    rows = {row.execution_id: row for row in attempts}
    for execution in sorted(state.executions.values(), key=lambda each: each.born):
        match execution.status:
            case ExecutionStatus.RECONCILIATION_REQUIRED:
                yield f"{_name(execution)} needs a person: nobody knows whether it happened (runs reconcile)"
            case ExecutionStatus.WAITING:
                yield _waiting(execution, now)
            case ExecutionStatus.RETRY_PENDING if execution.retry_due is not None:
                yield f"{_name(execution)} is tried again {_when(execution.retry_due, now)}"
            case ExecutionStatus.SCHEDULED:
                yield _scheduled(execution, rows.get(execution.ref.id), now)
            case _:
                pass
    if state.pending:
        why = "until that is settled" if state.reconciling else "for a free slot of their maxParallelism"
        yield f"{state.pending} executions wait {why}"


def _name(execution: Execution) -> str:
    branch = execution.ref.branch
    return execution.ref.node + (f" [{branch[-1].key}]" if branch else "")


def _when(instant: datetime, now: datetime) -> str:
    seconds = (instant - now).total_seconds()
    if seconds <= 0:
        return f"as soon as beat looks, it was due at {instant:%Y-%m-%d %H:%M:%S}Z (does beat run?)"
    return f"at {instant:%Y-%m-%d %H:%M:%S}Z, in {_span(seconds)}"


def _span(seconds: float) -> str:
    for size, unit in ((86_400, "days"), (3_600, "hours"), (60, "minutes")):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} seconds"


def _waiting(execution: Execution, now: datetime) -> str:
    wait = execution.wait
    if wait is None:
        return f"{_name(execution)} waits"
    if wait.kind == "timer" and wait.deadline is not None:
        return f"{_name(execution)} waits for time: it elapses {_when(wait.deadline, now)}"
    for_what = {
        "signal": f"the signal {wait.signal or 'of any name'}",
        "approval": f"a person to approve or reject (waits approve {wait.id})",
        "completion": f"the answer to its key {wait.key!r}",
    }.get(wait.kind, wait.kind)
    until = "" if wait.deadline is None else f", or expires {_when(wait.deadline, now)}"
    return f"{_name(execution)} waits for {for_what}{until}"


def _scheduled(execution: Execution, row: AttemptRow | None, now: datetime) -> str:
    if row is None:
        return f"{_name(execution)} is scheduled, but nobody owes it to a worker (celeriac repair)"
    if row.state is AttemptState.CLAIMED:
        lease = "" if row.lease_until is None else f", its lease runs until {row.lease_until:%H:%M:%S}Z"
        return f"{_name(execution)} is performed by {row.worker}{lease}"
    if row.state is AttemptState.ANSWERED:
        return f"{_name(execution)} has answered; whoever advances the run next takes it up"
    age = _span((now - row.owed_at).total_seconds())
    return (
        f"{_name(execution)} has waited {age} for a worker that performs {row.capability}, "
        f"rung for {row.rings} times since (does such a worker run and listen to its queue?)"
    )
