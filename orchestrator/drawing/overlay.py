"""What a run lays over the picture of its definition: a status and counts a node, and the edges that were taken.

Plain values; who folds them out of a journal is a read model, and how they look is `palette`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from orchestrator.core.graph import Edge


@dataclass(frozen=True, slots=True)
class NodeOverlay:
    """How one node stands in one run; `status` is an execution status (semantics 1.13)."""

    status: str
    visits: int = 1
    attempts: int = 1
    #: How many branches of a fan-out stand in each status at this node.
    branches: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Overlay:
    """One run over its definition: node overlays by node id, and the edges that were taken."""

    nodes: Mapping[str, NodeOverlay] = field(default_factory=dict)
    taken: frozenset[Edge] = frozenset()
