"""What a pump is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from orchestrator.engine.engine import Engine

#: A row that a pump has taken is left alone by other beats for so long; if its beat dies it comes up again after that.
TAKEN = timedelta(seconds=5)


@dataclass(frozen=True, slots=True)
class Pump:
    """One loop of beat as a function."""

    name: str
    #: How often it is run.
    every: timedelta
    #: One batch: the engine, now, at most so many rows; answers how many were handled.
    run: Callable[[Engine, datetime, int], int]
