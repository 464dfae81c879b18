"""The approval: a person says yes or no. A `kind` in its configuration changes nothing (semantics 1.3)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from orchestrator.core.facts import WorkflowWaitOpened
from orchestrator.core.graph import Graph, NodeKind, Outlet
from orchestrator.core.kinds.entering import Entering
from orchestrator.core.kinds.kind import Configuration, Fault, reader
from orchestrator.core.shapes import Expiry
from orchestrator.core.state import Execution


class ApprovalConfiguration(Configuration):
    """How long a person has."""

    expires_after: Expiry = None
    """How long the approval stays open before it leaves through `expired`; absent or zero is for ever."""


#: The configuration of an admitted approval.
read: Final = reader(ApprovalConfiguration)


class ApprovalKind:
    """A decision that a person takes."""

    name: Final = NodeKind.APPROVAL
    sentence: Final = "Stands still until a person approves or rejects, or until its time has run out."
    usual_outlets: Final = (Outlet.APPROVED, Outlet.REJECTED, Outlet.EXPIRED)
    shape: Final = "hexagon"
    configuration: Final = ApprovalConfiguration
    read = staticmethod(read)

    def faults(self, configuration: ApprovalConfiguration, graph: Graph) -> Iterator[Fault]:
        """Any form that fits is right."""
        return iter(())

    def enter(self, draft: Entering, execution: Execution) -> None:
        """Open the approval."""
        within = read(draft.node(execution).configuration).expires_after
        deadline = None if within is None else draft.now + within
        draft.emit(WorkflowWaitOpened(execution.ref, execution.ref.id, "approval", deadline))
