"""The outbox, the leases and the inbox of answers, in SQL.

Whoever holds several rows takes them in the order of their ids, so that two holders never wait for each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, bindparam, case, literal, select, update

from orchestrator.core.outcomes import Receipt
from orchestrator.ports.records import AttemptRow, AttemptState
from orchestrator.ports.store import ClaimRequest
from orchestrator.store.sql.batches import among, listed
from orchestrator.store.sql.instants import length, micros
from orchestrator.store.sql.mapping import attempt_from, receipt_values
from orchestrator.store.sql.schema import attempts
from orchestrator.store.sql.session import Session


def _is(state: AttemptState) -> ColumnElement[bool]:
    return attempts.c.state == literal(state.value, literal_execute=True)


_BY_ID = select(attempts).where(among(attempts.c.attempt_id, "ids")).order_by(attempts.c.attempt_id)
_HOLD_BY_ID = _BY_ID.with_for_update()
_OF_RUNS = select(attempts).where(among(attempts.c.run_id, "runs")).order_by(attempts.c.attempt_id)
_HOLD_OF_RUNS = _OF_RUNS.with_for_update()
_ANSWERED = (
    select(attempts)
    .where(among(attempts.c.run_id, "runs"), _is(AttemptState.ANSWERED))
    .order_by(attempts.c.answered_at, attempts.c.attempt_id)
)
_DUE = (
    select(attempts)
    .where(attempts.c.due_at <= bindparam("now"))
    .order_by(attempts.c.due_at, attempts.c.attempt_id)
    .limit(bindparam("limit_"))
    .with_for_update(skip_locked=True)
)
_owed = attempts.alias("owed")
_CLAIM = (
    update(attempts)
    .where(
        attempts.c.attempt_id.in_(
            select(_owed.c.attempt_id)
            .where(among(_owed.c.attempt_id, "ids"), _owed.c.state == literal("owed", literal_execute=True))
            .order_by(_owed.c.attempt_id)
            .with_for_update()
        ),
        _is(AttemptState.OWED),
    )
    .values(
        state=literal(AttemptState.CLAIMED.value),
        fence=attempts.c.fence + 1,
        worker=bindparam("by"),
        effect=bindparam("declared"),
        claimed_at=bindparam("now"),
        lease_until=bindparam("until"),
        deadline=attempts.c.timeout + bindparam("now"),
        due_at=case(
            (attempts.c.timeout < bindparam("lease"), attempts.c.timeout + bindparam("now")), else_=bindparam("until")
        ),
    )
    .returning(*attempts.c)
)
_RENEW = (
    update(attempts)
    .where(attempts.c.attempt_id == bindparam("id_"))
    .values(
        lease_until=bindparam("until"),
        due_at=case((attempts.c.deadline < bindparam("until"), attempts.c.deadline), else_=bindparam("until")),
    )
)
_ANSWER = (
    update(attempts)
    .where(attempts.c.attempt_id == bindparam("id_"))
    .values(
        state=literal(AttemptState.ANSWERED.value),
        receipt=bindparam("receipt"),
        output=bindparam("output"),
        answered_at=bindparam("now"),
        due_at=bindparam("due"),
    )
)
_POSTPONE = (
    update(attempts)
    .where(attempts.c.attempt_id == bindparam("id_"))
    .values(
        {
            name: bindparam(name)
            for name in ("state", "due_at", "rings", "losses", "worker", "claimed_at", "deadline", "lease_until")
        }
    )
)


class Attempts(Session):
    """`ports.store.AttemptTable`."""

    def claim(
        self, requests: Sequence[ClaimRequest], worker: str, *, now: datetime, lease: timedelta
    ) -> list[AttemptRow]:
        order = {request.attempt_id: place for place, request in enumerate(requests)}
        effects: dict[str, list[str]] = {}
        for request in requests:
            effects.setdefault(request.effect, []).append(request.attempt_id)
        claimed: list[AttemptRow] = []
        for effect in sorted(effects):
            told = {
                "ids": listed(effects[effect]),
                "by": worker,
                "declared": effect,
                "now": micros(now),
                "lease": length(lease),
                "until": micros(now + lease),
            }
            claimed.extend(map(attempt_from, self.hold(_CLAIM, told)))
        return sorted(claimed, key=lambda row: order[row.attempt_id])

    def renew(self, claims: Sequence[tuple[str, int]], *, until: datetime) -> set[str]:
        held = self._held(claims)
        if held:
            self.write(_RENEW, [{"id_": id, "until": micros(until)} for id in held])
        return set(held)

    def answer(self, receipts: Sequence[tuple[str, int, Receipt]], *, now: datetime, due_at: datetime) -> set[str]:
        held = self._held([(id, fence) for id, fence, _ in receipts])
        first = {id: receipt for id, fence, receipt in reversed(receipts) if held.get(id) == fence}
        if first:
            self.write(
                _ANSWER,
                [
                    {"id_": id, "now": micros(now), "due": micros(due_at), **receipt_values(receipt)}
                    for id, receipt in first.items()
                ],
            )
        return set(first)

    def _held(self, claims: Sequence[tuple[str, int]]) -> dict[str, int]:
        """Of these attempts, those that are claimed under that fence, held until the transaction ends."""
        if not claims:
            return {}
        fences = set(claims)
        rows = self.hold(_HOLD_BY_ID, {"ids": listed(id for id, _ in claims)})
        return {
            row.attempt_id: row.fence
            for row in rows
            if row.state == AttemptState.CLAIMED.value and (row.attempt_id, row.fence) in fences
        }

    def attempts(self, attempt_ids: Sequence[str], *, lock: bool = False) -> list[AttemptRow]:
        told = {"ids": listed(attempt_ids)}
        return [*map(attempt_from, self.hold(_HOLD_BY_ID, told) if lock else self.read(_BY_ID, told))]

    def attempts_of(self, run_ids: Sequence[str], *, lock: bool = False) -> list[AttemptRow]:
        told = {"runs": listed(run_ids)}
        return [*map(attempt_from, self.hold(_HOLD_OF_RUNS, told) if lock else self.read(_OF_RUNS, told))]

    def answered(self, run_ids: Sequence[str]) -> list[AttemptRow]:
        return [*map(attempt_from, self.read(_ANSWERED, {"runs": listed(run_ids)}))]

    def due_attempts(self, now: datetime, limit: int) -> list[AttemptRow]:
        return [*map(attempt_from, self.hold(_DUE, {"now": micros(now), "limit_": limit}))]

    def postpone(self, rows: Sequence[AttemptRow]) -> None:
        if not rows:
            return
        known = {row.attempt_id: row for row in self.attempts([row.attempt_id for row in rows], lock=True)}
        told = [
            {
                "id_": row.attempt_id,
                "state": row.state.value,
                "due_at": micros(row.due_at),
                "rings": row.rings,
                "losses": row.losses,
                "worker": row.worker,
                "claimed_at": micros(row.claimed_at),
                "deadline": micros(row.deadline),
                "lease_until": micros(row.lease_until),
            }
            for row in rows
            if (now := known.get(row.attempt_id)) is not None
            and now.fence == row.fence
            and (now.state is AttemptState.ANSWERED) == (row.state is AttemptState.ANSWERED)
        ]
        if told:
            self.write(_POSTPONE, told)
