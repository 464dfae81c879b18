"""The store in memory: the port in plain dicts, for tests and the testing kit. One transaction at a time; what a failed
one wrote is taken back from an undo log.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from orchestrator.core.data import JsonText
from orchestrator.core.outcomes import Receipt
from orchestrator.errors import Conflict
from orchestrator.ports.records import (
    AttemptRow,
    AttemptState,
    Change,
    DefinitionRow,
    Head,
    RunRow,
    StoredFact,
    TimerRow,
    WaitRow,
)
from orchestrator.ports.store import ClaimRequest, RunFilter

_FINAL = frozenset({"Succeeded", "Failed", "Cancelled"})


class Table(dict[Any, Any]):
    """Rows by key, with an index by run, and an undo log while a transaction is open."""

    def __init__(self) -> None:
        super().__init__()
        self.undo: list[tuple[Hashable, Any]] = []
        self.by_run: dict[str, set[Hashable]] = {}

    def put(self, key: Hashable, row: Any) -> None:
        """Write a row, or remove it with None."""
        self.undo.append((key, self.get(key)))
        self._set(key, row)

    def _set(self, key: Hashable, row: Any) -> None:
        old = self.pop(key, None)
        if old is not None and hasattr(old, "run_id"):
            self.by_run[old.run_id].discard(key)
        if row is not None:
            self[key] = row
            if hasattr(row, "run_id"):
                self.by_run.setdefault(row.run_id, set()).add(key)

    def rollback(self) -> None:
        """Take everything back since the last commit."""
        for key, row in reversed(self.undo):
            self._set(key, row)
        self.undo.clear()

    def of_run(self, run_id: str) -> list[Any]:
        """The rows of one run."""
        return [self[key] for key in self.by_run.get(run_id, ())]


class MemoryStore:
    """The store's port in memory; thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._tx = MemoryTransaction()

    @contextmanager
    def transaction(self) -> Iterator[MemoryTransaction]:
        """Commits at the end, takes everything back when an exception leaves it."""
        with self._lock:
            try:
                yield self._tx
            except BaseException:
                self._tx.rollback()
                raise
            self._tx.commit()

    def reading(self) -> Any:
        """The same: there is only one at a time."""
        return self.transaction()

    def close(self) -> None:
        """Nothing to give up."""


class MemoryTransaction:
    """All tables of the port."""

    def __init__(self) -> None:
        self._definitions = Table()
        self._runs = Table()
        self._attempts = Table()
        self._timers = Table()
        self._waits = Table()
        self._facts: dict[str, list[StoredFact]] = {}
        self._grown: list[tuple[str, int]] = []
        self._tables = (self._definitions, self._runs, self._attempts, self._timers, self._waits)

    def commit(self) -> None:
        """Keep what was written."""
        for table in self._tables:
            table.undo.clear()
        self._grown.clear()

    def rollback(self) -> None:
        """Take back what was written."""
        for table in self._tables:
            table.rollback()
        for run_id, length in reversed(self._grown):
            del self._facts[run_id][length:]
        self._grown.clear()

    # --- definitions ------------------------------------------------------------------------------------------------

    def definition(self, scope: str, workflow: str, version: int | None = None) -> DefinitionRow | None:
        found: DefinitionRow | None
        if version is not None:
            found = self._definitions.get((scope, workflow, version))
            return found
        return next((row for row in self.definitions(scope, workflow) if row.active), None)

    def definitions(self, scope: str, workflow: str | None = None) -> list[DefinitionRow]:
        rows = [r for r in self._definitions.values() if r.scope == scope and workflow in (None, r.workflow)]
        return sorted(rows, key=lambda row: (row.workflow, row.version))

    def add_definition(self, row: DefinitionRow) -> bool:
        key = (row.scope, row.workflow, row.version)
        if key in self._definitions:
            return False
        self._definitions.put(key, row)
        return True

    def activate(self, scope: str, workflow: str, version: int | None) -> None:
        for row in self.definitions(scope, workflow):
            self._definitions.put((scope, workflow, row.version), replace(row, active=row.version == version))

    # --- journal ----------------------------------------------------------------------------------------------------

    def head(self, run_id: str) -> Head | None:
        row = self._runs.get(run_id)
        return None if row is None else Head(row.run_id, row.scope, row.tail, row.status in _FINAL)

    def lock(self, run_ids: Sequence[str], *, wait: bool) -> dict[str, Head]:
        return {id: head for id in sorted(run_ids) if (head := self.head(id)) is not None}

    def facts(
        self, run_id: str, *, after: int = 0, limit: int | None = None, inline: int | None = None
    ) -> list[StoredFact]:
        found = self._facts.get(run_id, [])[after : None if limit is None else after + limit]
        if inline is None:
            return list(found)
        return [replace(fact, value=None) if fact.size > inline else fact for fact in found]

    def values(self, run_id: str, numbers: Sequence[int]) -> dict[int, JsonText]:
        journal = self._facts.get(run_id, [])
        wanted = {number: journal[number - 1].value for number in numbers if 0 < number <= len(journal)}
        return {number: value for number, value in wanted.items() if value is not None}

    def append(self, changes: Sequence[Change]) -> None:
        for change in changes:
            run_id = change.run.run_id
            row = self._runs.get(run_id)
            if (row.tail if row else 0) != change.expected_tail or (row is None) != (change.expected_tail == 0):
                raise Conflict
            journal = self._facts.setdefault(run_id, [])
            self._grown.append((run_id, len(journal)))
            journal.extend(change.facts)
            self._runs.put(run_id, change.run)
            self._follow(change)

    def _follow(self, change: Change) -> None:
        run_id = change.run.run_id
        for attempt_id in change.ended:
            self._attempts.put(attempt_id, None)
        for attempt in change.owed:
            self._attempts.put(attempt.attempt_id, attempt)
        for execution_id in change.cleared:
            self._timers.put((run_id, execution_id), None)
        for timer in change.timers:
            self._timers.put((run_id, timer.execution_id), timer)
        for wait in change.waits:
            holder = self.open_keys(wait.scope, [wait.key]).get(wait.key) if wait.key else None
            if wait.status == "open" and holder not in (None, wait.execution_id):
                raise Conflict
            self._waits.put(wait.wait_id, wait)
        if change.swept:
            for attempt in self._attempts.of_run(run_id):
                self._attempts.put(attempt.attempt_id, None)
            for timer in self._timers.of_run(run_id):
                self._timers.put((run_id, timer.execution_id), None)

    # --- attempts ---------------------------------------------------------------------------------------------------

    def claim(
        self, requests: Sequence[ClaimRequest], worker: str, *, now: datetime, lease: timedelta
    ) -> list[AttemptRow]:
        claimed = []
        for request in requests:
            row = self._attempts.get(request.attempt_id)
            if row is None or row.state is not AttemptState.OWED:
                continue
            deadline = now + row.timeout
            row = replace(
                row,
                state=AttemptState.CLAIMED,
                fence=row.fence + 1,
                worker=worker,
                effect=request.effect,
                claimed_at=now,
                lease_until=now + lease,
                deadline=deadline,
                due_at=min(deadline, now + lease),
            )
            self._attempts.put(row.attempt_id, row)
            claimed.append(row)
        return claimed

    def _held(self, attempt_id: str, fence: int) -> AttemptRow | None:
        row: AttemptRow | None = self._attempts.get(attempt_id)
        return row if row is not None and row.state is AttemptState.CLAIMED and row.fence == fence else None

    def renew(self, claims: Sequence[tuple[str, int]], *, until: datetime) -> set[str]:
        held = [row for id, fence in claims if (row := self._held(id, fence)) is not None]
        for row in held:
            due = min(until, row.deadline or until)
            self._attempts.put(row.attempt_id, replace(row, lease_until=until, due_at=due))
        return {row.attempt_id for row in held}

    def answer(self, receipts: Sequence[tuple[str, int, Receipt]], *, now: datetime, due_at: datetime) -> set[str]:
        stored = set()
        for attempt_id, fence, receipt in receipts:
            row = self._held(attempt_id, fence)
            if row is not None:
                changed = replace(row, state=AttemptState.ANSWERED, receipt=receipt, answered_at=now, due_at=due_at)
                self._attempts.put(attempt_id, changed)
                stored.add(attempt_id)
        return stored

    def attempts(self, attempt_ids: Sequence[str], *, lock: bool = False) -> list[AttemptRow]:
        return [self._attempts[id] for id in attempt_ids if id in self._attempts]

    def attempts_of(self, run_ids: Sequence[str], *, lock: bool = False) -> list[AttemptRow]:
        return [row for id in run_ids for row in self._attempts.of_run(id)]

    def answered(self, run_ids: Sequence[str]) -> list[AttemptRow]:
        rows = [row for row in self.attempts_of(run_ids) if row.state is AttemptState.ANSWERED]
        return sorted(rows, key=lambda row: (row.answered_at, row.attempt_id))

    def due_attempts(self, now: datetime, limit: int) -> list[AttemptRow]:
        return _first(
            (r for r in self._attempts.values() if r.due_at <= now), limit, lambda r: (r.due_at, r.attempt_id)
        )

    def postpone(self, rows: Sequence[AttemptRow]) -> None:
        for row in rows:
            known = self._attempts.get(row.attempt_id)
            if known is None or known.fence != row.fence or known.state is AttemptState.ANSWERED:
                continue
            self._attempts.put(
                row.attempt_id,
                replace(
                    known,
                    due_at=row.due_at,
                    rings=row.rings,
                    losses=row.losses,
                    state=row.state,
                    worker=row.worker,
                    claimed_at=row.claimed_at,
                    deadline=row.deadline,
                    lease_until=row.lease_until,
                ),
            )

    # --- timers -----------------------------------------------------------------------------------------------------

    def due_timers(self, now: datetime, limit: int) -> list[TimerRow]:
        due = (row for row in self._timers.values() if row.due_at <= now and not row.parked)
        return _first(due, limit, lambda row: (row.due_at, row.run_id, row.execution_id))

    def take_timers(self, taken: Sequence[TimerRow], *, until: datetime) -> None:
        for timer in taken:
            key = (timer.run_id, timer.execution_id)
            if key in self._timers:
                self._timers.put(key, replace(self._timers[key], due_at=until))

    def park_timers(self, run_id: str, execution_ids: Sequence[str]) -> None:
        for execution_id in execution_ids:
            key = (run_id, execution_id)
            if key in self._timers:
                self._timers.put(key, replace(self._timers[key], parked=True))

    def timers_of(self, run_id: str) -> list[TimerRow]:
        return sorted(self._timers.of_run(run_id), key=lambda row: row.execution_id)

    # --- read models ------------------------------------------------------------------------------------------------

    def run(self, run_id: str) -> RunRow | None:
        row: RunRow | None = self._runs.get(run_id)
        return row

    def runs(self, which: RunFilter, *, limit: int, before: tuple[datetime, str] | None = None) -> list[RunRow]:
        rows = (
            row
            for row in self._runs.values()
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
        return Counter(row.status for row in self._runs.values() if scope in (None, row.scope))

    def run_ids(self, *, after: str = "", limit: int = 1000) -> list[str]:
        return sorted(id for id in self._runs if id > after)[:limit]

    def wait(self, wait_id: str) -> WaitRow | None:
        row: WaitRow | None = self._waits.get(wait_id)
        return row

    def wait_by_key(self, scope: str, key: str) -> WaitRow | None:
        rows = [row for row in self._waits.values() if row.scope == scope and row.key == key]
        return max(rows, key=lambda row: (row.status == "open", row.closed_at or row.opened_at), default=None)

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
            for row in (self._waits.values() if run_id is None else self._waits.of_run(run_id))
            if scope in (None, row.scope)
            and kind in (None, row.kind)
            and (not open_only or row.status == "open")
            and (after is None or (row.opened_at, row.wait_id) > after)
        )
        return _first(rows, limit, lambda row: (row.opened_at, row.wait_id))

    def open_keys(self, scope: str, keys: Sequence[str]) -> dict[str, str]:
        return {
            row.key: row.execution_id
            for row in self._waits.values()
            if row.scope == scope and row.status == "open" and row.key in keys
        }


def _first(rows: Iterable[Any], limit: int, key: Callable[[Any], Any]) -> list[Any]:
    return sorted(rows, key=key)[:limit]
