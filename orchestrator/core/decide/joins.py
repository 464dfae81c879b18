"""When a join fires, and what it says of each branch (semantics 1.12).

`verdict` is the one joining function; it speaks of arrivals and ends, not of forEach, so that other
activations can share it.
"""

from __future__ import annotations

from orchestrator.core.data import JsonText, compact
from orchestrator.core.decide.draft import Draft
from orchestrator.core.facts import ExecutionRef, WorkflowBranchesJoined, WorkflowWaitCancelled
from orchestrator.core.graph import Outlet
from orchestrator.core.ids import execution_id
from orchestrator.core.kinds import join as join_kind
from orchestrator.core.state import BranchState, ExecutionStatus, FanOut, Output, fan_out_of


def verdict(mode: str, threshold: int, *, branches: int, succeeded: int, ended: int) -> str | None:
    """`completed` the first moment the mode holds, `partial` when the last branch has ended without it, else None."""
    needed = {"all": branches, "any": 1, "atLeast": threshold}[mode]
    if succeeded >= needed:
        return Outlet.COMPLETED
    return Outlet.PARTIAL if ended == branches else None


def fire(draft: Draft) -> bool:
    """Fire the first join that can; True when one did."""
    for id in sorted(draft.state.gathering, key=lambda other: draft.state.gathering[other]):
        fan_out = draft.state.fan_outs[id]
        if not fan_out.opened:
            continue
        join = draft.state.definition.graph.join_of(id.for_each)
        configuration = join_kind.read(join.configuration)
        outlet = verdict(
            configuration.mode,
            configuration.threshold or 1,
            branches=len(fan_out.keys),
            succeeded=fan_out.succeeded,
            ended=fan_out.ended,
        )
        if outlet is not None:
            _joined(draft, fan_out, join.id, outlet)
            return True
    return False


def withdraw(draft: Draft) -> bool:
    """Withdraw the open waits of branches whose join fired without them; True when there were any."""
    waits = sorted(draft.state.withdrawing.items(), key=lambda pair: draft.state.executions[pair[1]].born)
    for wait_id, execution_id_ in waits:
        ref = draft.state.executions[execution_id_].ref
        draft.emit(WorkflowWaitCancelled(ref, wait_id, "the join fired without this branch"))
    return bool(waits)


def _joined(draft: Draft, fan_out: FanOut, join: str, outlet: str) -> None:
    state = draft.state
    parent = fan_out.ref.branch
    visit = state.branch(parent).visits.get(join, 0) + 1
    ref = ExecutionRef(execution_id(state.run_id, parent, join, visit), join, parent, visit)
    value = _report(draft, fan_out)
    draft.emit(WorkflowBranchesJoined(ref, fan_out.ref, outlet, _called_off(draft, fan_out), value))


def _called_off(draft: Draft, fan_out: FanOut) -> tuple[str, ...]:
    """Scheduled executions of branches that have not ended and that no worker has claimed."""
    if fan_out.ended == len(fan_out.keys) or not fan_out.lane.scheduled:
        return ()
    id = fan_out_of(fan_out.branch(fan_out.keys[0]))
    scheduled = [
        execution
        for execution in draft.state.executions.values()
        if execution.status is ExecutionStatus.SCHEDULED
        and execution.answer is None
        and execution.ref.branch
        and fan_out_of(execution.ref.branch) == id
    ]
    scheduled.sort(key=lambda execution: execution.born)
    return tuple(e.ref.id for e in scheduled if not draft.is_claimed(e.ref.id))


def _report(draft: Draft, fan_out: FanOut) -> JsonText:
    """The join's output: by branch key what became of it."""
    told = [(key, *_told(draft.state.branch(fan_out.branch(key)))) for key in fan_out.keys]
    draft.known.texts(output for _, _, _, output in told if output is not None)
    parts = []
    for key, status, outlet, output in told:
        name = compact(key)
        text = "null" if output is None else draft.known.text(output)
        parts.append(f'{name}:{{"key":{name},"status":"{status}","outlet":{compact(outlet)},"output":{text}}}')
    return JsonText("{" + ",".join(parts) + "}")


def _told(branch: BranchState) -> tuple[str, str | None, Output | None]:
    if branch.live:
        return "cancelled", None, None
    status = "failed" if branch.unrouted else "skipped" if branch.ended_skipped else "succeeded"
    came = branch.reached_join or branch.last_success
    return (status, came.outlet, came.output) if came else (status, None, None)
