"""The action: work that a performer does. Its configuration is the performer's and is not looked into here."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from orchestrator.core.graph import Graph, NodeKind, Outlet
from orchestrator.core.kinds.kind import Fault, NoConfiguration, read_nothing


class ActionKind:
    """A step that user code performs."""

    name: Final = NodeKind.ACTION
    sentence: Final = (
        "Calls the performer of its capability; the configuration is handed to the performer as it stands."
    )
    usual_outlets: Final = (Outlet.NEXT, Outlet.FAILED, Outlet.FALLBACK)
    shape: Final = "rect"
    configuration: Final = NoConfiguration
    read = staticmethod(read_nothing)

    def faults(self, configuration: NoConfiguration, graph: Graph) -> Iterator[Fault]:
        """Nothing is read, so nothing is wrong."""
        return iter(())
