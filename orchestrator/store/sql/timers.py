"""When runs must be woken, in SQL."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import bindparam, select, true, update

from orchestrator.ports.records import TimerRow
from orchestrator.store.sql.batches import among, listed
from orchestrator.store.sql.instants import micros
from orchestrator.store.sql.mapping import timer_from
from orchestrator.store.sql.schema import timers
from orchestrator.store.sql.session import Session

_DUE = (
    select(timers)
    .where(timers.c.due_at <= bindparam("now"), ~timers.c.parked)
    .order_by(timers.c.due_at, timers.c.run_id, timers.c.execution_id)
    .limit(bindparam("limit_"))
    .with_for_update(skip_locked=True)
)
#: A timer that was set anew since it was read keeps its new time.
_TAKE = (
    update(timers)
    .where(
        timers.c.run_id == bindparam("run_"),
        timers.c.execution_id == bindparam("execution_"),
        timers.c.due_at == bindparam("read_due_at"),
    )
    .values(due_at=bindparam("until"))
)
_PARK = (
    update(timers)
    .where(timers.c.run_id == bindparam("run_"), among(timers.c.execution_id, "executions"))
    .values(parked=true())
)
_OF_RUN = select(timers).where(timers.c.run_id == bindparam("run_")).order_by(timers.c.execution_id)


class Timers(Session):
    """`ports.store.TimerTable`."""

    def due_timers(self, now: datetime, limit: int) -> list[TimerRow]:
        return [*map(timer_from, self.hold(_DUE, {"now": micros(now), "limit_": limit}))]

    def take_timers(self, taken: Sequence[TimerRow], *, until: datetime) -> None:
        moved = [
            {
                "run_": timer.run_id,
                "execution_": timer.execution_id,
                "read_due_at": micros(timer.due_at),
                "until": micros(until),
            }
            for timer in taken
        ]
        if moved:
            self.write(_TAKE, moved)

    def park_timers(self, run_id: str, execution_ids: Sequence[str]) -> None:
        self.write(_PARK, {"run_": run_id, "executions": listed(execution_ids)})

    def timers_of(self, run_id: str) -> list[TimerRow]:
        return [*map(timer_from, self.read(_OF_RUN, {"run_": run_id}))]
