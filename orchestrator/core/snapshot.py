"""A run as people and programs look at it: typed values, and the same as a wire document (interface, Shapes)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from orchestrator.core.codec import execution_document
from orchestrator.core.data import JsonText, load
from orchestrator.core.facts import ExecutionRef
from orchestrator.core.instants import format_instant
from orchestrator.core.state import Execution, ExecutionStatus, Output, RunState, RunStatus


@dataclass(frozen=True, slots=True)
class FailureView:
    """A failure for good; `outlet` is None when nothing routed it."""

    execution: ExecutionRef
    kind: str
    code: str | None
    reason: str
    outlet: str | None

    def document(self) -> dict[str, Any]:
        """On the wire."""
        return {
            "execution": execution_document(self.execution),
            "kind": self.kind,
            "code": self.code,
            "reason": self.reason,
            "outlet": self.outlet,
        }


@dataclass(frozen=True, slots=True)
class ExecutionView:
    """One visit of a branch at a node."""

    execution: ExecutionRef
    status: ExecutionStatus
    #: How many attempts were scheduled.
    attempts: int
    outlet: str | None
    #: The output as a Python value; None until it succeeded.
    output: Any
    failure: FailureView | None
    retry_due: datetime | None

    @property
    def id(self) -> str:
        return self.execution.id

    @property
    def node(self) -> str:
        return self.execution.node

    @property
    def key(self) -> str | None:
        """The item's key, in a branch."""
        return self.execution.branch[-1].key if self.execution.branch else None

    def document(self) -> dict[str, Any]:
        """On the wire."""
        return {
            "execution": execution_document(self.execution),
            "status": self.status.value,
            "attempts": self.attempts,
            "outlet": self.outlet,
            "output": self.output,
            "failure": None if self.failure is None else self.failure.document(),
            "retryDue": None if self.retry_due is None else format_instant(self.retry_due),
        }


@dataclass(frozen=True, slots=True)
class WaitView:
    """An open wait."""

    id: str
    execution: ExecutionRef
    #: ``signal``, ``timer``, ``approval`` or ``completion``.
    kind: str
    #: ``name@version``; None accepts any.
    signal: str | None
    key: str | None
    deadline: datetime | None
    opened_at: datetime

    @property
    def node(self) -> str:
        return self.execution.node

    def document(self) -> dict[str, Any]:
        """On the wire."""
        return {
            "waitId": self.id,
            "execution": execution_document(self.execution),
            "kind": self.kind,
            "signal": self.signal,
            "key": self.key,
            "deadline": None if self.deadline is None else format_instant(self.deadline),
            "openedAt": format_instant(self.opened_at),
        }


@dataclass(frozen=True, slots=True)
class RunSnapshot:
    """A run after its fact number `tail`."""

    id: str
    scope: str
    workflow: str
    #: The version of the definition it is pinned to.
    version: int
    key: str
    status: RunStatus
    trigger: dict[str, Any]
    #: In the order of their arrival.
    executions: tuple[ExecutionView, ...]
    waits: tuple[WaitView, ...]
    unreachable: tuple[str, ...]
    failures: tuple[FailureView, ...]
    started_at: datetime
    ended_at: datetime | None
    tail: int

    def document(self) -> dict[str, Any]:
        """On the wire."""
        return {
            "runId": self.id,
            "scope": self.scope,
            "workflow": self.workflow,
            "version": self.version,
            "key": self.key,
            "status": self.status.value,
            "trigger": self.trigger,
            "executions": [execution.document() for execution in self.executions],
            "waits": [wait.document() for wait in self.waits],
            "unreachable": list(self.unreachable),
            "failures": [failure.document() for failure in self.failures],
            "startedAt": format_instant(self.started_at),
            "endedAt": None if self.ended_at is None else format_instant(self.ended_at),
            "tail": self.tail,
        }

    def executions_of(self, node: str) -> tuple[ExecutionView, ...]:
        """All visits at one node, in the order of their arrival."""
        return tuple(execution for execution in self.executions if execution.node == node)


def snapshot(state: RunState, text: Callable[[Output], JsonText]) -> RunSnapshot:
    """The run as of this state; `text` reads outputs that the state keeps by reference."""
    executions = sorted(state.executions.values(), key=lambda execution: execution.born)
    views = tuple(_execution(execution, text) for execution in executions)
    trigger = state.trigger
    return RunSnapshot(
        id=state.run_id,
        scope=state.scope,
        workflow=state.definition.workflow,
        version=state.definition.version,
        key=state.key,
        status=state.status,
        trigger={
            "kind": trigger.kind,
            "payload": load(text(state.payload)),
            "subject": None
            if trigger.subject_kind is None
            else {"kind": trigger.subject_kind, "id": trigger.subject_id},
            "correlation": trigger.correlation,
        },
        executions=views,
        waits=tuple(_wait(execution) for execution in executions if execution.wait is not None),
        unreachable=state.unreachable,
        failures=tuple(view.failure for view in views if view.failure is not None),
        started_at=state.started_at,
        ended_at=state.ended_at,
        tail=state.tail,
    )


def large_outputs(state: RunState) -> frozenset[int]:
    """The facts whose values `snapshot` needs and the state does not hold."""
    outputs = [state.payload, *(e.output for e in state.executions.values() if e.output is not None)]
    return frozenset(output.number for output in outputs if output.text is None)


def _execution(execution: Execution, text: Callable[[Output], JsonText]) -> ExecutionView:
    failure = execution.failure
    return ExecutionView(
        execution=execution.ref,
        status=execution.status,
        attempts=execution.attempt,
        outlet=execution.outlet,
        output=None if execution.output is None else load(text(execution.output)),
        failure=None
        if failure is None
        else FailureView(execution.ref, failure.kind.value, failure.code, failure.reason, execution.outlet),
        retry_due=execution.retry_due,
    )


def _wait(execution: Execution) -> WaitView:
    wait = execution.wait
    assert wait is not None
    return WaitView(wait.id, execution.ref, wait.kind, wait.signal, wait.key, wait.deadline, wait.opened_at)
