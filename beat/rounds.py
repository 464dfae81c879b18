"""The rounds of a beat: which pump is due, how long one may go on, and how long to leave one alone that fails.

Time comes in as an argument; who waits in between is the scheduler's business.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

import structlog

from orchestrator.engine.engine import Engine
from orchestrator.errors import CeleriacError
from orchestrator.pumps.pump import Pump

log = structlog.stdlib.get_logger(__name__)

#: Rows a pump takes at once.
BATCH: Final = 100

#: A pump that fails is left alone for its own interval doubled again and again, up to this many seconds.
LONGEST_REST: Final = 30.0

#: One round goes on for this long at most while there is more to do, so that the process stays answerable.
LONGEST_ROUND: Final = 5.0


@dataclass(slots=True)
class _Turn:
    pump: Pump
    due: float = 0.0
    failures: int = 0

    @property
    def gap(self) -> float:
        own = self.pump.every.total_seconds()
        return min(own * 2**self.failures, max(LONGEST_REST, own)) if self.failures else own


class Rounds:
    """All pumps of one beat."""

    def __init__(self, pumps: Sequence[Pump], *, batch: int = BATCH) -> None:
        self._turns = [_Turn(pump) for pump in pumps]
        self._batch = batch

    def go(self, engine: Engine, *, now: Callable[[], datetime], monotonic: Callable[[], float]) -> float:
        """Run every pump that is due, in turn, as long as any of them has a full batch more to do; answers with the
        seconds until the next is due. Raises nothing."""
        began = monotonic()
        full = [turn for turn in self._turns if turn.due <= began]
        for turn in full:
            turn.due = began + turn.pump.every.total_seconds()
        while full and monotonic() - began < LONGEST_ROUND:
            full = [turn for turn in full if self._one_batch(turn, engine, now(), monotonic)]
        for turn in full:
            turn.due = began
        return max(min(turn.due for turn in self._turns) - monotonic(), 0.0) if self._turns else LONGEST_ROUND

    def _one_batch(self, turn: _Turn, engine: Engine, now: datetime, monotonic: Callable[[], float]) -> bool:
        """Whether there is more to do at once."""
        try:
            handled = turn.pump.run(engine, now, self._batch)
        except Exception as error:
            if not turn.failures or not isinstance(error, CeleriacError):
                log.warning("pump_failed", pump=turn.pump.name, problem=str(error), exc_info=_unknown(error))
            turn.failures = min(turn.failures + 1, 10)
            turn.due = monotonic() + turn.gap
            return False
        if turn.failures:
            log.info("pump_works_again", pump=turn.pump.name)
        turn.failures = 0
        return handled >= self._batch


def _unknown(error: Exception) -> Exception | None:
    return None if isinstance(error, CeleriacError) else error
