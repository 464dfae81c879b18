"""The draft of a decision: facts emitted so far and the state they make, and what is known from outside the journal.

Deciding stays pure: what it needs and does not have it asks for by raising `Missing`, and is asked again.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from orchestrator.core.data import DEFAULT_LIMITS, DataLimits, JsonText, size
from orchestrator.core.evolve import evolve
from orchestrator.core.facts import (
    Fact,
    Recorded,
    WorkflowNodeAttemptFailed,
    WorkflowNodeFailed,
    WorkflowNodeOutcomeAmbiguous,
    WorkflowNodeScheduled,
    WorkflowRunNeedsReconciliation,
    WorkflowWaitOpened,
    value_of,
)
from orchestrator.core.graph import Node, Outlet
from orchestrator.core.outcomes import FailureKind
from orchestrator.core.state import Execution, Output, RunState


class Missing(Exception):
    """Deciding needs something that is not in the folded state: no error, a request to load it and ask again."""

    def __init__(self, *, values: Iterable[int] = (), claims: bool = False, keys: Iterable[str] = ()) -> None:
        self.values = frozenset(values)
        self.claims = claims
        self.keys = frozenset(keys)
        super().__init__(f"values {sorted(self.values)}, claims {claims}, keys {sorted(self.keys)}")


@dataclass(frozen=True, slots=True)
class Known:
    """What was loaded beside the folded state."""

    #: Large values by the number of their fact.
    values: Mapping[int, JsonText] = field(default_factory=dict)
    #: The executions whose present attempt is claimed by a worker; None: not looked at.
    claimed: frozenset[str] | None = None
    #: For completion keys: the execution that holds each, or None when it is free.
    holders: Mapping[str, str | None] = field(default_factory=dict)
    limits: DataLimits = DEFAULT_LIMITS

    def text(self, output: Output) -> JsonText:
        """The JSON of an output; raises `Missing`."""
        if output.text is not None:
            return output.text
        if output.number not in self.values:
            raise Missing(values=(output.number,))
        return self.values[output.number]

    def texts(self, outputs: Iterable[Output]) -> None:
        """Make sure that all of these can be read; raises one `Missing` for all."""
        absent = {o.number for o in outputs if o.text is None and o.number not in self.values}
        if absent:
            raise Missing(values=absent)

    def holder(self, key: str) -> str | None:
        """Which execution's wait holds a completion key; raises `Missing`."""
        if key not in self.holders:
            raise Missing(keys=(key,))
        return self.holders[key]

    def is_claimed(self, execution_id: str) -> bool:
        """Whether a worker holds the present attempt; raises `Missing`."""
        if self.claimed is None:
            raise Missing(claims=True)
        return execution_id in self.claimed


class Draft:
    """Facts decided so far, and the state they lead to."""

    def __init__(self, state: RunState, now: datetime, known: Known) -> None:
        self.state = state
        self.now = now
        # What this very decision brings in is known too, though it is stored nowhere yet.
        self._own: dict[int, JsonText] = {}
        self.known = replace(known, values=ChainMap(self._own, dict(known.values)))
        self.facts: list[Recorded] = []
        self._handed_out: set[str] = set()

    def emit(self, fact: Fact) -> None:
        """Decide one more fact."""
        value = value_of(fact)
        recorded = Recorded(self.state.tail + 1, self.now, fact, 0 if value is None else size(value))
        if value is not None:
            self._own[recorded.number] = value
        if isinstance(fact, WorkflowNodeScheduled):
            self._handed_out.add(fact.execution.id)
        self.state = evolve(self.state, recorded)
        self.facts.append(recorded)

    def holder(self, key: str) -> str | None:
        """Which execution's open wait holds a completion key, as the facts of this decision leave it."""
        opened = (
            r.fact.execution.id for r in self.facts if isinstance(r.fact, WorkflowWaitOpened) and r.fact.key == key
        )
        for id in (self.known.holder(key), *opened):
            mine = self.state.executions.get(id or "")
            if id is not None and (mine is None or (mine.wait is not None and mine.wait.key == key)):
                return id
        return None

    def is_claimed(self, execution_id: str) -> bool:
        """Whether a worker holds the present attempt; nobody can hold what this very decision hands out."""
        return execution_id not in self._handed_out and self.known.is_claimed(execution_id)

    def node(self, execution: Execution) -> Node:
        """The node an execution visits."""
        return self.state.definition.graph.node[execution.ref.node]

    def fail(self, execution: Execution, kind: FailureKind, reason: str, *, code: str | None = None) -> None:
        """Fail for good, through the outlet that is there for it (semantics 1.10)."""
        outlet = None if self.state.abandoned(execution.ref.branch) else self._route(execution.ref.node, kind)
        self.emit(WorkflowNodeFailed(execution.ref, kind, reason, code, outlet))

    def _route(self, node: str, kind: FailureKind) -> str | None:
        targets = self.state.definition.graph.targets
        if kind is FailureKind.VISIT_LIMIT_EXCEEDED:
            return None
        if kind in (FailureKind.INVALID_OUTLET, FailureKind.INVALID_OUTPUT) and targets(node, Outlet.FALLBACK):
            return Outlet.FALLBACK
        return Outlet.FAILED if targets(node, Outlet.FAILED) else None

    def fail_attempt(
        self,
        execution: Execution,
        kind: FailureKind,
        reason: str,
        *,
        code: str | None = None,
        retryable: bool = True,
    ) -> None:
        """One attempt failed: due again while attempts remain, else failed for good when it is concluded."""
        policy = self.node(execution).policy
        again = (
            retryable
            and kind.retried
            and execution.attempt < policy.max_attempts
            and not self.state.abandoned(execution.ref.branch)
        )
        due = self.now + policy.retry_delay if again else None
        self.emit(WorkflowNodeAttemptFailed(execution.ref, execution.attempt, kind, reason, code, due))

    def doubt(self, execution: Execution, reason: str) -> None:
        """Nobody knows whether the effect happened: the run stops for a person, which is told once a stop."""
        self.emit(WorkflowNodeOutcomeAmbiguous(execution.ref, execution.attempt, reason))
        self.tell_stop()

    def tell_stop(self) -> None:
        """Say that the run stopped, if it is not said yet."""
        if self.state.reconciling and not self.state.stop_told:
            stopped = min(
                (e for e in self.state.executions.values() if e.status == "ReconciliationRequired"),
                key=lambda e: e.born,
            )
            self.emit(WorkflowRunNeedsReconciliation(stopped.ref))
