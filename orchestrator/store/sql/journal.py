"""Journals and the append, in SQL: few statements, each for all runs of the batch."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

from sqlalchemy import Connection, Table, bindparam, case, delete, insert, select, tuple_, update
from sqlalchemy.dialects.postgresql import insert as postgresql_insert
from sqlalchemy.dialects.sqlite import insert as sqlite_insert

from orchestrator.core.data import JsonText
from orchestrator.errors import Conflict
from orchestrator.ports.records import Change, Head, StoredFact
from orchestrator.store.sql.mapping import attempt_values, records, values_of
from orchestrator.store.sql.schema import attempts, facts, runs, timers, waits

_FINAL = ("Succeeded", "Failed", "Cancelled")

_HEAD = select(runs.c.run_id, runs.c.scope, runs.c.tail, runs.c.status)
_ADVANCE = (
    update(runs)
    .where(runs.c.run_id == bindparam("b_run_id"), runs.c.tail == bindparam("b_expected"))
    .values(
        status=bindparam("status"),
        tail=bindparam("tail"),
        updated_at=bindparam("updated_at"),
        ended_at=bindparam("ended_at"),
    )
)


class Journal:
    """`ports.store.JournalTable`."""

    connection: Connection
    row_locks: bool

    def head(self, run_id: str) -> Head | None:
        row = self.connection.execute(_HEAD.where(runs.c.run_id == run_id)).first()
        return None if row is None else Head(row.run_id, row.scope, row.tail, row.status in _FINAL)

    def lock(self, run_ids: Sequence[str], *, wait: bool) -> dict[str, Head]:
        query = _HEAD.where(runs.c.run_id.in_(run_ids)).order_by(runs.c.run_id)
        if self.row_locks:
            query = query.with_for_update(skip_locked=not wait)
        rows = self.connection.execute(query)
        return {row.run_id: Head(row.run_id, row.scope, row.tail, row.status in _FINAL) for row in rows}

    def facts(
        self, run_id: str, *, after: int = 0, limit: int | None = None, inline: int | None = None
    ) -> list[StoredFact]:
        value = facts.c.value if inline is None else case((facts.c.size <= inline, facts.c.value)).label("value")
        query = (
            select(facts.c.number, facts.c.type, facts.c.at, facts.c.data, value, facts.c.size)
            .where(facts.c.run_id == run_id, facts.c.number > after)
            .order_by(facts.c.number)
            .limit(limit)
        )
        return records(StoredFact, self.connection.execute(query).mappings())

    def values(self, run_id: str, numbers: Sequence[int]) -> dict[int, JsonText]:
        query = select(facts.c.number, facts.c.value).where(
            facts.c.run_id == run_id, facts.c.number.in_(numbers), facts.c.value.is_not(None)
        )
        return {number: JsonText(value) for number, value in self.connection.execute(query)}

    def append(self, changes: Sequence[Change]) -> None:
        self._runs(changes)
        self.connection.execute(
            insert(facts),
            [{"run_id": change.run.run_id, **values_of(fact)} for change in changes for fact in change.facts],
        )
        self._attempts(changes)
        self._timers(changes)
        written = [values_of(wait) for change in changes for wait in change.waits]
        if written:
            # Closed first: a key that one wait gives up may be taken by another in the same append.
            written.sort(key=lambda wait: wait["status"] == "open")
            self._upsert(waits, written, ("status", "outlet", "actor", "closed_at"))
        swept = [change.run.run_id for change in changes if change.swept]
        if swept:
            self.connection.execute(delete(attempts).where(attempts.c.run_id.in_(swept)))
            self.connection.execute(delete(timers).where(timers.c.run_id.in_(swept)))

    def _runs(self, changes: Sequence[Change]) -> None:
        new = [values_of(change.run) for change in changes if change.expected_tail == 0]
        if new:
            self.connection.execute(insert(runs), new)
        for change in changes:
            if change.expected_tail:
                run = change.run
                done = self.connection.execute(
                    _ADVANCE,
                    {
                        "b_run_id": run.run_id,
                        "b_expected": change.expected_tail,
                        "status": run.status,
                        "tail": run.tail,
                        "updated_at": run.updated_at,
                        "ended_at": run.ended_at,
                    },
                )
                if done.rowcount != 1:
                    raise Conflict

    def _attempts(self, changes: Sequence[Change]) -> None:
        ended = [*chain.from_iterable(change.ended for change in changes)]
        if ended:
            self.connection.execute(delete(attempts).where(attempts.c.attempt_id.in_(ended)))
        owed = [attempt_values(row) for change in changes for row in change.owed]
        if owed:
            self.connection.execute(insert(attempts), owed)

    def _timers(self, changes: Sequence[Change]) -> None:
        cleared = [(change.run.run_id, execution) for change in changes for execution in change.cleared]
        if cleared:
            gone = tuple_(timers.c.run_id, timers.c.execution_id).in_(cleared)
            self.connection.execute(delete(timers).where(gone))
        written = [values_of(timer) for change in changes for timer in change.timers]
        if written:
            self._upsert(timers, written, ("due_at", "parked"))

    def _upsert(self, table: Table, rows: list[dict[str, Any]], changing: Sequence[str]) -> None:
        dialect = self.connection.dialect.name
        statement = (postgresql_insert if dialect == "postgresql" else sqlite_insert)(table)
        self.connection.execute(
            statement.on_conflict_do_update(
                index_elements=list(table.primary_key.columns),
                set_={name: statement.excluded[name] for name in changing},
            ),
            rows,
        )
