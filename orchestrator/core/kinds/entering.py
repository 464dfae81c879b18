"""What a kind may do when a path reaches one of its nodes: the face of a decision's draft that kinds see."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol, runtime_checkable

from orchestrator.core.data import JsonText
from orchestrator.core.facts import Fact
from orchestrator.core.graph import Node
from orchestrator.core.outcomes import FailureKind
from orchestrator.core.state import Execution, Output, RunState


class Reading(Protocol):
    """Gives the text of outputs, wherever they are kept."""

    def text(self, output: Output) -> JsonText:
        """The JSON of an output."""


class Entering(Protocol):
    """A decision in the making."""

    @property
    def state(self) -> RunState:
        """The run as the facts decided so far make it."""

    @property
    def now(self) -> datetime:
        """The time of this decision."""

    @property
    def known(self) -> Reading:
        """What can be read beside the state."""

    def emit(self, fact: Fact) -> None:
        """Decide a fact."""

    def node(self, execution: Execution) -> Node:
        """The node an execution visits."""

    def fail(self, execution: Execution, kind: FailureKind, reason: str, *, code: str | None = None) -> None:
        """Fail the execution for good, through whatever outlet is there for it."""


@runtime_checkable
class EnteredKind(Protocol):
    """A kind that the engine itself does on arrival; the others are performed, or are never arrived at."""

    def enter(self, draft: Entering, execution: Execution) -> None:
        """Decide what arriving means: exactly one fact that takes the execution out of Pending."""
