"""The state of a run: what `evolve` folds and `decide` reads. Values only; how they change is `evolve`'s.

Collections that grow with the run are persistent maps, so that one more fact costs the same at the end of a long run
as at its start, and a state can be kept and shared. A `RunState` is never changed once `evolve` has returned it.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from rpds import HashTrieMap

from orchestrator.core.data import EMPTY, JsonText
from orchestrator.core.facts import Branch, ExecutionRef, Step, Trigger
from orchestrator.core.graph import Definition
from orchestrator.core.outcomes import FailureKind, Receipt
from orchestrator.core.ready import ReadyQueue

#: Outputs up to this many bytes are kept in the state itself; larger ones are named by their fact.
INLINE_BYTES = 512


class RunStatus(enum.StrEnum):
    """Where a run stands (semantics 1.13)."""

    RUNNING = "Running"
    WAITING = "Waiting"
    SUCCEEDED = "Succeeded"
    FAILED = "Failed"
    CANCELLED = "Cancelled"
    RECONCILIATION_REQUIRED = "ReconciliationRequired"

    @property
    def final(self) -> bool:
        return self in (RunStatus.SUCCEEDED, RunStatus.FAILED, RunStatus.CANCELLED)


class ExecutionStatus(enum.StrEnum):
    """Where an execution stands (semantics 1.13)."""

    PENDING = "Pending"
    SCHEDULED = "Scheduled"
    WAITING = "Waiting"
    SUCCEEDED = "Succeeded"
    FAILED = "Failed"
    SKIPPED = "Skipped"
    UNREACHABLE = "Unreachable"
    CANCELLED = "Cancelled"
    RECONCILIATION_REQUIRED = "ReconciliationRequired"
    RETRY_PENDING = "RetryPending"

    @property
    def final(self) -> bool:
        return self not in LIVE


#: The statuses in which an execution keeps its run in flight (semantics 2.6).
LIVE = frozenset(
    {
        ExecutionStatus.PENDING,
        ExecutionStatus.SCHEDULED,
        ExecutionStatus.WAITING,
        ExecutionStatus.RETRY_PENDING,
        ExecutionStatus.RECONCILIATION_REQUIRED,
    }
)


@dataclass(frozen=True, slots=True)
class Output:
    """An output by the number of the fact that brought it in; `text` is None when it is too large to be kept here."""

    number: int
    size: int
    text: JsonText | None


#: The output of what closed without bringing anything in.
NOTHING = Output(0, len(EMPTY), EMPTY)


@dataclass(frozen=True, slots=True)
class Failure:
    """A failure for good, by the number of its fact."""

    number: int
    kind: FailureKind
    reason: str
    code: str | None = None


@dataclass(frozen=True, slots=True)
class Wait:
    """An open point of a signal, timer, approval or completion."""

    id: str
    kind: str
    opened_at: datetime
    deadline: datetime | None = None
    signal: str | None = None
    key: str | None = None


@dataclass(frozen=True, slots=True)
class Closing:
    """How a wait was closed."""

    wait: Wait
    at: datetime
    #: The outlet taken, or of a completion what the outcome was; None when the engine withdrew it.
    outlet: str | None = None
    actor: str | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer that is recorded and not interpreted: an engine's `outlet`, a `receipt`, or a `failure` for good."""

    #: ``performer``, ``completion`` (by key), ``person`` (reconciled) or ``engine``.
    by: str
    output: Output = NOTHING
    outlet: str | None = None
    receipt: Receipt | None = None
    #: A failure for good whose attempt is recorded already.
    failure: Failure | None = None


@dataclass(frozen=True, slots=True)
class Pin:
    """What every attempt of an execution gets (semantics 1.7)."""

    outputs: tuple[tuple[str, Output], ...]
    failures: tuple[tuple[str, Failure], ...]


@dataclass(frozen=True, slots=True)
class Execution:
    """One visit of a branch at a node."""

    ref: ExecutionRef
    #: Place in the order of arrivals of the whole run.
    born: int
    status: ExecutionStatus = ExecutionStatus.PENDING
    #: The number of the attempt that was scheduled last.
    attempt: int = 0
    #: The carrier was stopped: the same attempt number is scheduled again.
    again: bool = False
    retry_due: datetime | None = None
    pin: Pin | None = None
    wait: Wait | None = None
    closing: Closing | None = None
    answer: Answer | None = None
    outlet: str | None = None
    output: Output | None = None
    failure: Failure | None = None

    @property
    def next_attempt(self) -> int:
        return self.attempt if self.again else self.attempt + 1


class Arrival(NamedTuple):
    """What reached a branch's join: outlet and output (neither, when an `each` edge led straight there)."""

    outlet: str | None
    output: Output | None


@dataclass(frozen=True, slots=True)
class BranchState:
    """What is known of one branch; root is a branch too."""

    #: Executions that are not over.
    live: int = 0
    visits: HashTrieMap[str, int] = field(default_factory=HashTrieMap)
    outputs: HashTrieMap[str, Output] = field(default_factory=HashTrieMap)
    failures: HashTrieMap[str, Failure] = field(default_factory=HashTrieMap)
    #: The first failure that nothing routed.
    unrouted: tuple[ExecutionRef, Failure] | None = None
    #: The path that ended last ended skipped.
    ended_skipped: bool = False
    reached_join: Arrival | None = None
    last_success: Arrival | None = None
    #: Its join fired without it: what still answers is recorded and moves nothing (semantics 1.12).
    abandoned: bool = False


@dataclass(frozen=True, slots=True)
class Lane:
    """Performed executions that share one bound: all of root, or all branches of one fan-out."""

    #: How many may be scheduled at once; None is any number.
    bound: int | None = None
    scheduled: int = 0
    ready: ReadyQueue = field(default_factory=ReadyQueue)
    #: Executions that wait for their retry, by id, with their place in the order.
    retries: HashTrieMap[str, tuple[int, int]] = field(default_factory=HashTrieMap)
    #: No retry is due before this, so that nobody looks through thousands in vain; None when there are none.
    first_due: datetime | None = None

    @property
    def free(self) -> bool:
        return self.bound is None or self.scheduled < self.bound


class FanOutId(NamedTuple):
    """Which fan-out: the branch its forEach stands in, the forEach, and its visit."""

    branch: Branch
    for_each: str
    visit: int


def fan_out_of(branch: Branch) -> FanOutId:
    """The fan-out that a branch (not root) came from."""
    step = branch[-1]
    return FanOutId(branch[:-1], step.for_each, step.visit)


@dataclass(frozen=True, slots=True)
class FanOut:
    """The first kind of activation: branches that one join gathers."""

    ref: ExecutionRef
    keys: tuple[str, ...]
    items: tuple[JsonText, ...]
    #: Place of each key in the list.
    index: Mapping[str, int]
    lane: Lane
    #: The arrivals through `each` have taken place.
    opened: bool = False
    succeeded: int = 0
    failed: int = 0
    joined: bool = False

    @property
    def ended(self) -> int:
        return self.succeeded + self.failed

    def branch(self, key: str) -> Branch:
        """The branch of one item."""
        return (*self.ref.branch, Step(self.ref.node, self.ref.visit, key))


@dataclass(slots=True)
class RunState:
    """All that is known of one run after its fact number `tail`."""

    run_id: str
    scope: str
    key: str
    definition: Definition
    trigger: Trigger
    payload: Output
    started_at: datetime
    updated_at: datetime
    tail: int = 0
    #: A final status, once there is one.
    final: RunStatus | None = None
    ended_at: datetime | None = None
    #: How many executions have arrived so far.
    births: int = 0
    executions: HashTrieMap[str, Execution] = field(default_factory=HashTrieMap)
    branches: HashTrieMap[Branch, BranchState] = field(default_factory=HashTrieMap)
    fan_outs: HashTrieMap[FanOutId, FanOut] = field(default_factory=HashTrieMap)
    #: Performed executions of root; those of a fan-out stand in the fan-out's own lane.
    lane: Lane = field(default_factory=Lane)
    #: Executions by live status.
    pending: int = 0
    scheduled: int = 0
    waiting: int = 0
    retrying: int = 0
    reconciling: int = 0
    #: Executions to enter (the engine's own kinds, and arrivals above the visit limit), by id.
    entering: HashTrieMap[str, int] = field(default_factory=HashTrieMap)
    #: Executions whose answer is recorded and not interpreted, by id, with the number of its fact.
    concluding: HashTrieMap[str, int] = field(default_factory=HashTrieMap)
    #: Open waits, by wait id, with their execution.
    waits: HashTrieMap[str, str] = field(default_factory=HashTrieMap)
    #: Fan-outs whose join has not fired, with the order in which they were opened.
    gathering: HashTrieMap[FanOutId, int] = field(default_factory=HashTrieMap)
    #: Open waits of branches whose join fired without them: to be withdrawn.
    withdrawing: HashTrieMap[str, str] = field(default_factory=HashTrieMap)
    #: WorkflowRunNeedsReconciliation stands for the present stop.
    stop_told: bool = False
    unreachable: tuple[str, ...] = ()

    @property
    def status(self) -> RunStatus:
        """The run's status (semantics 1.13)."""
        if self.final is not None:
            return self.final
        if self.reconciling:
            return RunStatus.RECONCILIATION_REQUIRED
        if self.waiting and not (self.pending or self.scheduled or self.retrying):
            return RunStatus.WAITING
        return RunStatus.RUNNING

    @property
    def in_flight(self) -> bool:
        """Whether anything keeps the run from its finish (semantics 2.6)."""
        live = self.pending or self.scheduled or self.waiting or self.retrying or self.reconciling
        return bool(live) or len(self.gathering) > 0

    def branch(self, branch: Branch) -> BranchState:
        """What is known of a branch; nothing, before anything arrived in it."""
        return self.branches.get(branch) or FRESH_BRANCH

    def lane_of(self, branch: Branch) -> Lane:
        """The lane that a branch's performed executions share."""
        return self.fan_outs[fan_out_of(branch)].lane if branch else self.lane

    def abandoned(self, branch: Branch) -> bool:
        """Whether a join fired without this branch or one above it."""
        return any(self.branch(branch[:depth]).abandoned for depth in range(len(branch), 0, -1))


FRESH_BRANCH = BranchState()
