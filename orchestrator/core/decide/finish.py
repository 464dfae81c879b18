"""The end of a run, when nothing is in flight any more (semantics 2.6)."""

from __future__ import annotations

from orchestrator.core.decide.draft import Draft
from orchestrator.core.facts import (
    ROOT,
    WorkflowNodesUnreachable,
    WorkflowRunFailed,
    WorkflowRunSucceeded,
)


def finish(draft: Draft) -> None:
    """Record what no path reached, then how the run ended; nothing while anything is in flight."""
    state = draft.state
    if state.final or state.in_flight:
        return
    if not state.unreachable:
        reached = {node for branch in state.branches.values() for node in branch.visits}
        unreachable = tuple(node.id for node in state.definition.graph.nodes if node.id not in reached)
        if unreachable:
            draft.emit(WorkflowNodesUnreachable(unreachable))
    unrouted = state.branch(ROOT).unrouted
    if unrouted is None:
        draft.emit(WorkflowRunSucceeded())
    else:
        ref, failure = unrouted
        draft.emit(WorkflowRunFailed(ref, failure.kind, failure.reason, failure.code))
