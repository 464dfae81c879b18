"""How paths move inside the fold: placing executions, arriving at nodes, leaving through outlets, ending branches.

These functions change the working copy that `evolve` owns for one fact; nobody else calls them.
"""

from __future__ import annotations

from dataclasses import replace

from orchestrator.core.facts import Branch, ExecutionRef
from orchestrator.core.ids import execution_id
from orchestrator.core.ready import Entry
from orchestrator.core.state import (
    LIVE,
    Arrival,
    BranchState,
    Execution,
    ExecutionStatus,
    FanOutId,
    Lane,
    Output,
    RunState,
    fan_out_of,
)

_COUNTER = {
    ExecutionStatus.PENDING: "pending",
    ExecutionStatus.SCHEDULED: "scheduled",
    ExecutionStatus.WAITING: "waiting",
    ExecutionStatus.RETRY_PENDING: "retrying",
    ExecutionStatus.RECONCILIATION_REQUIRED: "reconciling",
}


def entry_of(state: RunState, execution: Execution) -> Entry:
    """The place of an execution in its lane's order."""
    branch = execution.ref.branch
    item = state.fan_outs[fan_out_of(branch)].index[branch[-1].key] if branch else 0
    return Entry(item, execution.born, execution.ref.id)


def set_lane(state: RunState, branch: Branch, lane: Lane) -> None:
    """Put a lane back where `RunState.lane_of` finds it."""
    if branch:
        id = fan_out_of(branch)
        state.fan_outs = state.fan_outs.insert(id, replace(state.fan_outs[id], lane=lane))
    else:
        state.lane = lane


def set_branch(state: RunState, branch: Branch, changed: BranchState) -> None:
    """Put a branch's state back."""
    state.branches = state.branches.insert(branch, changed)


def add_live(state: RunState, branch: Branch, change: int) -> None:
    """Count one more or one fewer thing that keeps a branch going."""
    known = state.branch(branch)
    set_branch(state, branch, replace(known, live=known.live + change))


def place(state: RunState, new: Execution) -> None:
    """Put an execution into the state and keep every count, queue and lane in step with its status."""
    ref = new.ref
    old = state.executions.get(ref.id)
    state.executions = state.executions.insert(ref.id, new)
    before, after = old.status if old else None, new.status
    if before is after:
        return
    for status, change in ((before, -1), (after, 1)):
        if status in LIVE:
            counter = _COUNTER[status]
            setattr(state, counter, getattr(state, counter) + change)
    if (before in LIVE) != (after in LIVE):
        add_live(state, ref.branch, 1 if after in LIVE else -1)
    if before is ExecutionStatus.PENDING:
        state.entering = state.entering.discard(ref.id)
    _keep_lane(state, new, before)


def _keep_lane(state: RunState, new: Execution, before: ExecutionStatus | None) -> None:
    after = new.status
    concerned = {ExecutionStatus.PENDING, ExecutionStatus.SCHEDULED, ExecutionStatus.RETRY_PENDING}
    performed = state.definition.graph.node[new.ref.node].kind.performed
    if not performed or before is None or not ({before, after} & concerned):
        return
    lane = state.lane_of(new.ref.branch)
    if before is ExecutionStatus.PENDING:
        lane = replace(lane, ready=lane.ready.without(entry_of(state, new)))
    elif before is ExecutionStatus.RETRY_PENDING:
        retries = lane.retries.discard(new.ref.id)
        lane = replace(lane, retries=retries, first_due=lane.first_due if retries else None)
    elif before is ExecutionStatus.SCHEDULED:
        lane = replace(lane, scheduled=lane.scheduled - 1)
    if after is ExecutionStatus.SCHEDULED:
        lane = replace(lane, scheduled=lane.scheduled + 1)
    elif after is ExecutionStatus.RETRY_PENDING:
        entry = entry_of(state, new)
        dues = [due for due in (lane.first_due, new.retry_due) if due is not None]
        retries = lane.retries.insert(new.ref.id, (entry.item, entry.born))
        lane = replace(lane, retries=retries, first_due=min(dues, default=None))
    set_lane(state, new.ref.branch, lane)


def arrive(state: RunState, branch: Branch, target: str, came: Arrival) -> Entry | None:
    """One path reaches a node. A performed node that is within its visits answers with its entry for the lane.

    Arriving at the join of the branch's own fan-out is no visit (semantics 1.6).
    """
    graph = state.definition.graph
    if branch and graph.join_of(branch[-1].for_each).id == target:
        set_branch(state, branch, replace(state.branch(branch), reached_join=came, ended_skipped=False))
        return None
    execution = new_execution(state, branch, target)
    place(state, execution)
    node = graph.node[target]
    if node.kind.performed and execution.ref.visit <= node.policy.max_visits:
        return entry_of(state, execution)
    state.entering = state.entering.insert(execution.ref.id, execution.born)
    return None


def new_execution(state: RunState, branch: Branch, node: str) -> Execution:
    """The next visit of a branch at a node, counted."""
    known = state.branch(branch)
    visit = known.visits.get(node, 0) + 1
    set_branch(state, branch, replace(known, visits=known.visits.insert(node, visit)))
    state.births += 1
    return Execution(
        ExecutionRef(execution_id(state.run_id, branch, node, visit), node, branch, visit), born=state.births
    )


def leave(state: RunState, ref: ExecutionRef, outlet: str, output: Output | None) -> None:
    """A path goes on through an outlet: once along each of its edges, or it ends there."""
    if state.abandoned(ref.branch):
        return
    targets = state.definition.graph.targets(ref.node, outlet)
    for target in targets:
        entry = arrive(state, ref.branch, target, Arrival(outlet, output))
        if entry is not None:
            lane = state.lane_of(ref.branch)
            set_lane(state, ref.branch, replace(lane, ready=lane.ready.with_entry(entry)))
    if not targets:
        set_branch(state, ref.branch, replace(state.branch(ref.branch), ended_skipped=False))


def open_branches(state: RunState, id: FanOutId) -> None:
    """The arrivals through `each`: every branch at every target, in the order of the items."""
    fan_out = state.fan_outs[id]
    state.fan_outs = state.fan_outs.insert(id, replace(fan_out, opened=True))
    targets = state.definition.graph.targets(id.for_each, "each")
    entries = [
        entry
        for key in fan_out.keys
        for target in targets
        if (entry := arrive(state, fan_out.branch(key), target, Arrival(None, None))) is not None
    ]
    opened = state.fan_outs[id]
    lane = replace(opened.lane, ready=opened.lane.ready.with_first(tuple(entries)))
    state.fan_outs = state.fan_outs.insert(id, replace(opened, lane=lane))
    for key in fan_out.keys:
        end_branch(state, fan_out.branch(key))


def end_branch(state: RunState, branch: Branch) -> None:
    """Count a branch as ended when nothing of it is live any more (semantics 2.5)."""
    if not branch:
        return
    known = state.branch(branch)
    id = fan_out_of(branch)
    fan_out = state.fan_outs[id]
    if known.live or known.abandoned or fan_out.joined or not fan_out.opened:
        return
    counted = (
        replace(fan_out, failed=fan_out.failed + 1)
        if known.unrouted
        else replace(fan_out, succeeded=fan_out.succeeded + 1)
    )
    state.fan_outs = state.fan_outs.insert(id, counted)


def abandon(state: RunState, id: FanOutId, called_off: tuple[str, ...]) -> None:
    """A join fired: whatever its branches still hold is withdrawn (semantics 1.12). Open waits are closed by facts."""
    fan_out = state.fan_outs[id]
    if fan_out.ended == len(fan_out.keys):
        return
    for key in fan_out.keys:
        branch = fan_out.branch(key)
        known = state.branch(branch)
        if known.live:
            set_branch(state, branch, replace(known, abandoned=True))
    lane = fan_out.lane
    pending = [entry.id for entry in (*lane.ready.first[lane.ready.cursor :], *lane.ready.later)]
    entering = [other for other in state.entering if _inside(state, other, id)]
    set_lane(state, fan_out.branch(fan_out.keys[0]), replace(lane, ready=type(lane.ready)()))
    for other in (*pending, *entering, *lane.retries, *called_off):
        cancel(state, other)
    for wait, execution in state.waits.items():
        if _inside(state, execution, id):
            state.withdrawing = state.withdrawing.insert(wait, execution)


def cancel(state: RunState, execution: str) -> None:
    """An execution becomes Cancelled: it takes no outlet and answers to nobody."""
    known = state.executions[execution]
    place(
        state,
        replace(known, status=ExecutionStatus.CANCELLED, pin=None, wait=None, answer=None, retry_due=None),
    )
    state.concluding = state.concluding.discard(execution)


def _inside(state: RunState, execution: str, id: FanOutId) -> bool:
    branch = state.executions[execution].ref.branch
    return bool(branch) and fan_out_of(branch) == id
