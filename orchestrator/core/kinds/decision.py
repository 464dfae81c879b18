"""The decision: a performer picks one of the node's own outlets. It runs exactly as an action does."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from orchestrator.core.graph import Graph, NodeKind, Outlet
from orchestrator.core.kinds.kind import Fault, NoConfiguration, read_nothing


class DecisionKind:
    """A step in which user code chooses the way."""

    name: Final = NodeKind.DECISION
    sentence: Final = (
        "Calls the performer of its capability, which answers with one of the outlets that the node itself lists."
    )
    usual_outlets: Final = (Outlet.FAILED, Outlet.FALLBACK)
    shape: Final = "diamond"
    configuration: Final = NoConfiguration
    read = staticmethod(read_nothing)

    def faults(self, configuration: NoConfiguration, graph: Graph) -> Iterator[Fault]:
        """Nothing is read, so nothing is wrong."""
        return iter(())
