"""The dispatcher's port: how workers are told. A doorbell may be lost or come twice; the store is the truth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Doorbell:
    """What a worker is told of an attempt: ids, and what the carrier needs to route and limit it."""

    attempt_id: str
    run_id: str
    #: ``name@version``: the task's name.
    capability: str
    timeout: timedelta


class Dispatcher(Protocol):
    """Rings doorbells and calls attempts off."""

    def ring(self, doorbells: Sequence[Doorbell]) -> int:
        """Tell workers, after the commit; answers with how many were sent. Never raises for a broker that is away:
        what was not sent is rung again by beat."""

    def call_off(self, attempt_ids: Sequence[str]) -> None:
        """Ask the workers that hold these to stop; best effort, nothing depends on it."""


class Clock(Protocol):
    """The time of day."""

    def now(self) -> datetime:
        """Aware, UTC."""
