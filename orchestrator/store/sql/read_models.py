"""Lists and look-ups of runs and waits, in SQL."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from sqlalchemy import Connection, func, select, tuple_

from orchestrator.ports.records import RunRow, WaitRow
from orchestrator.ports.store import RunFilter
from orchestrator.store.sql.mapping import record, records
from orchestrator.store.sql.schema import runs, waits


class ReadModels:
    """`ports.store.ReadModels`."""

    connection: Connection

    def run(self, run_id: str) -> RunRow | None:
        row = self.connection.execute(select(runs).where(runs.c.run_id == run_id)).mappings().first()
        return None if row is None else record(RunRow, row)

    def runs(self, which: RunFilter, *, limit: int, before: tuple[datetime, str] | None = None) -> list[RunRow]:
        query = select(runs).order_by(runs.c.started_at.desc(), runs.c.run_id.desc()).limit(limit)
        for name in ("scope", "workflow", "status", "subject_kind", "subject_id"):
            wanted = getattr(which, name)
            if wanted is not None:
                query = query.where(runs.c[name] == wanted)
        if which.since is not None:
            query = query.where(runs.c.started_at >= which.since)
        if before is not None:
            query = query.where(tuple_(runs.c.started_at, runs.c.run_id) < before)
        return records(RunRow, self.connection.execute(query).mappings())

    def count_runs(self, scope: str | None = None) -> Mapping[str, int]:
        query = select(runs.c.status, func.count()).group_by(runs.c.status)
        if scope is not None:
            query = query.where(runs.c.scope == scope)
        return dict(map(tuple, self.connection.execute(query)))

    def run_ids(self, *, after: str = "", limit: int = 1000) -> list[str]:
        query = select(runs.c.run_id).where(runs.c.run_id > after).order_by(runs.c.run_id).limit(limit)
        return list(self.connection.execute(query).scalars())

    def wait(self, wait_id: str) -> WaitRow | None:
        row = self.connection.execute(select(waits).where(waits.c.wait_id == wait_id)).mappings().first()
        return None if row is None else record(WaitRow, row)

    def wait_by_key(self, scope: str, key: str) -> WaitRow | None:
        query = select(waits).where(waits.c.scope == scope, waits.c.key == key)
        query = query.order_by((waits.c.status == "open").desc(), waits.c.closed_at.desc()).limit(1)
        row = self.connection.execute(query).mappings().first()
        return None if row is None else record(WaitRow, row)

    def waits(
        self,
        *,
        scope: str | None = None,
        run_id: str | None = None,
        kind: str | None = None,
        open_only: bool = True,
        limit: int = 1000,
        after: tuple[datetime, str] | None = None,
    ) -> list[WaitRow]:
        query = select(waits).order_by(waits.c.opened_at, waits.c.wait_id).limit(limit)
        for column, wanted in ((waits.c.scope, scope), (waits.c.run_id, run_id), (waits.c.kind, kind)):
            if wanted is not None:
                query = query.where(column == wanted)
        if open_only:
            query = query.where(waits.c.status == "open")
        if after is not None:
            query = query.where(tuple_(waits.c.opened_at, waits.c.wait_id) > after)
        return records(WaitRow, self.connection.execute(query).mappings())

    def open_keys(self, scope: str, keys: Sequence[str]) -> dict[str, str]:
        query = select(waits.c.key, waits.c.execution_id).where(
            waits.c.scope == scope, waits.c.key.in_(keys), waits.c.status == "open"
        )
        return dict(map(tuple, self.connection.execute(query)))
