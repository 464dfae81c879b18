"""Lists and look-ups of runs and waits, in memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime

from orchestrator.ports.records import RunRow, WaitRow
from orchestrator.ports.store import RunFilter
from orchestrator.store.in_memory.tables import Opened, first


class ReadModels(Opened):
    """`ports.store.ReadModels`."""

    def run(self, run_id: str) -> RunRow | None:
        return self.read.runs.get(run_id)

    def runs(self, which: RunFilter, *, limit: int, before: tuple[datetime, str] | None = None) -> list[RunRow]:
        rows = (
            row
            for row in self.read.runs.values()
            if which.scope in (None, row.scope)
            and which.workflow in (None, row.workflow)
            and which.status in (None, row.status)
            and which.subject_kind in (None, row.subject_kind)
            and which.subject_id in (None, row.subject_id)
            and (which.since is None or row.started_at >= which.since)
            and (before is None or (row.started_at, row.run_id) < before)
        )
        return sorted(rows, key=lambda row: (row.started_at, row.run_id), reverse=True)[:limit]

    def count_runs(self, scope: str | None = None) -> Mapping[str, int]:
        return Counter(str(row.status) for row in self.read.runs.values() if scope in (None, row.scope))

    def run_ids(self, *, after: str = "", limit: int = 1000) -> list[str]:
        return sorted(id for id in self.read.runs if id > after)[:limit]

    def wait(self, wait_id: str) -> WaitRow | None:
        return self.read.waits.get(wait_id)

    def wait_by_key(self, scope: str, key: str) -> WaitRow | None:
        rows = self._keyed(scope, key)
        open_ = [row for row in rows if row.status == "open"]
        closed = sorted((row for row in rows if row.closed_at), key=lambda row: (row.closed_at, row.wait_id))
        return open_[0] if open_ else closed[-1] if closed else None

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
        rows = (
            row
            for row in (self.read.waits.values() if run_id is None else self.read.waits.of(run_id))
            if scope in (None, row.scope)
            and kind in (None, row.kind)
            and (not open_only or row.status == "open")
            and (after is None or (row.opened_at, row.wait_id) > after)
        )
        return first(rows, limit, lambda row: (row.opened_at, row.wait_id))

    def open_keys(self, scope: str, keys: Sequence[str]) -> dict[str, str]:
        return {key: row.execution_id for key in {*keys} for row in self._keyed(scope, key) if row.status == "open"}

    def _keyed(self, scope: str, key: str) -> list[WaitRow]:
        tables = self.read
        rows = (tables.waits.get(id) for id in tables.keyed.get((scope, key), ()))
        return [row for row in rows if row is not None and row.key == key]
