"""The trigger: where a run begins. Its output is the trigger's payload."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from orchestrator.core.graph import Graph, NodeKind, Outlet
from orchestrator.core.kinds.kind import Fault, NoConfiguration, read_nothing


class TriggerKind:
    """The entry point of a graph."""

    name: Final = NodeKind.TRIGGER
    sentence: Final = "The one place where a run begins; its output is the payload that the run was started with."
    usual_outlets: Final = (Outlet.NEXT,)
    shape: Final = "stadium"
    configuration: Final = NoConfiguration
    read = staticmethod(read_nothing)

    def faults(self, configuration: NoConfiguration, graph: Graph) -> Iterator[Fault]:
        """Nothing is read, so nothing is wrong."""
        return iter(())
