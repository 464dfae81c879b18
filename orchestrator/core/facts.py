"""The facts of a run's journal (semantics 2.1), one frozen class a type, stored under the class's own name.

A fact that brings user JSON into the journal carries it in `value`, once: what a later fact needs of it, it names by
number. What follows from a fact is `evolve`'s; what is owed for it is `effects`'.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple, TypeAlias

from orchestrator.core.data import JsonText
from orchestrator.core.outcomes import FailureKind, Receipt


class Step(NamedTuple):
    """One step of a branch's path: which fan-out (forEach node and its visit) and which item."""

    for_each: str
    visit: int
    key: str


#: A branch is the path of fan-outs that leads to it; root is the empty path (semantics 1.6).
Branch: TypeAlias = tuple[Step, ...]
ROOT: Branch = ()


@dataclass(frozen=True, slots=True)
class ExecutionRef:
    """Which execution a fact speaks of."""

    id: str
    node: str
    branch: Branch
    visit: int


@dataclass(frozen=True, slots=True)
class Trigger:
    """What started the run; recorded, never branched on. The payload is the fact's value."""

    kind: str = "manual"
    subject_kind: str | None = None
    subject_id: str | None = None
    correlation: str | None = None


@dataclass(frozen=True, slots=True)
class WorkflowRunAdmitted:
    """The run exists; definition and trigger are in it. Always number 1."""

    run_id: str
    scope: str
    key: str
    #: The pinned definition as canonical JSON text.
    definition: JsonText
    trigger: Trigger
    #: The trigger's payload.
    value: JsonText | None


@dataclass(frozen=True, slots=True)
class WorkflowNodeScheduled:
    """An attempt of an execution is owed to a worker; stands before any message is sent."""

    execution: ExecutionRef
    attempt: int


@dataclass(frozen=True, slots=True)
class WorkflowNodeInputPinned:
    """What every attempt of this execution gets, by reference to the facts that brought it in."""

    execution: ExecutionRef
    #: By node id: the number of the fact that brought its output in.
    nodes: Mapping[str, int]
    #: By node id: the number of the fact of its latest failure for good.
    failures: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class WorkflowNodeOperationCompleted:
    """A performer has answered: the receipt, before it is interpreted. It is not called again for this attempt."""

    execution: ExecutionRef
    attempt: int
    #: The answer without its output, which is the value.
    outcome: Receipt
    worker: str | None = None
    claimed_at: datetime | None = None
    value: JsonText | None = None


@dataclass(frozen=True, slots=True)
class WorkflowNodeSucceeded:
    """An execution is done and leaves through an outlet."""

    execution: ExecutionRef
    #: None only for a trigger that declares no `next`.
    outlet: str | None
    #: The number of the fact that brought the output in; None stands for the output ``{}``.
    output_at: int | None


@dataclass(frozen=True, slots=True)
class WorkflowNodeSkipped:
    """There was nothing to do: the path ends, which is no failure."""

    execution: ExecutionRef
    reason: str


@dataclass(frozen=True, slots=True)
class WorkflowNodeAttemptFailed:
    """One attempt failed, with a retry due or none; stands for the last one too."""

    execution: ExecutionRef
    attempt: int
    kind: FailureKind
    reason: str
    code: str | None = None
    retry_due: datetime | None = None


@dataclass(frozen=True, slots=True)
class WorkflowNodeFailed:
    """An execution failed for good."""

    execution: ExecutionRef
    kind: FailureKind
    reason: str
    code: str | None = None
    #: None: unrouted.
    outlet: str | None = None


@dataclass(frozen=True, slots=True)
class WorkflowNodeOutcomeAmbiguous:
    """Nobody knows whether the effect of an attempt happened."""

    execution: ExecutionRef
    attempt: int
    reason: str


@dataclass(frozen=True, slots=True)
class WorkflowRunNeedsReconciliation:
    """The run stopped for a person; once a stop."""

    execution: ExecutionRef


@dataclass(frozen=True, slots=True)
class WorkflowNodeReconciled:
    """A person chose the outcome of an ambiguous execution."""

    execution: ExecutionRef
    outcome: Receipt
    actor: str | None = None
    value: JsonText | None = None


@dataclass(frozen=True, slots=True)
class WorkflowBranchesFannedOut:
    """A forEach opened one branch an item; the items are pinned."""

    execution: ExecutionRef
    #: The items, a JSON list in order, pinned.
    value: JsonText | None


@dataclass(frozen=True, slots=True)
class WorkflowBranchesJoined:
    """A join fired and no longer waits for its branches."""

    #: The visit of the join.
    execution: ExecutionRef
    #: The forEach whose branches were gathered.
    fan_out: ExecutionRef
    outlet: str
    #: Executions of branches it no longer waits for, scheduled and not claimed by anybody: called off.
    called_off: tuple[str, ...] = ()
    #: What became of each branch, by key.
    value: JsonText | None = None


@dataclass(frozen=True, slots=True)
class WorkflowWaitOpened:
    """A wait, an approval or a suspended node stands open."""

    execution: ExecutionRef
    wait_id: str
    #: ``signal``, ``timer``, ``approval`` or ``completion``.
    wait_kind: str
    deadline: datetime | None = None
    #: The contract a signal wait accepts, ``name@version``; None is any.
    signal: str | None = None
    #: The key of a completion.
    key: str | None = None


@dataclass(frozen=True, slots=True)
class WorkflowWaitResolved:
    """A wait was closed by a person, a signal, a key or time."""

    execution: ExecutionRef
    wait_id: str
    #: The outlet taken; of a completion by key the outcome says it.
    outlet: str | None
    outcome: Receipt | None = None
    actor: str | None = None
    value: JsonText | None = None


@dataclass(frozen=True, slots=True)
class WorkflowWaitCancelled:
    """A wait was withdrawn by the engine."""

    execution: ExecutionRef
    wait_id: str
    reason: str


@dataclass(frozen=True, slots=True)
class WorkflowJobStopped:
    """The carrier of an attempt was stopped without an answer; it runs again and no attempt is used."""

    execution: ExecutionRef
    attempt: int
    retry_due: datetime | None = None


@dataclass(frozen=True, slots=True)
class WorkflowNodesUnreachable:
    """Nodes that no path reached, told at the finish."""

    nodes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class WorkflowRunSucceeded:
    """The run ended well. Final."""


@dataclass(frozen=True, slots=True)
class WorkflowRunFailed:
    """The run ended with a failure that nothing routed. Final."""

    #: The first failure in root that nothing routed.
    execution: ExecutionRef
    kind: FailureKind
    reason: str
    code: str | None = None


@dataclass(frozen=True, slots=True)
class WorkflowRunCancelled:
    """The run was ended by somebody. Final."""

    actor: str | None = None
    reason: str | None = None


Fact: TypeAlias = (
    WorkflowRunAdmitted
    | WorkflowNodeScheduled
    | WorkflowNodeInputPinned
    | WorkflowNodeOperationCompleted
    | WorkflowNodeSucceeded
    | WorkflowNodeSkipped
    | WorkflowNodeAttemptFailed
    | WorkflowNodeFailed
    | WorkflowNodeOutcomeAmbiguous
    | WorkflowRunNeedsReconciliation
    | WorkflowNodeReconciled
    | WorkflowBranchesFannedOut
    | WorkflowBranchesJoined
    | WorkflowWaitOpened
    | WorkflowWaitResolved
    | WorkflowWaitCancelled
    | WorkflowJobStopped
    | WorkflowNodesUnreachable
    | WorkflowRunSucceeded
    | WorkflowRunFailed
    | WorkflowRunCancelled
)

#: Every fact type by the name it is stored under.
FACT_TYPES: Mapping[str, type[Fact]] = {kind.__name__: kind for kind in Fact.__args__}


@dataclass(frozen=True, slots=True)
class Recorded:
    """A fact in its place in a journal."""

    number: int
    at: datetime
    fact: Fact
    #: Bytes of the fact's value, also when the value itself was left out on loading.
    size: int = field(default=0)


def value_of(fact: Fact) -> JsonText | None:
    """The user JSON that a fact brings in."""
    return getattr(fact, "value", None)
