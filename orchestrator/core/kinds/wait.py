"""The wait: a point where a run stands still until a signal comes or time has passed (semantics 1.3, 1.11)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Final, Literal

from pydantic import ConfigDict

from orchestrator.core.facts import WorkflowWaitOpened
from orchestrator.core.graph import Graph, NodeKind, Outlet
from orchestrator.core.kinds.entering import Entering
from orchestrator.core.kinds.kind import Configuration, Fault, reader
from orchestrator.core.shapes import Expiry, NamedVersion, OptionalDuration, Written, as_object
from orchestrator.core.state import Execution


class WaitConfiguration(Configuration):
    """What a wait waits for."""

    model_config = ConfigDict(
        json_schema_extra={
            "if": {"properties": {"kind": {"const": "timer"}}, "required": ["kind"]},
            "then": {"required": ["after"]},
        }
    )

    kind: Literal["signal", "timer"] = "signal"
    """A signal from outside, or time to pass."""
    after: OptionalDuration = None
    """How long a timer waits; needed for a timer, zero elapses at once."""
    expires_after: Expiry = None
    """How long a signal wait stays open before it leaves through `expired`; absent or zero is for ever."""
    signal: Annotated[NamedVersion | None, Written(as_object)] = None
    """The contract that a signal must name, {id, version} or text id@version; absent is any."""


#: The configuration of an admitted wait.
read: Final = reader(WaitConfiguration)


class WaitKind:
    """A wait for a signal or for time."""

    name: Final = NodeKind.WAIT
    sentence: Final = "Stands still until a signal resumes it or cancels it, or, as a timer, until time has passed."
    usual_outlets: Final = (Outlet.RESUMED, Outlet.CANCELLED, Outlet.ELAPSED, Outlet.EXPIRED)
    shape: Final = "delay"
    configuration: Final = WaitConfiguration
    read = staticmethod(read)

    def faults(self, configuration: WaitConfiguration, graph: Graph) -> Iterator[Fault]:
        """A timer needs its time, a contract must be possible."""
        if configuration.kind == "timer" and configuration.after is None:
            yield Fault("after", "is missing; a timer needs to know how long it waits (zero elapses at once)")
        if configuration.signal is not None and (problem := configuration.signal.problem()):
            yield Fault("signal", problem)

    def enter(self, draft: Entering, execution: Execution) -> None:
        """Open a signal wait or a timer."""
        configuration = read(draft.node(execution).configuration)
        within = configuration.after if configuration.kind == "timer" else configuration.expires_after
        deadline = None if within is None else draft.now + within
        signal = None if configuration.signal is None else str(configuration.signal)
        draft.emit(
            WorkflowWaitOpened(
                execution.ref,
                execution.ref.id,
                configuration.kind,
                deadline,
                signal=signal if configuration.kind == "signal" else None,
            )
        )
