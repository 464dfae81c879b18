"""What every part of the engine is given: the ports, the limits, and the folded states of this process."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta

from orchestrator.core.data import DEFAULT_LIMITS, DataLimits
from orchestrator.engine.loading import FoldedStates
from orchestrator.ports.dispatch import Clock, Dispatcher
from orchestrator.ports.store import Store


@dataclass(frozen=True, slots=True)
class Deps:
    """The engine's surroundings."""

    store: Store
    dispatcher: Dispatcher
    clock: Clock
    limits: DataLimits = DEFAULT_LIMITS
    #: How long a worker's claim lives without being renewed.
    lease: timedelta = timedelta(seconds=30)
    states: FoldedStates = field(default_factory=lambda: FoldedStates(1_000))
