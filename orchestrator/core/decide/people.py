"""What only a person decides: the outcome of an ambiguous execution, and the end of a run (semantics 2.4)."""

from __future__ import annotations

from dataclasses import replace

from orchestrator.core.decide.commands import CancelRun, ReconcileExecution
from orchestrator.core.decide.draft import Draft
from orchestrator.core.facts import WorkflowNodeReconciled, WorkflowRunCancelled, WorkflowWaitCancelled
from orchestrator.core.graph import Node
from orchestrator.core.outcomes import FailureKind, Receipt
from orchestrator.core.state import ExecutionStatus
from orchestrator.errors import NotFound, Refused


def reconcile(draft: Draft, command: ReconcileExecution) -> None:
    """Settle one ambiguous execution. Raises `NotFound`, or `Refused` when it is not open or the outcome cannot be."""
    execution = draft.state.executions.get(command.execution_id)
    if execution is None:
        raise NotFound("execution", command.execution_id)
    if execution.status is not ExecutionStatus.RECONCILIATION_REQUIRED:
        raise Refused(
            f"execution {command.execution_id!r} of node {execution.ref.node!r} is {execution.status}: "
            "only an execution that is ReconciliationRequired can be reconciled"
        )
    receipt = command.receipt
    refuse_unfit(draft.node(execution), receipt, "an outcome chosen by a person")
    draft.emit(
        WorkflowNodeReconciled(execution.ref, replace(receipt, output=None), actor=command.actor, value=receipt.output)
    )


def refuse_unfit(node: Node, receipt: Receipt, what: str) -> None:
    """Raises `Refused` for an outcome that nobody may choose from outside for this node."""
    if receipt.status not in ("succeeded", "skipped", "failed"):
        raise Refused(f"{what} may be Succeeded, Skipped or Failed, not {receipt.status}")
    if receipt.status == "succeeded" and receipt.outlet not in node.outlets:
        declared = ", ".join(map(repr, node.outlets)) or "none"
        raise Refused(f"node {node.id!r} has no outlet {receipt.outlet!r}; it declares {declared}")
    if receipt.status == "failed" and receipt.kind is not FailureKind.ERROR:
        raise Refused(f"{what} cannot be taken: {receipt.reason}")


def cancel(draft: Draft, command: CancelRun) -> None:
    """End the run: open waits are withdrawn, live executions become Cancelled, no outlet is taken."""
    if draft.state.final:
        return
    for wait_id, execution_id in sorted(draft.state.waits.items(), key=lambda pair: _born(draft, pair[1])):
        ref = draft.state.executions[execution_id].ref
        draft.emit(WorkflowWaitCancelled(ref, wait_id, "the run was cancelled"))
    draft.emit(WorkflowRunCancelled(actor=command.actor, reason=command.reason))


def _born(draft: Draft, execution_id: str) -> int:
    return draft.state.executions[execution_id].born
