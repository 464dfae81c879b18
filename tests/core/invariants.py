"""What holds of every state and every journal, counted anew from scratch and held beside what the fold keeps."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

from orchestrator.core.facts import (
    Branch,
    ExecutionRef,
    Recorded,
    WorkflowBranchesFannedOut,
    WorkflowBranchesJoined,
    WorkflowJobStopped,
    WorkflowNodeFailed,
    WorkflowNodeInputPinned,
    WorkflowNodeOperationCompleted,
    WorkflowNodeScheduled,
    WorkflowNodeSkipped,
    WorkflowNodeSucceeded,
    WorkflowRunAdmitted,
    WorkflowRunCancelled,
    WorkflowRunFailed,
    WorkflowRunSucceeded,
)
from orchestrator.core.outcomes import FailureKind
from orchestrator.core.paths import entry_of
from orchestrator.core.ready import Entry, ReadyQueue
from orchestrator.core.state import (
    LIVE,
    Execution,
    ExecutionStatus,
    FanOut,
    FanOutId,
    Lane,
    RunState,
    RunStatus,
    fan_out_of,
)

FINAL_FACTS = (WorkflowRunSucceeded, WorkflowRunFailed, WorkflowRunCancelled)


def check_state(state: RunState) -> None:
    """Every count and index of a state is what a recount finds, at any point of a journal."""
    executions = list(state.executions.values())
    counted = Counter(execution.status for execution in executions)
    assert (
        counted[ExecutionStatus.PENDING],
        counted[ExecutionStatus.SCHEDULED],
        counted[ExecutionStatus.WAITING],
        counted[ExecutionStatus.RETRY_PENDING],
        counted[ExecutionStatus.RECONCILIATION_REQUIRED],
    ) == (state.pending, state.scheduled, state.waiting, state.retrying, state.reconciling)
    assert sorted(e.born for e in executions) == list(range(1, state.births + 1))
    open_waits = {e.wait.id: e.ref.id for e in executions if e.wait is not None}
    assert open_waits == dict(state.waits.items())
    assert {wait: id for wait, id in open_waits.items() if state.abandoned(state.executions[id].ref.branch)} == dict(
        state.withdrawing.items()
    )
    assert {e.ref.id: e.born for e in executions if to_enter(state, e)} == dict(state.entering.items())
    answered = {e.ref.id for e in executions if e.status in LIVE and e.answer is not None}
    assert answered == set(state.concluding)
    assert {id for id, fan_out in state.fan_outs.items() if not fan_out.joined} == set(state.gathering)
    for execution in executions:
        check_execution(state, execution)
    for branch in state.branches:
        check_branch(state, branch)
    check_lane(state, state.lane, [e for e in executions if not e.ref.branch])
    for id, fan_out in state.fan_outs.items():
        inside = [e for e in executions if e.ref.branch and fan_out_of(e.ref.branch) == id]
        check_lane(state, fan_out.lane, inside)
        check_fan_out(state, fan_out, inside)


def performed(state: RunState, execution: Execution) -> bool:
    """Whether an execution goes to a worker: user code does it, and it is within its visits."""
    node = state.definition.graph.node[execution.ref.node]
    return node.kind.performed and execution.ref.visit <= node.policy.max_visits


def to_enter(state: RunState, execution: Execution) -> bool:
    """Whether the engine has to enter this execution."""
    pending = execution.status is ExecutionStatus.PENDING and execution.answer is None
    return pending and not performed(state, execution)


def check_execution(state: RunState, execution: Execution) -> None:
    """What an execution holds fits its status."""
    policy = state.definition.graph.node[execution.ref.node].policy
    status = execution.status
    assert execution.attempt <= policy.max_attempts
    if execution.ref.visit > policy.max_visits:
        assert status in (ExecutionStatus.PENDING, ExecutionStatus.FAILED, ExecutionStatus.CANCELLED)
        assert execution.failure is None or execution.failure.kind is FailureKind.VISIT_LIMIT_EXCEEDED
    assert (execution.output is not None) == (status is ExecutionStatus.SUCCEEDED)
    assert (execution.failure is not None) == (status is ExecutionStatus.FAILED)
    assert (execution.retry_due is not None) == (status is ExecutionStatus.RETRY_PENDING)
    if execution.wait is not None:
        assert status is ExecutionStatus.WAITING
    if status not in LIVE:
        assert (None, None, None) == (execution.pin, execution.wait, execution.answer)


def check_branch(state: RunState, branch: Branch) -> None:
    """What keeps a branch going, and how often it visited which node."""
    known = state.branches[branch]
    mine = [e for e in state.executions.values() if e.ref.branch == branch]
    gathering = sum(not f.joined for f in state.fan_outs.values() if f.ref.branch == branch)
    if state.final is not RunStatus.CANCELLED:
        assert sum(e.status in LIVE for e in mine) + gathering == known.live
    visits: dict[str, list[int]] = defaultdict(list)
    for execution in mine:
        visits[execution.ref.node].append(execution.ref.visit)
    assert {node: list(range(1, count + 1)) for node, count in known.visits.items()} == {
        node: sorted(numbers) for node, numbers in visits.items()
    }


def check_lane(state: RunState, lane: Lane, inside: Sequence[Execution]) -> None:
    """A lane holds what its executions are, and never more than its bound."""
    ours = [e for e in inside if performed(state, e)]
    assert sum(e.status is ExecutionStatus.SCHEDULED for e in ours) == lane.scheduled
    assert lane.bound is None or lane.scheduled <= lane.bound
    pending = sorted(entry_of(state, e) for e in ours if e.status is ExecutionStatus.PENDING)
    assert pending == drained(lane.ready)
    assert len(pending) == len(lane.ready)
    retries = {e.ref.id: (entry_of(state, e).item, e.born) for e in ours if e.status is ExecutionStatus.RETRY_PENDING}
    assert retries == dict(lane.retries.items())
    dues = [e.retry_due for e in ours if e.retry_due is not None]
    assert (lane.first_due is None) == (not dues)
    assert lane.first_due is None or lane.first_due <= min(dues)


def drained(queue: ReadyQueue) -> list[Entry]:
    """What the queue hands out, one after another."""
    found = []
    while (head := queue.head()) is not None:
        found.append(head)
        queue = queue.without(head)
    assert 0 == len(queue)
    return found


def check_fan_out(state: RunState, fan_out: FanOut, inside: Sequence[Execution]) -> None:
    """The branches of a fan-out that have ended are counted once."""
    # While a run is being cancelled its branches end uncounted.
    open_ = {e.ref.branch for e in inside if e.status in LIVE or e.status is ExecutionStatus.CANCELLED}
    branches = [fan_out.branch(key) for key in fan_out.keys]
    ended = [b for b in branches if b not in open_ and not state.branch(b).abandoned] if fan_out.opened else []
    if state.final is not RunStatus.CANCELLED:
        assert sum(state.branch(b).unrouted is not None for b in ended) == fan_out.failed
        assert sum(state.branch(b).unrouted is None for b in ended) == fan_out.succeeded
    if not fan_out.joined:
        assert not any(state.branch(b).abandoned for b in branches)


def check_settled(state: RunState) -> None:
    """Between decisions nothing is left undone, and a live run waits for something that has a name."""
    if state.final is not None:
        assert not any(e.status in LIVE for e in state.executions.values())
        assert not state.waits
        assert state.ended_at is not None
        return
    assert not state.entering
    assert not state.concluding
    assert not state.withdrawing
    assert state.waits or state.scheduled or state.retrying or state.reconciling
    assert state.stop_told == (state.reconciling > 0)
    if not state.reconciling:
        assert not state.lane.ready
        assert all(not f.lane.ready or not f.lane.free for f in state.fan_outs.values() if not f.joined)


def check_journal(journal: Sequence[Recorded], state: RunState) -> None:
    """The rules that a journal keeps as a whole."""
    facts = [recorded.fact for recorded in journal]
    assert list(range(1, len(journal) + 1)) == [recorded.number for recorded in journal]
    assert isinstance(facts[0], WorkflowRunAdmitted)
    assert not any(isinstance(fact, FINAL_FACTS) for fact in facts[:-1])
    assert (state.final is not None) == isinstance(facts[-1], FINAL_FACTS)
    joined = Counter(_id(fact.fan_out) for fact in facts if isinstance(fact, WorkflowBranchesJoined))
    fanned = Counter(_id(fact.execution) for fact in facts if isinstance(fact, WorkflowBranchesFannedOut))
    assert all(count == 1 for count in (*joined.values(), *fanned.values()))
    assert set(joined) <= set(fanned)
    over: Counter[str] = Counter()
    for fact in facts:
        if isinstance(fact, WorkflowNodeSucceeded | WorkflowNodeSkipped | WorkflowNodeFailed):
            over[fact.execution.id] += 1
        elif (ref := getattr(fact, "execution", None)) is not None and not isinstance(fact, WorkflowRunFailed):
            assert not over[ref.id], f"{type(fact).__name__} for an execution that is over"
    assert all(count == 1 for count in over.values())
    attempts = Counter((f.execution.id, f.attempt) for f in facts if isinstance(f, WorkflowNodeScheduled))
    stops = Counter((f.execution.id, f.attempt) for f in facts if isinstance(f, WorkflowJobStopped))
    assert all(count <= 1 + stops[attempt] for attempt, count in attempts.items())
    receipts = Counter((f.execution.id, f.attempt) for f in facts if isinstance(f, WorkflowNodeOperationCompleted))
    assert all(count == 1 for count in receipts.values())
    pins = Counter(f.execution.id for f in facts if isinstance(f, WorkflowNodeInputPinned))
    assert {id: 1 for id, _ in attempts} == pins
    check_outputs(facts, state)


def check_outputs(facts: Sequence[Any], state: RunState) -> None:
    """What readers see of a branch is what its last success and failure at each node brought in."""
    outputs: dict[tuple[Branch, str], int] = {}
    failures: dict[tuple[Branch, str], int] = {}
    unrouted: dict[Branch, str] = {}
    for number, fact in enumerate(facts, start=1):
        match fact:
            case WorkflowNodeSucceeded(execution=ref, output_at=at):
                outputs[ref.branch, ref.node] = at or number
            case WorkflowNodeFailed(execution=ref, outlet=outlet):
                failures[ref.branch, ref.node] = number
                if outlet is None:
                    unrouted.setdefault(ref.branch, ref.id)
    seen = {(branch, node): o.number for branch, b in state.branches.items() for node, o in b.outputs.items()}
    assert outputs == seen
    failed = {(branch, node): f.number for branch, b in state.branches.items() for node, f in b.failures.items()}
    assert failures == failed
    assert unrouted == {branch: b.unrouted[0].id for branch, b in state.branches.items() if b.unrouted}


def _id(ref: ExecutionRef) -> FanOutId:
    return FanOutId(ref.branch, ref.node, ref.visit)
