"""The append, in SQL: a change and all it owes in as few statements as its database allows."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

from sqlalchemy import bindparam, delete, update

from orchestrator.ports.records import AttemptRow, Change
from orchestrator.store.changes import checked, waits_in_order
from orchestrator.store.sql.batches import Batch, among, listed
from orchestrator.store.sql.mapping import attempt_values, fact_values, run_values, timer_values, wait_values
from orchestrator.store.sql.schema import attempts, facts, runs, timers, waits
from orchestrator.store.sql.session import Session

_NEW_RUNS = Batch(runs)
_AT_TAIL = (runs.c.run_id == bindparam("run_"), runs.c.tail == bindparam("expected"))
#: With facts, what the first one said of a run never changes; a change without facts mends the whole row.
_MOVING = ("status", "tail", "updated_at", "ended_at")
_ALL = tuple(column.name for column in runs.c)
_ADVANCE = update(runs).where(*_AT_TAIL).values({name: bindparam(name) for name in _MOVING})
_MEND = update(runs).where(*_AT_TAIL).values({name: bindparam(name) for name in _ALL})

_NEW_FACTS = Batch(facts)
_NEW_ATTEMPTS = Batch(attempts)
_END = delete(attempts).where(among(attempts.c.attempt_id, "ended"))
#: The usual append, of facts with attempts that end and begin, is one statement on PostgreSQL, or two for several runs:
#: round trips are most of what it costs. All its parts see the same moment, so no attempt may both end and begin in it.
_BESIDE = (_END.cte("over"), _NEW_ATTEMPTS.at_once.cte("owed"))
_FACTS_AT_ONCE = _NEW_FACTS.at_once.add_cte(*_BESIDE)
_ONE_AT_ONCE = _ADVANCE.add_cte(_NEW_FACTS.at_once.cte("kept"), *_BESIDE)

_CLEAR = delete(timers).where(timers.c.run_id == bindparam("run_"), among(timers.c.execution_id, "executions"))
_SET_TIMERS = Batch(timers, replacing=True)
_SET_WAITS = Batch(waits, replacing=True)
_SWEEP = tuple(delete(table).where(among(table.c.run_id, "runs")) for table in (attempts, timers))


class Appending(Session):
    """`ports.store.JournalTable.append`."""

    def append(self, changes: Sequence[Change]) -> None:
        checked(changes)
        self._runs_and_facts(changes)
        self._timers(changes)
        self._waits(changes)
        swept = [each.run.run_id for each in changes if each.swept]
        if swept:
            for statement in _SWEEP:
                self.write(statement, {"runs": listed(swept)})

    def _runs_and_facts(self, changes: Sequence[Change]) -> None:
        """The rows of the runs, each from its expected tail, their facts, and the attempts that end and begin."""
        told = [fact_values(each.run.run_id, fact) for each in changes for fact in each.facts]
        ended = [*chain.from_iterable(each.ended for each in changes)]
        owed = [row for each in changes if not each.swept for row in each.owed]
        at_once = self._dialect == "postgresql" and not {*ended}.intersection(row.attempt_id for row in owed)
        beside = self._beside(ended, owed) if at_once else {}
        if at_once and len(changes) == 1 and changes[0].expected_tail and told:
            self._moved(_ONE_AT_ONCE, [_move(changes[0], _MOVING) | _NEW_FACTS.told(told) | beside])
            return
        self.insert(_NEW_RUNS, [run_values(each.run) for each in changes if each.expected_tail == 0])
        old = sorted((each for each in changes if each.expected_tail), key=lambda each: each.run.run_id)
        self._moved(_ADVANCE, [_move(each, _MOVING) for each in old if each.facts])
        self._moved(_MEND, [_move(each, _ALL) for each in old if not each.facts])
        if at_once and (told or ended or owed):
            self.write(_FACTS_AT_ONCE, _NEW_FACTS.told(told) | beside)
            return
        self.insert(_NEW_FACTS, told)
        if ended:
            self.write(_END, {"ended": listed(ended)})
        self.insert(_NEW_ATTEMPTS, [*map(attempt_values, owed)])

    def _beside(self, ended: Sequence[str], owed: Sequence[AttemptRow]) -> dict[str, Any]:
        return {"ended": listed(ended)} | _NEW_ATTEMPTS.told([*map(attempt_values, owed)])

    def _moved(self, statement: Any, told: list[dict[str, Any]]) -> None:
        if told and self.write(statement, told if len(told) > 1 else told[0]) != len(told):
            raise self.conflict("another writer appended to one of these runs first: load it and decide anew")

    def _timers(self, changes: Sequence[Change]) -> None:
        for each in changes:
            if each.cleared:
                self.write(_CLEAR, {"run_": each.run.run_id, "executions": listed(each.cleared)})
        kept = [timer for each in changes if not each.swept for timer in each.timers]
        last = {(timer.run_id, timer.execution_id): timer for timer in kept}
        self.insert(_SET_TIMERS, [*map(timer_values, last.values())])

    def _waits(self, changes: Sequence[Change]) -> None:
        self.insert(_SET_WAITS, [*map(wait_values, waits_in_order(changes))])


def _move(change: Change, names: Sequence[str]) -> dict[str, Any]:
    values = run_values(change.run)
    return {"run_": change.run.run_id, "expected": change.expected_tail} | {name: values[name] for name in names}
