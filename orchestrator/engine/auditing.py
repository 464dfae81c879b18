"""Verify and repair: every journal is folded anew and compared with every row that follows from it.

In health there is nothing to find. What a fault left behind is mended by writing the row that the journal asks for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from orchestrator.core.evolve import evolve
from orchestrator.core.facts import WorkflowWaitCancelled, WorkflowWaitOpened, WorkflowWaitResolved
from orchestrator.core.ids import attempt_id
from orchestrator.core.state import ExecutionStatus, RunState
from orchestrator.engine.loading import UNREADABLE, recorded
from orchestrator.engine.rows import attempt_row, run_row, wait_row
from orchestrator.errors import CeleriacError
from orchestrator.ports.records import AttemptRow, AttemptState, Change, TimerRow, WaitRow
from orchestrator.ports.store import Store, Transaction

#: How many runs are looked at between two questions for more.
PAGE = 500


@dataclass(frozen=True, slots=True)
class Difference:
    """One row that is not what the journal says; `expected` None: it should not be, `found` None: it is missing."""

    run_id: str
    #: ``runs``, ``waits``, ``timers``, ``attempts`` or ``facts`` (the journal itself cannot be folded).
    table: str
    key: str
    expected: object
    found: object

    def __str__(self) -> str:
        place = f"run {self.run_id}: {self.table} {self.key}"
        if self.found is None:
            return f"{place} is missing; the journal asks for {self.expected}"
        if self.expected is None:
            return f"{place} should not be there: {self.found}"
        return f"{place} is {self.found}; the journal asks for {self.expected}"


def audit(store: Store, run_ids: Sequence[str] | None = None) -> Iterator[Difference]:
    """Every difference, run by run, each run read in one consistent view."""
    if run_ids is not None:
        for run_id in run_ids:
            with store.reading() as tx:
                yield from list(_audit_run(tx, run_id))
        return
    last = ""
    while True:
        with store.reading() as tx:
            page = tx.run_ids(after=last, limit=PAGE)
        yield from audit(store, page)
        if len(page) < PAGE:
            return
        last = page[-1]


def _audit_run(tx: Transaction, run_id: str) -> Iterator[Difference]:
    try:
        state, waits = _fold(tx, run_id)
    except UNREADABLE as error:
        yield Difference(run_id, "facts", "", "a journal that folds", f"{type(error).__name__}: {error}")
        return
    row = tx.run(run_id)
    expected = run_row(state)
    if row != expected:
        yield Difference(run_id, "runs", run_id, expected, row)
    found = {wait.wait_id: wait for wait in tx.waits(run_id=run_id, open_only=False, limit=1_000_000)}
    for key in sorted(waits.keys() | found.keys()):
        if waits.get(key) != found.get(key):
            yield Difference(run_id, "waits", key, waits.get(key), found.get(key))
    yield from _audit_timers(tx, state)
    yield from _audit_attempts(tx, state)


def _fold(tx: Transaction, run_id: str) -> tuple[RunState, dict[str, WaitRow]]:
    state: RunState | None = None
    waits: dict[str, WaitRow] = {}
    for fact in recorded(tx, run_id, tx.facts(run_id)):
        state = evolve(state, fact)
        match fact.fact:
            case (
                WorkflowWaitOpened(execution=ref, wait_id=wait)
                | WorkflowWaitResolved(execution=ref, wait_id=wait)
                | WorkflowWaitCancelled(execution=ref, wait_id=wait)
            ):
                waits[wait] = wait_row(state, state.executions[ref.id])
            case _:
                pass
    if state is None:
        raise CeleriacError("the run has no facts")
    return state, waits


def due_timers(state: RunState) -> dict[str, datetime]:
    """When the run must be woken, by execution."""
    due: dict[str, datetime] = {}
    for id, execution in state.executions.items():
        instant = execution.wait.deadline if execution.wait else execution.retry_due
        if instant is not None and not state.final and not execution.status.final:
            due[id] = instant
    return due


def _audit_timers(tx: Transaction, state: RunState) -> Iterator[Difference]:
    """The due time of a row may be later than the journal's while a beat looks at it, never earlier or absent."""
    expected = due_timers(state)
    found = {timer.execution_id: timer for timer in tx.timers_of(state.run_id)}
    for key in sorted(expected.keys() | found.keys()):
        due, timer = expected.get(key), found.get(key)
        if due is None or timer is None or timer.due_at < due:
            yield Difference(state.run_id, "timers", key, due and TimerRow(state.run_id, key, due), timer)


def _audit_attempts(tx: Transaction, state: RunState) -> Iterator[Difference]:
    expected = {
        attempt_id(id, execution.attempt): attempt_row(state, execution.ref, execution.attempt, state.updated_at)
        for id, execution in state.executions.items()
        if execution.status is ExecutionStatus.SCHEDULED and execution.answer is None
    }
    found = {row.attempt_id: row for row in tx.attempts_of((state.run_id,))}
    for key in sorted(expected.keys() | found.keys()):
        if not _same(expected.get(key), found.get(key)):
            yield Difference(state.run_id, "attempts", key, expected.get(key), found.get(key))


def _same(expected: AttemptRow | None, found: AttemptRow | None) -> bool:
    """Whether a row is what the journal asks for; what only the row knows (claim, lease, rings) is its own."""
    if expected is None or found is None:
        return False
    own = replace(
        found,
        state=AttemptState.OWED,
        owed_at=expected.owed_at,
        due_at=expected.due_at,
        fence=expected.fence,
        rings=0,
        losses=0,
        worker=None,
        effect=None,
        claimed_at=None,
        deadline=None,
        lease_until=None,
        receipt=None,
        answered_at=None,
    )
    return own == expected


def mend(store: Store, difference: Difference) -> bool:
    """Write the row that the journal asks for, if that can be done; False for what only a person can judge.

    The run is held meanwhile and the difference looked for again, so that what moved on is left alone.
    """
    with store.transaction() as tx:
        tx.lock((difference.run_id,), wait=True)
        again = {(other.table, other.key): other for other in _audit_run(tx, difference.run_id)}
        present = again.get((difference.table, difference.key))
        if present is None:
            return True
        if present.table == "facts" or (present.table == "waits" and present.expected is None):
            return False
        state, _ = _fold(tx, difference.run_id)
        row = tx.run(difference.run_id)
        change = Change(run=run_row(state), expected_tail=0 if row is None else row.tail, facts=())
        tx.append((_mended(change, present),))
    return True


def _mended(change: Change, present: Difference) -> Change:
    match present.expected:
        case WaitRow() as wait:
            return replace(change, waits=(wait,))
        case TimerRow() as timer:
            return replace(change, timers=(timer,))
        case AttemptRow() as attempt:
            return replace(change, ended=(attempt.attempt_id,), owed=(attempt,))
        case _:
            pass
    if present.table == "timers":
        return replace(change, cleared=(present.key,))
    if present.table == "attempts":
        return replace(change, ended=(present.key,))
    return change
