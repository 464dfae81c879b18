"""The fold: what one more fact makes of a run's state (semantics 2.1). No clock, no chance, no I/O.

`evolve` never changes the state it is given: it works on a shallow copy whose collections are persistent.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from typing import assert_never

from orchestrator.core import paths
from orchestrator.core.data import JsonText, compact, size
from orchestrator.core.document import definition_from_text
from orchestrator.core.facts import (
    Branch,
    Recorded,
    WorkflowBranchesFannedOut,
    WorkflowBranchesJoined,
    WorkflowJobStopped,
    WorkflowNodeAttemptFailed,
    WorkflowNodeFailed,
    WorkflowNodeInputPinned,
    WorkflowNodeOperationCompleted,
    WorkflowNodeOutcomeAmbiguous,
    WorkflowNodeReconciled,
    WorkflowNodeScheduled,
    WorkflowNodeSkipped,
    WorkflowNodeSucceeded,
    WorkflowNodesUnreachable,
    WorkflowRunAdmitted,
    WorkflowRunCancelled,
    WorkflowRunFailed,
    WorkflowRunNeedsReconciliation,
    WorkflowRunSucceeded,
    WorkflowWaitCancelled,
    WorkflowWaitOpened,
    WorkflowWaitResolved,
)
from orchestrator.core.graph import NodeKind, Outlet
from orchestrator.core.kinds import for_each
from orchestrator.core.state import (
    INLINE_BYTES,
    LIVE,
    NOTHING,
    Answer,
    Arrival,
    Closing,
    Execution,
    ExecutionStatus,
    Failure,
    FanOut,
    FanOutId,
    Lane,
    Output,
    Pin,
    RunState,
    RunStatus,
    Wait,
)
from orchestrator.errors import CeleriacError


def evolve(state: RunState | None, recorded: Recorded) -> RunState:
    """The state after one more fact. Raises when the fact cannot follow, which a journal written by us never shows."""
    fact = recorded.fact
    if state is None:
        if not isinstance(fact, WorkflowRunAdmitted) or recorded.number != 1:
            raise CeleriacError(f"a journal begins with WorkflowRunAdmitted as number 1, not {type(fact).__name__}")
        return _admitted(recorded, fact)
    if recorded.number != state.tail + 1:
        raise CeleriacError(f"run {state.run_id}: fact {recorded.number} follows {state.tail}: the journal has a gap")
    after = copy.copy(state)
    after.tail = recorded.number
    after.updated_at = recorded.at
    _apply(after, recorded)
    return after


def fold(facts: Iterable[Recorded], state: RunState | None = None) -> RunState:
    """The state after these facts, on top of an earlier one."""
    for recorded in facts:
        state = evolve(state, recorded)
    if state is None:
        raise CeleriacError("a run without facts has no state")
    return state


def _admitted(recorded: Recorded, fact: WorkflowRunAdmitted) -> RunState:
    payload = _output(recorded, fact.value)
    state = RunState(
        run_id=fact.run_id,
        scope=fact.scope,
        key=fact.key,
        definition=definition_from_text(fact.definition),
        trigger=fact.trigger,
        payload=payload,
        started_at=recorded.at,
        updated_at=recorded.at,
        tail=1,
    )
    trigger = state.definition.graph.trigger
    outlet = Outlet.NEXT if Outlet.NEXT in trigger.outlets else None
    execution = paths.new_execution(state, (), trigger.id)
    _answered(state, execution, Answer("engine", output=payload, outlet=outlet))
    return state


def _apply(state: RunState, recorded: Recorded) -> None:
    match recorded.fact:
        case WorkflowRunAdmitted():
            raise CeleriacError(f"run {state.run_id}: a second WorkflowRunAdmitted at number {recorded.number}")
        case WorkflowNodeScheduled() as fact:
            known = state.executions[fact.execution.id]
            paths.place(
                state,
                replace(
                    known,
                    status=ExecutionStatus.SCHEDULED,
                    attempt=fact.attempt,
                    again=False,
                    retry_due=None,
                    answer=None,
                ),
            )
        case WorkflowNodeInputPinned() as fact:
            _pinned(state, fact)
        case WorkflowNodeOperationCompleted() as fact:
            if fact.outcome.status == "suspended" and state.abandoned(fact.execution.branch):
                paths.cancel(state, fact.execution.id)
                return
            answer = Answer("performer", output=_output(recorded, fact.value), receipt=fact.outcome)
            _answered(state, state.executions[fact.execution.id], answer)
        case WorkflowNodeSucceeded() as fact:
            _succeeded(state, recorded, fact)
        case WorkflowNodeSkipped() as fact:
            _over(state, fact.execution.id, ExecutionStatus.SKIPPED)
            branch = fact.execution.branch
            paths.set_branch(state, branch, replace(state.branch(branch), ended_skipped=True))
            paths.end_branch(state, branch)
        case WorkflowNodeAttemptFailed() as fact:
            _attempt_failed(state, recorded, fact)
        case WorkflowNodeFailed() as fact:
            _failed(state, recorded, fact)
        case WorkflowNodeOutcomeAmbiguous() as fact:
            known = state.executions[fact.execution.id]
            paths.place(state, replace(known, status=ExecutionStatus.RECONCILIATION_REQUIRED, answer=None))
            state.concluding = state.concluding.discard(fact.execution.id)
        case WorkflowRunNeedsReconciliation():
            state.stop_told = True
        case WorkflowNodeReconciled() as fact:
            answer = Answer("person", output=_output(recorded, fact.value), receipt=fact.outcome)
            _answered(state, state.executions[fact.execution.id], answer)
        case WorkflowBranchesFannedOut() as fact:
            _fanned_out(state, recorded, fact)
        case WorkflowBranchesJoined() as fact:
            _joined(state, recorded, fact)
        case WorkflowWaitOpened() as fact:
            wait = Wait(fact.wait_id, fact.wait_kind, recorded.at, fact.deadline, fact.signal, fact.key)
            known = state.executions[fact.execution.id]
            paths.place(state, replace(known, status=ExecutionStatus.WAITING, wait=wait, answer=None))
            state.waits = state.waits.insert(fact.wait_id, fact.execution.id)
            state.concluding = state.concluding.discard(fact.execution.id)
        case WorkflowWaitResolved() as fact:
            _resolved(state, recorded, fact)
        case WorkflowWaitCancelled() as fact:
            _closed(state, fact.execution.id, recorded.at)
            paths.cancel(state, fact.execution.id)
        case WorkflowJobStopped() as fact:
            known = state.executions[fact.execution.id]
            if state.abandoned(fact.execution.branch):
                paths.cancel(state, fact.execution.id)
            else:
                paths.place(
                    state,
                    replace(known, status=ExecutionStatus.RETRY_PENDING, again=True, retry_due=fact.retry_due),
                )
        case WorkflowNodesUnreachable() as fact:
            state.unreachable = fact.nodes
        case WorkflowRunSucceeded():
            _ended(state, RunStatus.SUCCEEDED, recorded.at)
        case WorkflowRunFailed():
            _ended(state, RunStatus.FAILED, recorded.at)
        case WorkflowRunCancelled():
            live = (execution for execution in state.executions.values() if execution.status in LIVE)
            for execution in sorted(live, key=lambda e: e.born):
                paths.cancel(state, execution.ref.id)
            _ended(state, RunStatus.CANCELLED, recorded.at)
        case other:
            assert_never(other)


def _output(recorded: Recorded, value: JsonText | None) -> Output:
    """What a fact brings in; kept only when small, and `{}` when it brings nothing."""
    if value is None and recorded.size == 0:
        return replace(NOTHING, number=recorded.number)
    bytes_ = recorded.size if value is None else size(value)
    return Output(recorded.number, bytes_, value if bytes_ <= INLINE_BYTES else None)


def _answered(state: RunState, execution: Execution, answer: Answer) -> None:
    paths.place(state, replace(execution, answer=answer))
    state.entering = state.entering.discard(execution.ref.id)
    state.concluding = state.concluding.insert(execution.ref.id, state.tail)


def _over(state: RunState, id: str, status: ExecutionStatus, **changes: object) -> Execution:
    """An execution reaches a final status; what it needed on the way is dropped."""
    known = state.executions[id]
    done: Execution = replace(known, status=status, answer=None, pin=None, retry_due=None, **changes)  # type: ignore[arg-type]
    paths.place(state, done)
    state.concluding = state.concluding.discard(id)
    if not state.reconciling:
        state.stop_told = False
    return done


def _pinned(state: RunState, fact: WorkflowNodeInputPinned) -> None:
    outputs, failures = visible(state, fact.execution.branch)
    pin = Pin(
        tuple((node, outputs[node]) for node in fact.nodes),
        tuple((node, failures[node]) for node in fact.failures),
    )
    known = state.executions[fact.execution.id]
    state.executions = state.executions.insert(fact.execution.id, replace(known, pin=pin))


def visible(state: RunState, branch: Branch) -> tuple[dict[str, Output], dict[str, Failure]]:
    """What a reader in this branch sees: its own branch's latest, else that of the branches above (semantics 1.7)."""
    outputs: dict[str, Output] = {}
    failures: dict[str, Failure] = {}
    for depth in range(len(branch) + 1):
        known = state.branch(branch[:depth])
        outputs.update(known.outputs.items())
        failures.update(known.failures.items())
    return outputs, failures


def _succeeded(state: RunState, recorded: Recorded, fact: WorkflowNodeSucceeded) -> None:
    ref = fact.execution
    answer = state.executions[ref.id].answer
    output = replace(NOTHING, number=recorded.number)
    if answer is not None and fact.output_at is not None:
        output = answer.output
    _over(state, ref.id, ExecutionStatus.SUCCEEDED, outlet=fact.outlet, output=output)
    known = state.branch(ref.branch)
    paths.set_branch(
        state,
        ref.branch,
        replace(
            known,
            outputs=known.outputs.insert(ref.node, output),
            last_success=Arrival(fact.outlet, output),
        ),
    )
    kind = state.definition.graph.node[ref.node].kind
    if kind is NodeKind.FOR_EACH:
        paths.open_branches(state, FanOutId(ref.branch, ref.node, ref.visit))
    elif fact.outlet is not None:
        paths.leave(state, ref, fact.outlet, output)
    paths.end_branch(state, ref.branch)


def _attempt_failed(state: RunState, recorded: Recorded, fact: WorkflowNodeAttemptFailed) -> None:
    known = state.executions[fact.execution.id]
    if fact.retry_due is not None:
        paths.place(state, replace(known, status=ExecutionStatus.RETRY_PENDING, retry_due=fact.retry_due, answer=None))
        state.concluding = state.concluding.discard(fact.execution.id)
    else:
        failure = Failure(recorded.number, fact.kind, fact.reason, fact.code)
        _answered(state, known, Answer("engine", failure=failure))


def _failed(state: RunState, recorded: Recorded, fact: WorkflowNodeFailed) -> None:
    ref = fact.execution
    failure = Failure(recorded.number, fact.kind, fact.reason, fact.code)
    _over(state, ref.id, ExecutionStatus.FAILED, outlet=fact.outlet, failure=failure)
    known = state.branch(ref.branch)
    known = replace(known, failures=known.failures.insert(ref.node, failure))
    if fact.outlet is None and known.unrouted is None:
        known = replace(known, unrouted=(ref, failure))
    paths.set_branch(state, ref.branch, known)
    if fact.outlet is not None:
        paths.leave(state, ref, fact.outlet, None)
    paths.end_branch(state, ref.branch)


def _fanned_out(state: RunState, recorded: Recorded, fact: WorkflowBranchesFannedOut) -> None:
    if fact.value is None:
        raise CeleriacError(f"run {state.run_id}: the items of fact {recorded.number} were not loaded")
    items = json.loads(fact.value)
    keys = tuple(item["key"] for item in items)
    ref = fact.execution
    configuration = for_each.read(state.definition.graph.node[ref.node].configuration)
    id = FanOutId(ref.branch, ref.node, ref.visit)
    state.fan_outs = state.fan_outs.insert(
        id,
        FanOut(
            ref=ref,
            keys=keys,
            items=tuple(map(compact, items)),
            index={key: place for place, key in enumerate(keys)},
            lane=Lane(bound=configuration.max_parallelism),
        ),
    )
    state.gathering = state.gathering.insert(id, recorded.number)
    paths.add_live(state, ref.branch, 1)
    _answered(state, state.executions[ref.id], Answer("engine", outlet=Outlet.EACH))


def _joined(state: RunState, recorded: Recorded, fact: WorkflowBranchesJoined) -> None:
    gathered = fact.fan_out
    id = FanOutId(gathered.branch, gathered.node, gathered.visit)
    paths.abandon(state, id, fact.called_off)
    state.fan_outs = state.fan_outs.insert(id, replace(state.fan_outs[id], joined=True))
    state.gathering = state.gathering.discard(id)
    paths.add_live(state, gathered.branch, -1)
    execution = paths.new_execution(state, fact.execution.branch, fact.execution.node)
    _answered(state, execution, Answer("engine", output=_output(recorded, fact.value), outlet=fact.outlet))


def _resolved(state: RunState, recorded: Recorded, fact: WorkflowWaitResolved) -> None:
    how = fact.outlet if fact.outcome is None else fact.outcome.outlet or fact.outcome.status
    _closed(state, fact.execution.id, recorded.at, outlet=how, actor=fact.actor)
    answer = Answer(
        "engine" if fact.outcome is None else "completion",
        output=_output(recorded, fact.value),
        outlet=fact.outlet,
        receipt=fact.outcome,
    )
    _answered(state, state.executions[fact.execution.id], answer)


def _closed(state: RunState, id: str, at: datetime, *, outlet: str | None = None, actor: str | None = None) -> None:
    known = state.executions[id]
    if known.wait is None:
        raise CeleriacError(f"run {state.run_id}: execution {id} has no open wait to close")
    closing = Closing(known.wait, at, outlet, actor)
    state.executions = state.executions.insert(id, replace(known, wait=None, closing=closing))
    state.waits = state.waits.discard(known.wait.id)
    state.withdrawing = state.withdrawing.discard(known.wait.id)


def _ended(state: RunState, status: RunStatus, at: datetime) -> None:
    state.final = status
    state.ended_at = at
