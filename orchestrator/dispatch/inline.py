"""The dispatcher in memory: what was rung stands in a queue, for tests and simulations that perform it themselves."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from orchestrator.ports.dispatch import Doorbell


class InlineDispatcher:
    """Collects doorbells; switched off it behaves as with a broker that is away."""

    def __init__(self) -> None:
        self.rung: deque[Doorbell] = deque()
        self.called_off: list[str] = []
        self.away = False

    def ring(self, doorbells: Sequence[Doorbell]) -> int:
        """Put them into the queue."""
        if self.away:
            return 0
        self.rung.extend(doorbells)
        return len(doorbells)

    def call_off(self, attempt_ids: Sequence[str]) -> None:
        """Note which attempts were called off."""
        self.called_off.extend(attempt_ids)
