"""Lists and look-ups of runs and waits, in SQL. Conditions of partial indexes are literals, or no plan uses them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from sqlalchemy import bindparam, func, literal, select, tuple_

from orchestrator.ports.records import RunRow, WaitRow
from orchestrator.ports.store import RunFilter
from orchestrator.store.sql.batches import among, listed
from orchestrator.store.sql.instants import micros
from orchestrator.store.sql.mapping import run_from, wait_from
from orchestrator.store.sql.schema import runs, waits
from orchestrator.store.sql.session import Session

_RUN = select(runs).where(runs.c.run_id == bindparam("run_"))
_RUN_IDS = (
    select(runs.c.run_id).where(runs.c.run_id > bindparam("after")).order_by(runs.c.run_id).limit(bindparam("limit_"))
)
_WAIT = select(waits).where(waits.c.wait_id == bindparam("wait_"))
_IS_OPEN = waits.c.status == literal("open", literal_execute=True)
_OPEN_WITH_KEY = select(waits).where(
    waits.c.scope == bindparam("scope_"), waits.c.key == bindparam("key_"), waits.c.key.is_not(None), _IS_OPEN
)
_CLOSED_LAST = (
    select(waits)
    .where(waits.c.scope == bindparam("scope_"), waits.c.key == bindparam("key_"), waits.c.key.is_not(None))
    .order_by(waits.c.closed_at.desc(), waits.c.wait_id.desc())
    .limit(1)
)
_OPEN_KEYS = select(waits.c.key, waits.c.execution_id).where(
    waits.c.scope == bindparam("scope_"), among(waits.c.key, "keys"), waits.c.key.is_not(None), _IS_OPEN
)


class ReadModels(Session):
    """`ports.store.ReadModels`."""

    def run(self, run_id: str) -> RunRow | None:
        row = self.first(_RUN, {"run_": run_id})
        return None if row is None else run_from(row)

    def runs(self, which: RunFilter, *, limit: int, before: tuple[datetime, str] | None = None) -> list[RunRow]:
        query = select(runs).order_by(runs.c.started_at.desc(), runs.c.run_id.desc()).limit(limit)
        for name in ("scope", "workflow", "status", "subject_kind", "subject_id"):
            wanted = getattr(which, name)
            if wanted is not None:
                query = query.where(runs.c[name] == str(wanted))
        if which.since is not None:
            query = query.where(runs.c.started_at >= micros(which.since))
        if before is not None:
            query = query.where(tuple_(runs.c.started_at, runs.c.run_id) < (micros(before[0]), before[1]))
        return [*map(run_from, self.read(query))]

    def count_runs(self, scope: str | None = None) -> Mapping[str, int]:
        query = select(runs.c.status, func.count()).group_by(runs.c.status)
        if scope is not None:
            query = query.where(runs.c.scope == scope)
        return {row[0]: row[1] for row in self.read(query)}

    def run_ids(self, *, after: str = "", limit: int = 1000) -> list[str]:
        return [row[0] for row in self.read(_RUN_IDS, {"after": after, "limit_": limit})]

    def wait(self, wait_id: str) -> WaitRow | None:
        row = self.first(_WAIT, {"wait_": wait_id})
        return None if row is None else wait_from(row)

    def wait_by_key(self, scope: str, key: str) -> WaitRow | None:
        told = {"scope_": scope, "key_": key}
        row = self.first(_OPEN_WITH_KEY, told) or self.first(_CLOSED_LAST, told)
        return None if row is None else wait_from(row)

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
            query = query.where(_IS_OPEN)
        if after is not None:
            query = query.where(tuple_(waits.c.opened_at, waits.c.wait_id) > (micros(after[0]), after[1]))
        return [*map(wait_from, self.read(query))]

    def open_keys(self, scope: str, keys: Sequence[str]) -> dict[str, str]:
        rows = self.read(_OPEN_KEYS, {"scope_": scope, "keys": listed(keys)})
        return {row[0]: row[1] for row in rows}
