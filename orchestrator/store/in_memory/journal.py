"""Journals and the append, in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from orchestrator.core.data import JsonText
from orchestrator.ports.records import Change, Head, StoredFact, WaitRow
from orchestrator.store.changes import checked, waits_in_order
from orchestrator.store.in_memory.tables import FINAL, Facts, Opened


class Journal(Opened):
    """`ports.store.JournalTable`."""

    def head(self, run_id: str) -> Head | None:
        row = self.read.runs.get(run_id)
        return None if row is None else Head(row.run_id, row.scope, row.tail, row.status in FINAL)

    def lock(self, run_ids: Sequence[str], *, wait: bool) -> dict[str, Head]:
        runs = self.write.runs
        rows = [row for id in sorted({*run_ids}) if (row := runs.get(id)) is not None]
        return {row.run_id: Head(row.run_id, row.scope, row.tail, row.status in FINAL) for row in rows}

    def facts(
        self, run_id: str, *, after: int = 0, limit: int | None = None, inline: int | None = None
    ) -> list[StoredFact]:
        journal = self.read.facts.get(run_id)
        found = [] if journal is None else journal.after(after, limit)
        if inline is None:
            return found
        return [replace(fact, value=None) if fact.size > inline else fact for fact in found]

    def values(self, run_id: str, numbers: Sequence[int]) -> dict[int, JsonText]:
        journal = self.read.facts.get(run_id, Facts([], 0))
        wanted = {number: journal.shared[number - 1].value for number in numbers if 0 < number <= journal.length}
        return {number: value for number, value in wanted.items() if value is not None}

    def append(self, changes: Sequence[Change]) -> None:
        checked(changes)
        tables = self.write
        for change in changes:
            run_id = change.run.run_id
            row = tables.runs.get(run_id)
            if (row is None) != (change.expected_tail == 0) or (row is not None and row.tail != change.expected_tail):
                raise self.conflict(f"another writer appended to run {run_id} first: load it and decide anew")
            journal = tables.facts.get(run_id, Facts([], 0))
            if change.facts and journal.length != change.expected_tail:
                raise self.conflict(f"the journal of run {run_id} ends at {journal.length}: load it and decide anew")
            tables.facts = tables.facts.insert(run_id, journal.followed_by(change.facts))
            tables.runs = tables.runs.insert(run_id, change.run)
            self._attempts_and_timers(change)
        for wait in waits_in_order(changes):
            self._wait(wait)

    def _attempts_and_timers(self, change: Change) -> None:
        run_id, attempts, timers = change.run.run_id, self.write.attempts, self.write.timers
        for attempt_id in change.ended:
            attempts.drop(attempt_id)
        for execution_id in change.cleared:
            timers.drop((run_id, execution_id))
        if change.swept:
            for attempt in attempts.of(run_id):
                attempts.drop(attempt.attempt_id)
            for timer in timers.of(run_id):
                timers.drop((run_id, timer.execution_id))
            return
        for attempt in change.owed:
            if attempts.get(attempt.attempt_id) is not None:
                raise self.conflict(f"the attempt {attempt.attempt_id} is there already: load its run and decide anew")
            attempts.put(attempt.attempt_id, attempt)
        for timer in change.timers:
            timers.put((timer.run_id, timer.execution_id), timer)

    def _wait(self, wait: WaitRow) -> None:
        tables = self.write
        if wait.key is not None:
            known = tables.keyed.get((wait.scope, wait.key), ())
            others = [other for id in known if id != wait.wait_id and (other := tables.waits.get(id)) is not None]
            if wait.status == "open" and any(other.status == "open" and other.key == wait.key for other in others):
                raise self.conflict(f"the completion key {wait.key!r} is open already: load the run and decide anew")
            if wait.wait_id not in known:
                tables.keyed = tables.keyed.insert((wait.scope, wait.key), (*known, wait.wait_id))
        tables.waits.put(wait.wait_id, wait)
