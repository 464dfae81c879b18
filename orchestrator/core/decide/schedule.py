"""Handing work out: which executions are scheduled now, and the input pinned for them (semantics 1.7, 2.5)."""

from __future__ import annotations

from orchestrator.core.decide.draft import Draft
from orchestrator.core.evolve import visible
from orchestrator.core.facts import Branch, WorkflowNodeInputPinned, WorkflowNodeScheduled
from orchestrator.core.inputs import input_size
from orchestrator.core.outcomes import FailureKind
from orchestrator.core.ready import Entry
from orchestrator.core.state import Execution, FanOutId, Lane, Pin


def schedule(draft: Draft) -> bool:
    """Schedule all that may be, unless the run is stopped for a person; True when anything was decided."""
    if draft.state.reconciling:
        return False
    before = draft.state.tail
    lanes: list[FanOutId | None] = [None, *sorted(draft.state.gathering, key=draft.state.gathering.__getitem__)]
    for id in lanes:
        if not _fill(draft, id):
            break
    return draft.state.tail > before


def _fill(draft: Draft, id: FanOutId | None) -> bool:
    """Schedule what one lane has room for; False when an execution failed instead, which may fire a join first."""
    due = _due_retries(draft, _lane(draft, id))
    while True:
        lane = _lane(draft, id)
        head = lane.ready.head()
        entry = min([e for e in (head, due[0] if due else None) if e is not None], default=None)
        if entry is None or not lane.free:
            return True
        if entry is not head:
            due.pop(0)
        if not _start(draft, draft.state.executions[entry.id]):
            return False


def _lane(draft: Draft, id: FanOutId | None) -> Lane:
    return draft.state.lane if id is None else draft.state.fan_outs[id].lane


def _due_retries(draft: Draft, lane: Lane) -> list[Entry]:
    """Retries whose time has come; each is as old as its execution."""
    if lane.first_due is None or lane.first_due > draft.now or not lane.free:
        return []
    return sorted(
        Entry(item, born, id)
        for id, (item, born) in lane.retries.items()
        if (due := draft.state.executions[id].retry_due) is not None and due <= draft.now
    )


def _start(draft: Draft, execution: Execution) -> bool:
    if execution.pin is None:
        pin = _pin(draft, execution.ref.branch)
        limit = draft.known.limits.max_input_bytes
        size = input_size(draft.state, execution.ref.branch, pin)
        if size > limit:
            reason = f"the composed input of node {execution.ref.node!r} is {size} bytes, at most {limit} are allowed"
            draft.fail(execution, FailureKind.ERROR, reason)
            return False
        draft.emit(
            WorkflowNodeInputPinned(
                execution.ref,
                {node: output.number for node, output in pin.outputs},
                {node: failure.number for node, failure in pin.failures},
            )
        )
    draft.emit(WorkflowNodeScheduled(execution.ref, execution.next_attempt))
    return True


def _pin(draft: Draft, branch: Branch) -> Pin:
    outputs, failures = visible(draft.state, branch)
    return Pin(
        tuple((node, outputs[node]) for node in sorted(outputs)),
        tuple((node, failures[node]) for node in sorted(failures)),
    )
