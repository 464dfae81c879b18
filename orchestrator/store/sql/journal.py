"""Journals and the append, in SQL: few statements, each for all runs of the batch."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

from sqlalchemy import bindparam, case, delete, select, update

from orchestrator.core.data import JsonText
from orchestrator.ports.records import Change, Head, StoredFact
from orchestrator.store.changes import checked
from orchestrator.store.sql.batches import Rows, among, listed
from orchestrator.store.sql.mapping import (
    attempt_values,
    fact_from,
    fact_values,
    head_from,
    run_values,
    timer_values,
    wait_values,
)
from orchestrator.store.sql.schema import attempts, facts, runs, timers, waits
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

_NEW_RUNS = Rows(runs)
_AT_TAIL = (runs.c.run_id == bindparam("run_"), runs.c.tail == bindparam("expected"))
#: With facts, what the first one said of a run never changes; a change without facts mends the whole row.
_MOVING = ("status", "tail", "updated_at", "ended_at")
_ADVANCE = update(runs).where(*_AT_TAIL).values({name: bindparam(name) for name in _MOVING})
_MEND = update(runs).where(*_AT_TAIL).values({each.name: bindparam(each.name) for each in runs.c})
_NEW_FACTS = Rows(facts)
_NEW_ATTEMPTS = Rows(attempts)
_END = delete(attempts).where(among(attempts.c.attempt_id, "ids"))
_CLEAR = delete(timers).where(timers.c.run_id == bindparam("run_"), among(timers.c.execution_id, "executions"))
_SET_TIMERS = Rows(timers, replacing=True)
_SET_WAITS = Rows(waits, replacing=True)
_SWEEP = tuple(delete(table).where(among(table.c.run_id, "runs")) for table in (attempts, timers))


class Journal(Session):
    """`ports.store.JournalTable`."""

    def head(self, run_id: str) -> Head | None:
        row = self.read(_HEAD_OF, {"run_": run_id}).first()
        return None if row is None else head_from(row)

    def lock(self, run_ids: Sequence[str], *, wait: bool) -> dict[str, Head]:
        rows = self.write(_LOCK_OR_WAIT if wait else _LOCK_OR_SKIP, {"runs": listed(run_ids)})
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

    def append(self, changes: Sequence[Change]) -> None:
        checked(changes)
        self._advance(changes)
        self.insert(_NEW_FACTS, [fact_values(each.run.run_id, fact) for each in changes for fact in each.facts])
        ended = [*chain.from_iterable(each.ended for each in changes)]
        if ended:
            self.write(_END, {"ids": listed(ended)})
        kept = [each for each in changes if not each.swept]
        self.insert(_NEW_ATTEMPTS, [attempt_values(row) for each in kept for row in each.owed])
        for each in changes:
            if each.cleared:
                self.write(_CLEAR, {"run_": each.run.run_id, "executions": listed(each.cleared)})
        set_ = {(timer.run_id, timer.execution_id): timer for each in kept for timer in each.timers}
        self.insert(_SET_TIMERS, [*map(timer_values, set_.values())])
        moved = {wait.wait_id: wait for each in changes for wait in each.waits}
        # Closed first: a key that one wait gives up may be taken by another in the same append.
        ordered = sorted(moved.values(), key=lambda wait: (wait.status == "open", wait.scope, wait.key or ""))
        self.insert(_SET_WAITS, [*map(wait_values, ordered)])
        swept = [each.run.run_id for each in changes if each.swept]
        if swept:
            for statement in _SWEEP:
                self.write(statement, {"runs": listed(swept)})

    def _advance(self, changes: Sequence[Change]) -> None:
        """Create or move the rows of the runs, each from its expected tail."""
        self.insert(_NEW_RUNS, [run_values(each.run) for each in changes if each.expected_tail == 0])
        for statement, names, old in (
            (_ADVANCE, _MOVING, [each for each in changes if each.expected_tail and each.facts]),
            (
                _MEND,
                [each.name for each in runs.c],
                [each for each in changes if each.expected_tail and not each.facts],
            ),
        ):
            told = []
            for each in sorted(old, key=lambda each: each.run.run_id):
                values = run_values(each.run)
                told.append(
                    {"run_": each.run.run_id, "expected": each.expected_tail, **{name: values[name] for name in names}}
                )
            if told and self.write(statement, told if len(told) > 1 else told[0]).rowcount != len(told):
                raise self.conflict("another writer appended to one of these runs first: load it and decide anew")
