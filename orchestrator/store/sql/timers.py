"""When runs must be woken, in SQL."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import Connection, select, tuple_, update

from orchestrator.ports.records import TimerRow
from orchestrator.store.sql.mapping import records
from orchestrator.store.sql.schema import timers


class Timers:
    """`ports.store.TimerTable`."""

    connection: Connection
    row_locks: bool

    def due_timers(self, now: datetime, limit: int) -> list[TimerRow]:
        query = (
            select(timers)
            .where(timers.c.due_at <= now, ~timers.c.parked)
            .order_by(timers.c.due_at, timers.c.run_id, timers.c.execution_id)
            .limit(limit)
        )
        if self.row_locks:
            query = query.with_for_update(skip_locked=True)
        return records(TimerRow, self.connection.execute(query).mappings())

    def take_timers(self, taken: Sequence[TimerRow], *, until: datetime) -> None:
        if taken:
            keys = [(timer.run_id, timer.execution_id) for timer in taken]
            self.connection.execute(
                update(timers).where(tuple_(timers.c.run_id, timers.c.execution_id).in_(keys)).values(due_at=until)
            )

    def park_timers(self, run_id: str, execution_ids: Sequence[str]) -> None:
        self.connection.execute(
            update(timers)
            .where(timers.c.run_id == run_id, timers.c.execution_id.in_(execution_ids))
            .values(parked=True)
        )

    def timers_of(self, run_id: str) -> list[TimerRow]:
        query = select(timers).where(timers.c.run_id == run_id).order_by(timers.c.execution_id)
        return records(TimerRow, self.connection.execute(query).mappings())
