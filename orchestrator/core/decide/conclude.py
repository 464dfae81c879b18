"""Interpreting an answer that is recorded: what it means for its execution (semantics 1.9, 1.10, 2.8)."""

from __future__ import annotations

from datetime import timedelta
from typing import assert_never

from orchestrator.core.decide.draft import Draft
from orchestrator.core.facts import WorkflowNodeSkipped, WorkflowNodeSucceeded, WorkflowWaitOpened
from orchestrator.core.ids import attempt_id
from orchestrator.core.outcomes import FailureKind, Receipt
from orchestrator.core.state import Answer, Execution


def conclude(draft: Draft, execution: Execution) -> None:
    """Turn the recorded answer of this execution into the facts that follow from it."""
    answer = execution.answer
    assert answer is not None, "only an execution with a recorded answer is concluded"
    if answer.failure is not None:
        draft.fail(execution, answer.failure.kind, answer.failure.reason, code=answer.failure.code)
    elif answer.receipt is not None:
        _receipt(draft, execution, answer.receipt)
    elif execution.ref.visit > draft.node(execution).policy.max_visits:
        draft.fail(execution, FailureKind.VISIT_LIMIT_EXCEEDED, visit_reason(draft, execution))
    elif answer.outlet is None:
        draft.emit(WorkflowNodeSucceeded(execution.ref, None, answer.output.number or None))
    else:
        _leave(draft, execution, answer.outlet)


def visit_reason(draft: Draft, execution: Execution) -> str:
    """Why an arrival above the limit fails."""
    limit = draft.node(execution).policy.max_visits
    return f"visit {execution.ref.visit} of node {execution.ref.node!r}: maxVisits is {limit}"


def _receipt(draft: Draft, execution: Execution, receipt: Receipt) -> None:
    match receipt.status:
        case "succeeded":
            _leave(draft, execution, receipt.outlet or "")
        case "skipped":
            draft.emit(WorkflowNodeSkipped(execution.ref, receipt.reason or ""))
        case "failed":
            _failed(
                draft,
                execution,
                receipt.kind or FailureKind.ERROR,
                receipt.reason or "",
                code=receipt.code,
                retryable=receipt.retryable,
            )
        case "ambiguous":
            draft.doubt(execution, receipt.reason or "")
        case "suspended":
            _suspend(draft, execution, receipt.key or "", receipt.expires_after)
        case other:
            assert_never(other)


def _leave(draft: Draft, execution: Execution, outlet: str) -> None:
    answer = _answer(execution)
    node = draft.node(execution)
    if outlet in node.outlets:
        draft.emit(WorkflowNodeSucceeded(execution.ref, outlet, answer.output.number or None))
        return
    declared = ", ".join(map(repr, node.outlets)) or "none"
    reason = f"outlet {outlet!r} is not declared by node {node.id!r}, which declares {declared}"
    _failed(draft, execution, FailureKind.INVALID_OUTLET, reason, retryable=False)


def _failed(
    draft: Draft,
    execution: Execution,
    kind: FailureKind,
    reason: str,
    *,
    code: str | None = None,
    retryable: bool,
) -> None:
    """A failure stands beside its attempt where there was one, but not beside an outcome that a person chose."""
    if draft.node(execution).kind.performed and _answer(execution).by != "person":
        draft.fail_attempt(execution, kind, reason, code=code, retryable=retryable)
    else:
        draft.fail(execution, kind, reason, code=code)


def _suspend(draft: Draft, execution: Execution, key: str, expires_after: timedelta | None) -> None:
    holder = draft.holder(key)
    if holder is not None:
        reason = f"the completion key {key!r} is open already, held by execution {holder!r}"
        _failed(draft, execution, FailureKind.ERROR, reason, retryable=True)
        return
    deadline = None if expires_after is None else draft.now + expires_after
    wait_id = attempt_id(execution.ref.id, execution.attempt)
    draft.emit(WorkflowWaitOpened(execution.ref, wait_id, "completion", deadline, key=key))


def _answer(execution: Execution) -> Answer:
    assert execution.answer is not None
    return execution.answer
