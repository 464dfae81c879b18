"""Due waits and due retries: the runs are woken (semantics 2.3)."""

from __future__ import annotations

from datetime import datetime

from orchestrator.engine.engine import Engine
from orchestrator.pumps.pump import TAKEN


def due_timers(engine: Engine, now: datetime, limit: int) -> int:
    """Wake the runs whose timers have come."""
    with engine.store.transaction() as tx:
        timers = tx.due_timers(now, limit)
        tx.take_timers(timers, until=now + TAKEN)
    if timers:
        engine.wake(sorted({timer.run_id for timer in timers}), now)
    return len(timers)
