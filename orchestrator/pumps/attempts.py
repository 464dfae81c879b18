"""Attempts that nobody moves: unclaimed ones are rung for again, overdue and orphaned ones are decided, stored answers
are taken up (semantics 2.2).
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

from orchestrator.engine.engine import Engine
from orchestrator.engine.rows import FIRST_RING_GAP, doorbell
from orchestrator.ports.records import AttemptRow, AttemptState
from orchestrator.pumps.pump import TAKEN

#: The gap between two rings doubles up to this, so that a long queue is not flooded.
LONGEST_RING_GAP = timedelta(minutes=10)


def due_attempts(engine: Engine, now: datetime, limit: int) -> int:
    """Look at every attempt row whose time has come, and do what its state asks for."""
    with engine.store.transaction() as tx:
        rows = tx.due_attempts(now, limit)
        tx.postpone([_looked_at(row, now) for row in rows])
    owed = [row for row in rows if row.state is AttemptState.OWED]
    claimed = [row for row in rows if row.state is AttemptState.CLAIMED]
    answered = [row for row in rows if row.state is AttemptState.ANSWERED]
    overdue = [row for row in claimed if row.deadline is not None and row.deadline <= now]
    orphaned = [row for row in claimed if row not in overdue and row.lease_until is not None and row.lease_until <= now]
    if owed:
        engine.dispatcher.ring([doorbell(row) for row in owed])
    if overdue:
        engine.timed_out([(row.attempt_id, row.fence) for row in overdue])
        engine.dispatcher.call_off([row.attempt_id for row in overdue])
    if orphaned:
        engine.lost([(row.attempt_id, row.fence) for row in orphaned], unless_renewed=True)
    if answered:
        engine.take_stored(sorted({row.run_id for row in answered}))
    return len(rows)


def _looked_at(row: AttemptRow, now: datetime) -> AttemptRow:
    if row.state is AttemptState.OWED:
        gap = min(FIRST_RING_GAP * 2 ** (row.rings + 1), LONGEST_RING_GAP)
        return replace(row, due_at=now + gap, rings=row.rings + 1)
    return replace(row, due_at=now + TAKEN)
