"""Journals, read and held, in SQL; how they grow stands in `appending`."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import bindparam, case, select

from orchestrator.core.data import JsonText
from orchestrator.ports.records import Head, StoredFact
from orchestrator.store.sql.batches import among, listed
from orchestrator.store.sql.mapping import fact_from, head_from
from orchestrator.store.sql.schema import facts, runs
from orchestrator.store.sql.session import Session

#: More than any value has bytes and any journal has facts.
_ALL = 2**62

_HEAD = select(runs.c.run_id, runs.c.scope, runs.c.tail, runs.c.status)
_HEAD_OF = _HEAD.where(runs.c.run_id == bindparam("run_"))
_LOCK = _HEAD.where(among(runs.c.run_id, "runs")).order_by(runs.c.run_id)
_LOCK_OR_WAIT = _LOCK.with_for_update()
_LOCK_OR_SKIP = _LOCK.with_for_update(skip_locked=True)

_value = case((facts.c.size <= bindparam("inline"), facts.c.value)).label("value")
_FACTS = (
    select(facts.c.number, facts.c.type, facts.c.at, facts.c.data, _value, facts.c.size)
    .where(facts.c.run_id == bindparam("run_"), facts.c.number > bindparam("after"))
    .order_by(facts.c.number)
    .limit(bindparam("limit_"))
)
_VALUES = select(facts.c.number, facts.c.value).where(
    facts.c.run_id == bindparam("run_"), among(facts.c.number, "numbers"), facts.c.value.is_not(None)
)


class Journal(Session):
    """`ports.store.JournalTable`, but for `append`."""

    def head(self, run_id: str) -> Head | None:
        row = self.first(_HEAD_OF, {"run_": run_id})
        return None if row is None else head_from(row)

    def lock(self, run_ids: Sequence[str], *, wait: bool) -> dict[str, Head]:
        rows = self.hold(_LOCK_OR_WAIT if wait else _LOCK_OR_SKIP, {"runs": listed(run_ids)})
        return {row.run_id: head_from(row) for row in rows}

    def facts(
        self, run_id: str, *, after: int = 0, limit: int | None = None, inline: int | None = None
    ) -> list[StoredFact]:
        told = {
            "run_": run_id,
            "after": after,
            "limit_": _ALL if limit is None else limit,
            "inline": _ALL if inline is None else inline,
        }
        return [*map(fact_from, self.read(_FACTS, told))]

    def values(self, run_id: str, numbers: Sequence[int]) -> dict[int, JsonText]:
        rows = self.read(_VALUES, {"run_": run_id, "numbers": listed(numbers)})
        return {row[0]: JsonText(row[1]) for row in rows}
