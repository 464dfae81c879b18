"""The outbox, the leases and the inbox of answers, in SQL."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Connection,
    Select,
    bindparam,
    case,
    literal,
    select,
    tuple_,
    type_coerce,
    update,
)

from orchestrator.core.outcomes import Receipt
from orchestrator.ports.records import AttemptRow, AttemptState
from orchestrator.ports.store import ClaimRequest
from orchestrator.store.sql.columns import Instant, Span, micros
from orchestrator.store.sql.mapping import attempt_from, receipt_values
from orchestrator.store.sql.schema import attempts

_MOVED = ("due_at", "rings", "losses", "worker", "claimed_at", "deadline", "lease_until")
_POSTPONE = (
    update(attempts)
    .where(
        attempts.c.attempt_id == bindparam("b_attempt_id"),
        attempts.c.fence == bindparam("b_fence"),
        attempts.c.state == bindparam("b_state"),
    )
    .values(state=bindparam("state"), **{name: bindparam(name) for name in _MOVED})
)


def _is(state: AttemptState) -> ColumnElement[bool]:
    return attempts.c.state == literal(state.value)


class Attempts:
    """`ports.store.AttemptTable`."""

    connection: Connection
    row_locks: bool

    def claim(
        self, requests: Sequence[ClaimRequest], worker: str, *, now: datetime, lease: timedelta
    ) -> list[AttemptRow]:
        effects: dict[str, list[str]] = {}
        for request in requests:
            effects.setdefault(request.effect, []).append(request.attempt_id)
        claimed: list[AttemptRow] = []
        for effect, ids in effects.items():
            shorter = case((attempts.c.timeout < literal(lease, Span), attempts.c.timeout), else_=literal(lease, Span))
            statement = (
                update(attempts)
                .where(attempts.c.attempt_id.in_(ids), _is(AttemptState.OWED))
                .values(
                    state=AttemptState.CLAIMED.value,
                    fence=attempts.c.fence + 1,
                    worker=worker,
                    effect=effect,
                    claimed_at=now,
                    lease_until=now + lease,
                    deadline=_added(now, attempts.c.timeout),
                    due_at=_added(now, shorter),
                )
                .returning(attempts)
            )
            claimed += map(attempt_from, self.connection.execute(statement).mappings())
        order = {request.attempt_id: place for place, request in enumerate(requests)}
        return sorted(claimed, key=lambda row: order[row.attempt_id])

    def renew(self, claims: Sequence[tuple[str, int]], *, until: datetime) -> set[str]:
        statement = (
            update(attempts)
            .where(
                tuple_(attempts.c.attempt_id, attempts.c.fence).in_(claims),
                _is(AttemptState.CLAIMED),
            )
            .values(
                lease_until=until,
                due_at=case((attempts.c.deadline < until, attempts.c.deadline), else_=literal(until, Instant)),
            )
            .returning(attempts.c.attempt_id)
        )
        return set(self.connection.execute(statement).scalars())

    def answer(self, receipts: Sequence[tuple[str, int, Receipt]], *, now: datetime, due_at: datetime) -> set[str]:
        stored = set()
        for attempt_id, fence, receipt in receipts:
            done = self.connection.execute(
                update(attempts)
                .where(
                    attempts.c.attempt_id == attempt_id,
                    attempts.c.fence == fence,
                    _is(AttemptState.CLAIMED),
                )
                .values(
                    state=AttemptState.ANSWERED.value,
                    answered_at=now,
                    due_at=due_at,
                    **receipt_values(receipt),
                )
            )
            if done.rowcount:
                stored.add(attempt_id)
        return stored

    def attempts(self, attempt_ids: Sequence[str], *, lock: bool = False) -> list[AttemptRow]:
        query = select(attempts).where(attempts.c.attempt_id.in_(attempt_ids)).order_by(attempts.c.attempt_id)
        return self._rows(query, lock=lock)

    def attempts_of(self, run_ids: Sequence[str], *, lock: bool = False) -> list[AttemptRow]:
        query = select(attempts).where(attempts.c.run_id.in_(run_ids)).order_by(attempts.c.attempt_id)
        return self._rows(query, lock=lock)

    def answered(self, run_ids: Sequence[str]) -> list[AttemptRow]:
        query = (
            select(attempts)
            .where(attempts.c.run_id.in_(run_ids), _is(AttemptState.ANSWERED))
            .order_by(attempts.c.answered_at, attempts.c.attempt_id)
        )
        return self._rows(query)

    def due_attempts(self, now: datetime, limit: int) -> list[AttemptRow]:
        query = (
            select(attempts)
            .where(attempts.c.due_at <= now)
            .order_by(attempts.c.due_at, attempts.c.attempt_id)
            .limit(limit)
        )
        return self._rows(query.with_for_update(skip_locked=True) if self.row_locks else query)

    def postpone(self, rows: Sequence[AttemptRow]) -> None:
        known = {row.attempt_id: row.state for row in self.attempts([row.attempt_id for row in rows], lock=True)}
        moved = [
            {
                "b_attempt_id": row.attempt_id,
                "b_fence": row.fence,
                "b_state": known[row.attempt_id].value,
                "state": row.state.value,
                **{name: getattr(row, name) for name in _MOVED},
            }
            for row in rows
            if known.get(row.attempt_id, AttemptState.ANSWERED) is not AttemptState.ANSWERED
        ]
        if moved:
            self.connection.execute(_POSTPONE, moved)

    def _rows(self, query: Select[Any], *, lock: bool = False) -> list[AttemptRow]:
        if lock and self.row_locks:
            query = query.with_for_update()
        return [attempt_from(row) for row in self.connection.execute(query).mappings()]


def _added(instant: datetime, span: Any) -> Any:
    """An instant and a duration column, added in the database."""
    return type_coerce(type_coerce(span, BigInteger) + micros(instant), BigInteger)
