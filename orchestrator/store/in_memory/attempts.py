"""The outbox, the leases and the inbox of answers, in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from orchestrator.core.outcomes import Receipt
from orchestrator.ports.records import AttemptRow, AttemptState
from orchestrator.ports.store import ClaimRequest
from orchestrator.store.in_memory.tables import Opened, first


class Attempts(Opened):
    """`ports.store.AttemptTable`."""

    def claim(
        self, requests: Sequence[ClaimRequest], worker: str, *, now: datetime, lease: timedelta
    ) -> list[AttemptRow]:
        table = self.write.attempts
        claimed = []
        for request in requests:
            row = table.get(request.attempt_id)
            if row is None or row.state is not AttemptState.OWED:
                continue
            row = replace(
                row,
                state=AttemptState.CLAIMED,
                fence=row.fence + 1,
                worker=worker,
                effect=request.effect,
                claimed_at=now,
                lease_until=now + lease,
                deadline=now + row.timeout,
                due_at=now + min(row.timeout, lease),
            )
            table.put(row.attempt_id, row)
            claimed.append(row)
        return claimed

    def renew(self, claims: Sequence[tuple[str, int]], *, until: datetime) -> set[str]:
        table = self.write.attempts
        held = [row for id, fence in claims if (row := self._held(id, fence)) is not None]
        for row in held:
            table.put(row.attempt_id, replace(row, lease_until=until, due_at=min(until, row.deadline or until)))
        return {row.attempt_id for row in held}

    def answer(self, receipts: Sequence[tuple[str, int, Receipt]], *, now: datetime, due_at: datetime) -> set[str]:
        table = self.write.attempts
        stored = set()
        for attempt_id, fence, receipt in receipts:
            row = self._held(attempt_id, fence)
            if row is not None:
                answered = replace(row, state=AttemptState.ANSWERED, receipt=receipt, answered_at=now, due_at=due_at)
                table.put(attempt_id, answered)
                stored.add(attempt_id)
        return stored

    def _held(self, attempt_id: str, fence: int) -> AttemptRow | None:
        row = self.read.attempts.get(attempt_id)
        return row if row is not None and row.state is AttemptState.CLAIMED and row.fence == fence else None

    def attempts(self, attempt_ids: Sequence[str], *, lock: bool = False) -> list[AttemptRow]:
        table = (self.write if lock else self.read).attempts
        return [row for id in sorted({*attempt_ids}) if (row := table.get(id)) is not None]

    def attempts_of(self, run_ids: Sequence[str], *, lock: bool = False) -> list[AttemptRow]:
        table = (self.write if lock else self.read).attempts
        return sorted((row for id in {*run_ids} for row in table.of(id)), key=lambda row: row.attempt_id)

    def answered(self, run_ids: Sequence[str]) -> list[AttemptRow]:
        rows = [row for row in self.attempts_of(run_ids) if row.state is AttemptState.ANSWERED]
        return sorted(rows, key=lambda row: (row.answered_at, row.attempt_id))

    def due_attempts(self, now: datetime, limit: int) -> list[AttemptRow]:
        due = (row for row in self.write.attempts.values() if row.due_at <= now)
        return first(due, limit, lambda row: (row.due_at, row.attempt_id))

    def postpone(self, rows: Sequence[AttemptRow]) -> None:
        table = self.write.attempts
        for row in rows:
            known = table.get(row.attempt_id)
            if known is None or known.fence != row.fence:
                continue
            if (known.state is AttemptState.ANSWERED) != (row.state is AttemptState.ANSWERED):
                continue
            postponed = replace(
                known,
                due_at=row.due_at,
                rings=row.rings,
                losses=row.losses,
                state=row.state,
                worker=row.worker,
                claimed_at=row.claimed_at,
                deadline=row.deadline,
                lease_until=row.lease_until,
            )
            table.put(row.attempt_id, postponed)
