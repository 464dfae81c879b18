"""The join: gathers the branches of its one forEach (semantics 1.3, 1.12)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Literal

from pydantic import ConfigDict

from orchestrator.core.graph import Graph, NodeKind, Outlet
from orchestrator.core.kinds.kind import Configuration, Fault, reader, reference_faults


class JoinConfiguration(Configuration):
    """Whose branches are gathered, and when that is enough."""

    model_config = ConfigDict(
        json_schema_extra={
            "required": ["forEach"],
            "if": {"properties": {"mode": {"const": "atLeast"}}, "required": ["mode"]},
            "then": {"properties": {"threshold": {"minimum": 1}}, "required": ["threshold"]},
        }
    )

    for_each: str = ""
    """The id of the forEach whose branches are gathered."""
    mode: Literal["all", "any", "atLeast"] = "all"
    """Satisfied by all branches, by any one, or by at least `threshold` of them."""
    threshold: int | None = None
    """How many branches must succeed; needed for `atLeast`, at least 1."""


#: The configuration of an admitted join.
read: Final = reader(JoinConfiguration)


class JoinKind:
    """The end of a fan-out."""

    name: Final = NodeKind.JOIN
    sentence: Final = "Gathers the branches of one forEach; its output says by key what became of each."
    usual_outlets: Final = (Outlet.COMPLETED, Outlet.PARTIAL)
    shape: Final = "trap-t"
    configuration: Final = JoinConfiguration
    read = staticmethod(read)

    def faults(self, configuration: JoinConfiguration, graph: Graph) -> Iterator[Fault]:
        """There must be branches to gather, and a number where one is needed."""
        yield from reference_faults(graph, "forEach", configuration.for_each, allowed=frozenset({NodeKind.FOR_EACH}))
        if configuration.mode == "atLeast" and (configuration.threshold is None or configuration.threshold < 1):
            yield Fault("threshold", "must be 1 or more where the mode is atLeast; say how many branches must succeed")
