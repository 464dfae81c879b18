"""When runs must be woken, in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from orchestrator.ports.records import TimerRow
from orchestrator.store.in_memory.tables import Opened, first


class Timers(Opened):
    """`ports.store.TimerTable`."""

    def due_timers(self, now: datetime, limit: int) -> list[TimerRow]:
        due = (row for row in self.write.timers.values() if row.due_at <= now and not row.parked)
        return first(due, limit, lambda row: (row.due_at, row.run_id, row.execution_id))

    def take_timers(self, taken: Sequence[TimerRow], *, until: datetime) -> None:
        table = self.write.timers
        for timer in taken:
            known = table.get((timer.run_id, timer.execution_id))
            if known is not None and known.due_at == timer.due_at:
                table.put((timer.run_id, timer.execution_id), replace(known, due_at=until))

    def park_timers(self, run_id: str, execution_ids: Sequence[str]) -> None:
        table = self.write.timers
        for execution_id in execution_ids:
            known = table.get((run_id, execution_id))
            if known is not None:
                table.put((run_id, execution_id), replace(known, parked=True))

    def timers_of(self, run_id: str) -> list[TimerRow]:
        return sorted(self.read.timers.of(run_id), key=lambda row: row.execution_id)
