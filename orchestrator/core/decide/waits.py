"""Closing waits: by a person, a signal, a key, or time (semantics 1.11, 2.8). The first that is recorded wins."""

from __future__ import annotations

from dataclasses import replace

from orchestrator.core.decide.commands import CompleteWait, ResolveWait, SendSignal
from orchestrator.core.decide.draft import Draft
from orchestrator.core.decide.people import refuse_unfit
from orchestrator.core.facts import WorkflowWaitResolved
from orchestrator.core.graph import Outlet
from orchestrator.core.state import Execution, Wait
from orchestrator.errors import NotFound, Refused, WaitClosed

#: Through which outlets each kind of wait may be resolved from outside.
RESOLVABLE = {
    "signal": (Outlet.RESUMED, Outlet.CANCELLED),
    "approval": (Outlet.APPROVED, Outlet.REJECTED),
    "timer": (),
    "completion": (),
}


def resolve(draft: Draft, command: ResolveWait) -> None:
    """Close one wait. Raises `NotFound`, `WaitClosed`, or `Refused` when its kind has no such outlet."""
    execution, wait = _open(draft, command.wait_id)
    if command.outlet not in RESOLVABLE[wait.kind]:
        allowed = " or ".join(map(repr, RESOLVABLE[wait.kind]))
        remedy = {
            "timer": "only time closes a timer",
            "completion": "it is closed by completing its key with an outcome",
        }.get(wait.kind, f"it can be closed through {allowed}")
        raise Refused(f"the wait {wait.id!r} is of kind {wait.kind!r} and cannot be {command.outlet}: {remedy}")
    draft.emit(WorkflowWaitResolved(execution.ref, wait.id, command.outlet, actor=command.actor, value=command.value))


def signal(draft: Draft, command: SendSignal) -> int:
    """Resume every open signal wait that accepts the contract; answers how many (0: nothing is kept)."""
    accepting = sorted(
        (
            execution
            for id in draft.state.waits.values()
            if (execution := draft.state.executions[id]).wait is not None
            and execution.wait.kind == "signal"
            and execution.wait.signal in (None, command.contract)
        ),
        key=lambda execution: execution.born,
    )
    for execution in accepting:
        assert execution.wait is not None
        draft.emit(
            WorkflowWaitResolved(
                execution.ref, execution.wait.id, Outlet.RESUMED, actor=command.actor, value=command.value
            )
        )
    return len(accepting)


def complete(draft: Draft, command: CompleteWait) -> None:
    """Give a suspended node its answer. Raises `Refused` for an answer that cannot be one; the wait stays open."""
    execution, wait = _open(draft, command.wait_id)
    receipt = command.receipt
    if wait.kind != "completion":
        raise Refused(f"the wait {wait.id!r} is of kind {wait.kind!r}: only a suspended node is completed")
    refuse_unfit(draft.node(execution), receipt, "a completion")
    draft.emit(
        WorkflowWaitResolved(
            execution.ref,
            wait.id,
            None,
            outcome=replace(receipt, output=None),
            actor=command.actor,
            value=receipt.output,
        )
    )


def due(draft: Draft) -> list[str]:
    """The waits whose time has come, the earliest first; none while the run is stopped."""
    if draft.state.reconciling:
        return []
    found = [
        (execution.wait.deadline, execution.born, execution.wait.id)
        for id in draft.state.waits.values()
        if (execution := draft.state.executions[id]).wait is not None
        and execution.wait.deadline is not None
        and execution.wait.deadline <= draft.now
    ]
    return [wait_id for _, _, wait_id in sorted(found)]


def expire(draft: Draft, wait_id: str) -> bool:
    """Close a wait that is due; False when it was closed meanwhile, or the run stopped."""
    if draft.state.reconciling or wait_id not in draft.state.waits:
        return False
    execution = draft.state.executions[draft.state.waits[wait_id]]
    wait = execution.wait
    assert wait is not None
    outlet = Outlet.ELAPSED if wait.kind == "timer" else Outlet.EXPIRED
    draft.emit(WorkflowWaitResolved(execution.ref, wait.id, outlet))
    return True


def _open(draft: Draft, wait_id: str) -> tuple[Execution, Wait]:
    execution = draft.state.executions.get(wait_id.split(".", 1)[0])
    if execution is not None and execution.wait is not None and execution.wait.id == wait_id:
        return execution, execution.wait
    if execution is not None and execution.closing is not None and execution.closing.wait.id == wait_id:
        closing = execution.closing
        raise WaitClosed(wait_id, outlet=closing.outlet, actor=closing.actor, at=closing.at)
    raise NotFound("wait", wait_id)
