"""A run over the picture of its definition: a pure fold of its state."""

from __future__ import annotations

from collections import Counter

from orchestrator.core.graph import Edge
from orchestrator.core.state import Execution, RunState
from orchestrator.drawing.overlay import NodeOverlay, Overlay

#: Of several executions of one node, the first status here that one of them has is shown.
_LOUDEST = (
    "ReconciliationRequired",
    "Scheduled",
    "RetryPending",
    "Waiting",
    "Pending",
    "Failed",
    "Succeeded",
    "Skipped",
    "Cancelled",
)


def overlay_of(state: RunState) -> Overlay:
    """Status, visits, attempts and branches of each node, and the edges that paths took."""
    by_node: dict[str, list[Execution]] = {}
    for execution in state.executions.values():
        by_node.setdefault(execution.ref.node, []).append(execution)
    nodes = {node: _node(executions) for node, executions in by_node.items()}
    nodes |= {node: NodeOverlay("Unreachable", visits=0, attempts=0) for node in state.unreachable}
    taken = {
        Edge(node, execution.outlet, target)
        for node, executions in by_node.items()
        for execution in executions
        if execution.outlet is not None
        for target in state.definition.graph.targets(node, execution.outlet)
    }
    return Overlay(nodes, frozenset(taken))


def _node(executions: list[Execution]) -> NodeOverlay:
    statuses = Counter(execution.status.value for execution in executions)
    inside = any(execution.ref.branch for execution in executions)
    return NodeOverlay(
        status=next(status for status in _LOUDEST if statuses[status]),
        visits=max(execution.ref.visit for execution in executions),
        attempts=max(execution.attempt for execution in executions),
        branches=dict(statuses) if inside else {},
    )
