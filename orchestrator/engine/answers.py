"""Answers of attempts: recorded, and what comes next decided, in batches. Whoever holds a run takes up all answers that
are stored for it and looks again after its commit, so that nobody waits for a run that is in great demand.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import timedelta
from functools import partial

from orchestrator.core.decide.commands import Advance, AnswerAttempt, Command
from orchestrator.engine.advancing import Batch, Beside, Commands, add_run, anew, apply, committed, complain, store
from orchestrator.engine.deps import Deps
from orchestrator.engine.work import Answer
from orchestrator.errors import Conflict
from orchestrator.ports.records import AttemptRow, AttemptState
from orchestrator.ports.store import Transaction

#: A stored answer that nobody took up after so long is taken up by beat.
ANSWER_GAP = timedelta(seconds=2)
#: An answer of a run that cannot be decided for is looked at again after so long.
SET_ASIDE_GAP = timedelta(minutes=1)


def act(deps: Deps, run_ids: Collection[str], commands: Commands, beside: Beside | None = None) -> Batch:
    """`advancing.apply`, and take up what was answered while the runs were held."""
    batch = apply(deps, run_ids, commands, beside)
    take_stored(deps, batch.busy)
    return batch


def advance(deps: Deps, answers: Sequence[Answer]) -> frozenset[str]:
    """Record answers and decide what comes next, run by run in one transaction; answers with the attempts that counted.

    A run that another process is advancing is not waited for: the answer is stored, and whoever holds the run takes it
    up, because every holder looks again after its commit. So is the answer of a run that cannot be decided for.
    """
    if not answers:
        return frozenset()
    try:
        return _advance(deps, answers)
    except Conflict:
        with deps.store.reading() as tx:
            runs = _runs_of(tx, answers)
    counted: set[str] = set()
    for run_id in sorted(set(runs.values())):
        mine = [answer for answer in answers if runs.get(answer.attempt_id) == run_id]
        try:
            counted |= anew(deps, run_id, partial(_advance, deps, mine))
        except Conflict as error:
            complain(Batch(refused={run_id: error}))
            with deps.store.transaction() as tx:
                counted |= _kept(deps, tx, mine, SET_ASIDE_GAP)
    return frozenset(counted)


def _advance(deps: Deps, answers: Sequence[Answer]) -> frozenset[str]:
    batch = Batch()
    counted: set[str] = set()
    with deps.store.transaction() as tx:
        runs = _runs_of(tx, answers)
        heads = tx.lock(sorted(set(runs.values())), wait=False)
        elsewhere = [answer for answer in answers if runs.get(answer.attempt_id) not in heads]
        if heads:
            given = _given(tx, [answer for answer in answers if runs.get(answer.attempt_id) in heads])
            counted |= _take(deps, tx, batch, {id: head.tail for id, head in heads.items()}, given)
            aside = {row.attempt_id for row in given if row.run_id in batch.refused}
            counted |= _kept(deps, tx, [answer for answer in answers if answer.attempt_id in aside], SET_ASIDE_GAP)
        store(tx, batch)
    complain(batch)
    committed(deps, batch)
    if elsewhere:
        # Not in the transaction above: two that each hold a run and store answers for the other's would wait in a ring.
        with deps.store.transaction() as tx:
            counted |= _kept(deps, tx, elsewhere, ANSWER_GAP)
    take_stored(deps, {*batch.busy, *(runs[answer.attempt_id] for answer in elsewhere if answer.attempt_id in runs)})
    return frozenset(counted & {answer.attempt_id for answer in answers})


def _kept(deps: Deps, tx: Transaction, answers: Sequence[Answer], gap: timedelta) -> set[str]:
    """Store answers for whoever holds their runs, else for beat; answers with the attempts that counted."""
    if not answers:
        return set()
    now = deps.clock.now()
    receipts = [(answer.attempt_id, answer.fence, answer.receipt) for answer in answers]
    return tx.answer(receipts, now=now, due_at=now + gap)


def _runs_of(tx: Transaction, answers: Sequence[Answer]) -> dict[str, str]:
    """The run of each attempt, looked up where the answer does not say it; one that is gone has none."""
    runs = {answer.attempt_id: answer.run_id for answer in answers if answer.run_id is not None}
    unknown = [answer.attempt_id for answer in answers if answer.run_id is None]
    return runs | {row.attempt_id: row.run_id for row in (tx.attempts(unknown) if unknown else ())}


def _given(tx: Transaction, answers: Sequence[Answer]) -> list[AttemptRow]:
    """The rows of these attempts with their answers, leaving out those whose claim is not the present one."""
    told = {answer.attempt_id: answer for answer in answers}
    return [
        replace(row, state=AttemptState.ANSWERED, receipt=told[row.attempt_id].receipt)
        for row in tx.attempts(list(told), lock=True)
        if row.state is AttemptState.CLAIMED and row.fence == told[row.attempt_id].fence
    ]


def take_stored(deps: Deps, run_ids: Collection[str]) -> int:
    """Take up answers that are stored for these runs, leaving out runs that somebody else holds; how many."""
    if not run_ids:
        return 0
    try:
        return _take_stored(deps, run_ids)
    except Conflict:
        taken = 0
    for run_id in run_ids:
        try:
            taken += anew(deps, run_id, partial(_take_stored, deps, (run_id,)))
        except Conflict as error:
            complain(Batch(refused={run_id: error}))
    return taken


def _take_stored(deps: Deps, run_ids: Collection[str]) -> int:
    taken = 0
    while True:
        batch = Batch()
        with deps.store.transaction() as tx:
            waiting = sorted({row.run_id for row in tx.answered(sorted(run_ids))})
            if not waiting:
                return taken
            heads = tx.lock(waiting, wait=False)
            counted = _take(deps, tx, batch, {id: head.tail for id, head in heads.items()}, ())
            store(tx, batch)
        complain(batch)
        committed(deps, batch)
        if not counted:
            return taken
        taken += len(counted)


def _take(deps: Deps, tx: Transaction, batch: Batch, tails: dict[str, int], given: Sequence[AttemptRow]) -> set[str]:
    """Decide for held runs on the answers given and those stored for them; answers with the attempts that counted."""
    rows = [*(tx.answered(sorted(tails)) if tails else ()), *given]
    counted: set[str] = set()
    for run_id, tail in tails.items():
        mine = [row for row in rows if row.run_id == run_id]
        commands: list[Command] = [_answered(row) for row in mine]
        add_run(deps, tx, batch, tail, run_id, commands or (Advance(),))
        decision = batch.decisions.get(run_id)
        replies = decision.replies if decision else ()
        counted |= {row.attempt_id for row, reply in zip(mine, replies, strict=False) if reply}
    return counted


def _answered(row: AttemptRow) -> AnswerAttempt:
    assert row.receipt is not None
    return AnswerAttempt(row.execution_id, row.number, row.receipt, worker=row.worker, claimed_at=row.claimed_at)
