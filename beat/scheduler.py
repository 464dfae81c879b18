"""The metronome: a beat scheduler that runs our pumps each tick, beside the entries that the application has itself.

Any number of beats may run: rows are shared with row locks, and what each pump decides is decided again harmlessly.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import structlog
from celery.beat import Scheduler

from orchestrator.engine.engine import Engine
from orchestrator.errors import StoreUnavailable
from orchestrator.pumps.metronome import PUMPS
from orchestrator.pumps.pump import Pump
from orchestrator.wiring import close, engine_from, settings_of

log = structlog.stdlib.get_logger(__name__)

#: Rows that one turn of a pump looks at.
BATCH = 200
#: Turns of one pump in one tick at most, so that a flood of one sort does not starve the others.
TURNS = 5
#: A pump that fails is left alone for its interval, doubled each time, at most this long, in seconds.
LONGEST_REST = 30.0
#: When a step of beat itself fails, in seconds.
LONGEST_SLEEP = 1.0


@dataclass(slots=True)
class _Beating:
    """A pump and when its next turn is, on a monotonic clock."""

    pump: Pump
    next_at: float = 0.0
    failures: int = 0


class Pumping:
    """Runs pumps when they are due; never raises. The loop is beat's, the clock is handed in."""

    def __init__(self, engine: Engine, pumps: Iterable[Pump], tick: float) -> None:
        self._engine = engine
        self._tick = tick
        self._beating = [_Beating(pump) for pump in pumps]

    def run(self, monotonic: float, now: datetime) -> float:
        """Run what is due; answers with the seconds until something is due again, 0 when a flood is not over."""
        for beating in self._beating:
            if beating.next_at <= monotonic:
                self._turn(beating, monotonic, now)
        return max(0.0, min(beating.next_at for beating in self._beating) - monotonic)

    def _turn(self, beating: _Beating, monotonic: float, now: datetime) -> None:
        every = min(beating.pump.every.total_seconds(), self._tick)
        try:
            flooded = self._drain(beating.pump, now)
        except StoreUnavailable as error:
            log.warning(
                "pump_failed", pump=beating.pump.name, again_in_seconds=_rest(beating, every, monotonic), why=str(error)
            )
        except Exception:
            log.exception("pump_failed", pump=beating.pump.name, again_in_seconds=_rest(beating, every, monotonic))
        else:
            beating.failures = 0
            beating.next_at = monotonic if flooded else monotonic + every

    def _drain(self, pump: Pump, now: datetime) -> bool:
        """Some turns of one pump; True when there is still more to do."""
        return all(pump.run(self._engine, now, BATCH) >= BATCH for _ in range(TURNS))


def _rest(beating: _Beating, every: float, monotonic: float) -> float:
    """Leave a pump that failed alone for a while; answers for how long, in seconds."""
    beating.failures += 1
    rest = min(every * 2.0**beating.failures, LONGEST_REST)
    beating.next_at = monotonic + rest
    return rest


class Metronome(Scheduler):
    """Celery's scheduler with our pumps in its tick."""

    def __init__(self, app: Any, *args: Any, engine: Engine | None = None, **kwargs: Any) -> None:
        self._engine = engine
        self._shared = engine is not None
        self._pumping: Pumping | None = None
        super().__init__(app, *args, **kwargs)

    def setup_schedule(self) -> None:
        """The application's own entries, and no other: there is no result backend to clean up."""
        self.merge_inplace(self.app.conf.beat_schedule)

    def tick(self, *args: Any, **kwargs: Any) -> float:
        """Run what is due; answers with the seconds to sleep, at most one tick. Raises nothing: beat would end."""
        theirs = ours = LONGEST_SLEEP
        try:
            theirs = super().tick(*args, **kwargs)
        except Exception:
            log.exception("schedule_stumbled")
        try:
            pumping = self._pumping or self._started()
            ours = pumping.run(time.monotonic(), self._clock())
        except Exception:
            log.exception("beat_stumbled")
        return min(theirs, ours)

    def close(self) -> None:
        """Give up what was opened here."""
        super().close()
        if self._engine is not None and not self._shared:
            close(self._engine)

    def _started(self) -> Pumping:
        settings = settings_of(self.app)
        self._engine = self._engine or engine_from(settings, app=self.app)
        self._pumping = Pumping(self._engine, PUMPS, settings.tick.total_seconds())
        return self._pumping

    def _clock(self) -> datetime:
        assert self._engine is not None, "the engine is there once the pumps are"
        return self._engine.clock.now()

    @property
    def info(self) -> str:
        """What beat's banner shows."""
        return "    . pumps -> " + ", ".join(pump.name for pump in PUMPS)
