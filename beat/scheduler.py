"""The metronome: Celery's scheduler, which runs the engine's pumps beside what users have in `beat_schedule`."""

from __future__ import annotations

import time
from functools import cached_property
from typing import Any, Final

import structlog
from celery.beat import Scheduler

from beat.rounds import Rounds
from orchestrator.engine.engine import Engine
from orchestrator.pumps.metronome import PUMPS
from orchestrator.wiring import engine_from, settings_of

log = structlog.stdlib.get_logger(__name__)

#: Celery asks its scheduler to sleep no longer than this, in seconds.
LONGEST_SLEEP: Final = 1.0


class Metronome(Scheduler):
    """A beat without a state of its own: any number may run, and none needs to be there for long."""

    def __init__(self, *args: Any, engine: Engine | None = None, **kwargs: Any) -> None:
        self._shared = engine
        self._rounds = Rounds(PUMPS)
        super().__init__(*args, **kwargs)

    @cached_property
    def engine(self) -> Engine:
        """The engine, opened when it is first needed; given, when it is shared with others in this process."""
        return self._shared or engine_from(settings_of(self.app), app=self.app)

    def setup_schedule(self) -> None:
        """Users' entries, in memory; none of Celery's own."""
        self.merge_inplace(self.app.conf.beat_schedule)

    def tick(self, *args: Any, **kwargs: Any) -> float:
        """One round of the pumps and one step of Celery's own schedule; answers with the seconds to sleep."""
        until_next = LONGEST_SLEEP
        try:
            until_next = self._rounds.go(self.engine, now=self.engine.clock.now, monotonic=time.monotonic)
        except Exception:
            log.exception("beat_stumbled")
        try:
            return min(super().tick(*args, **kwargs), until_next, LONGEST_SLEEP)
        except Exception:
            log.exception("schedule_stumbled")
            return min(until_next, LONGEST_SLEEP)

    def close(self) -> None:
        """Give up what was opened."""
        super().close()
        if self._shared is None and "engine" in self.__dict__:
            self.engine.store.close()

    @property
    def info(self) -> str:
        """For Celery's banner."""
        return f"    . pumps -> {', '.join(pump.name for pump in PUMPS)}"
