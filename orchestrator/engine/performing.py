"""Attempts between the outbox and the journal: claimed, renewed, answered, lost, stopped (semantics 2.2)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta

import structlog

from orchestrator.core.data import JsonText
from orchestrator.core.decide.attempts import MAX_LOSSES
from orchestrator.core.decide.commands import (
    Advance,
    AnswerAttempt,
    Command,
    LoseAttempt,
    StopAttempt,
    TimeOutAttempt,
)
from orchestrator.core.inputs import compose, referred
from orchestrator.core.outcomes import FailureKind, failure
from orchestrator.engine.advancing import TRIES, Batch, add_run, apply, committed, store
from orchestrator.engine.deps import Deps
from orchestrator.engine.loading import values_for
from orchestrator.engine.rows import FIRST_RING_GAP, doorbell
from orchestrator.engine.work import Answer, Work
from orchestrator.errors import CeleriacError, Conflict, StoreUnavailable
from orchestrator.ports.records import AttemptRow, AttemptState
from orchestrator.ports.store import ClaimRequest, Transaction

log = structlog.get_logger(__name__)

Claims = Sequence[tuple[str, int]]

#: A stored answer that nobody took up after so long is taken up by beat.
ANSWER_GAP = timedelta(seconds=2)
#: An answer of a run that cannot be decided for is looked at again after so long.
SET_ASIDE_GAP = timedelta(minutes=1)


def claim(deps: Deps, requests: Sequence[ClaimRequest], worker: str) -> list[Work]:
    """Claim what is owed and compose its pinned input; what is claimed, over or gone is absent from the answer."""
    if not requests:
        return []
    with deps.store.transaction() as tx:
        rows = tx.claim(requests, worker, now=deps.clock.now(), lease=deps.lease)
        return [work for row in rows if (work := _work(deps, tx, row)) is not None]


def _work(deps: Deps, tx: Transaction, row: AttemptRow) -> Work | None:
    try:
        state = deps.states.get(row.run_id)
        execution = state.executions.get(row.execution_id) if state else None
        if state is None or execution is None or execution.pin is None or execution.attempt != row.number:
            head = tx.head(row.run_id)
            state = deps.states.load(tx, row.run_id, head.tail if head else 0)
            execution = state.executions[row.execution_id]
        text = compose(state, execution, values_for(tx, row.run_id, referred(state, execution)))
    except (Conflict, StoreUnavailable):
        raise
    except (CeleriacError, KeyError, AssertionError):
        log.exception("attempt_unreadable", attempt=row.attempt_id, run=row.run_id, node=row.node)
        return None
    ref = execution.ref
    assert row.claimed_at is not None
    assert row.deadline is not None
    return Work(
        attempt_id=row.attempt_id,
        fence=row.fence,
        scope=row.scope,
        run_id=row.run_id,
        workflow=state.definition.workflow,
        node_id=ref.node,
        branch=ref.branch,
        visit=ref.visit,
        execution_id=ref.id,
        attempt=row.number,
        capability=row.capability,
        configuration=JsonText(state.definition.graph.node[ref.node].configuration),
        input=text,
        claimed_at=row.claimed_at,
        deadline=row.deadline,
    )


def advance(deps: Deps, answers: Sequence[Answer]) -> frozenset[str]:
    """Record answers and decide what comes next, run by run in one transaction; answers with the attempts that counted.

    A run that another process is advancing is not waited for: the answer is stored, and whoever holds the run takes it
    up, because every holder looks again after its commit.
    """
    if not answers:
        return frozenset()
    for attempt in range(TRIES):
        try:
            return _advance(deps, answers)
        except Conflict:
            if attempt == TRIES - 1:
                raise
    raise AssertionError("unreachable")


def _advance(deps: Deps, answers: Sequence[Answer]) -> frozenset[str]:
    now = deps.clock.now()
    batch = Batch()
    counted: set[str] = set()
    with deps.store.transaction() as tx:
        runs = _runs_of(tx, answers)
        heads = tx.lock(sorted(set(runs.values())), wait=False)
        elsewhere = [answer for answer in answers if runs.get(answer.attempt_id, "") not in heads]
        if elsewhere:
            kept = [(answer.attempt_id, answer.fence, answer.receipt) for answer in elsewhere]
            counted |= tx.answer(kept, now=now, due_at=now + ANSWER_GAP)
        if heads:
            given = _given(tx, [answer for answer in answers if runs.get(answer.attempt_id, "") in heads])
            counted |= _take(deps, tx, batch, {id: head.tail for id, head in heads.items()}, given)
            refused = [
                (row.attempt_id, row.fence, row.receipt)
                for row in given
                if row.run_id in batch.refused and row.receipt is not None
            ]
            if refused:
                counted |= tx.answer(refused, now=now, due_at=now + SET_ASIDE_GAP)
        store(tx, batch)
    _complain(batch)
    committed(deps, batch)
    again = {runs[answer.attempt_id] for answer in elsewhere if answer.attempt_id in runs} | {
        id for id, decision in batch.decisions.items() if decision.state.scheduled and not decision.state.final
    }
    if again:
        take_stored(deps, sorted(again))
    return frozenset(counted)


def _runs_of(tx: Transaction, answers: Sequence[Answer]) -> dict[str, str]:
    """The run of each attempt, looked up where the answer does not say it."""
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


def take_stored(deps: Deps, run_ids: Sequence[str]) -> int:
    """Take up answers that are stored for these runs, leaving out runs that somebody else holds; how many."""
    taken = 0
    for _ in range(TRIES):
        batch = Batch()
        try:
            with deps.store.transaction() as tx:
                waiting = sorted({row.run_id for row in tx.answered(run_ids)})
                if not waiting:
                    return taken
                heads = tx.lock(waiting, wait=False)
                taken += len(_take(deps, tx, batch, {id: head.tail for id, head in heads.items()}, ()))
                store(tx, batch)
        except Conflict:
            continue
        _complain(batch)
        committed(deps, batch)
        if not batch.changes:
            return taken
    return taken


def _take(deps: Deps, tx: Transaction, batch: Batch, tails: dict[str, int], given: Sequence[AttemptRow]) -> set[str]:
    """Decide for held runs on the answers given and those stored for them; answers with the attempts that counted."""
    rows = [*(tx.answered(sorted(tails)) if tails else ()), *given]
    counted: set[str] = set()
    for run_id, tail in tails.items():
        mine = [row for row in rows if row.run_id == run_id]
        commands: list[Command] = [_answer_command(row) for row in mine]
        add_run(deps, tx, batch, tail, run_id, commands or (Advance(),))
        decision = batch.decisions.get(run_id)
        replies = decision.replies if decision else ()
        counted |= {row.attempt_id for row, reply in zip(mine, replies, strict=False) if reply}
    return counted


def _answer_command(row: AttemptRow) -> AnswerAttempt:
    assert row.receipt is not None
    return AnswerAttempt(row.execution_id, row.number, row.receipt, worker=row.worker, claimed_at=row.claimed_at)


def _complain(batch: Batch) -> None:
    for run_id, error in batch.refused.items():
        log.error("run_set_aside", run=run_id, error=str(error))


def renew(deps: Deps, claims: Claims) -> set[str]:
    """Extend leases; answers with the attempts that are still held under their fence."""
    if not claims:
        return set()
    with deps.store.transaction() as tx:
        return tx.renew(claims, until=deps.clock.now() + deps.lease)


def performer_missing(deps: Deps, attempt_ids: Sequence[str], worker: str) -> None:
    """Nobody here performs these: claimed and answered at once (semantics 1.10)."""
    work = claim(deps, [ClaimRequest(id, "safe") for id in attempt_ids], worker)
    advance(
        deps,
        [
            Answer(
                item.attempt_id,
                item.fence,
                failure(FailureKind.PERFORMER_MISSING, f"no performer is registered for {item.capability}"),
            )
            for item in work
        ],
    )


def hand_back(deps: Deps, claims: Claims) -> None:
    """A planned stop: owed again at once, and nothing is used up or recorded (semantics 2.8)."""
    rows = _held(deps, claims)
    _owe_again(deps, [replace(row, due_at=deps.clock.now()) for row in rows])


def stopped(deps: Deps, claims: Claims) -> None:
    """The jobs that carried these were stopped from outside."""
    _tell(deps, _held(deps, claims), lambda r: StopAttempt(r.execution_id, r.number, r.effect, claimed=True))


def timed_out(deps: Deps, claims: Claims) -> None:
    """These are past their deadline."""
    _tell(deps, _held(deps, claims), lambda r: TimeOutAttempt(r.execution_id, r.number, r.effect))


def lost(deps: Deps, claims: Claims) -> None:
    """The workers of these vanished: handed out again, until the third loss (semantics 2.2)."""
    lose(deps, _held(deps, claims))


def lose(deps: Deps, rows: Sequence[AttemptRow]) -> None:
    """Decide what each loss means; what the journal does not take up is owed again with one loss more."""
    rows = [replace(row, losses=row.losses + 1) for row in rows]
    _tell(deps, rows, lambda r: LoseAttempt(r.execution_id, r.number, r.losses, r.effect))
    now = deps.clock.now()
    again = [replace(r, due_at=now) for r in rows if r.effect != "once" and r.losses < MAX_LOSSES]
    _owe_again(deps, again)


def _held(deps: Deps, claims: Claims) -> list[AttemptRow]:
    fences = dict(claims)
    with deps.store.reading() as tx:
        rows = tx.attempts(list(fences))
    return [r for r in rows if r.state is AttemptState.CLAIMED and r.fence == fences[r.attempt_id]]


def _tell(deps: Deps, rows: Sequence[AttemptRow], command: Callable[[AttemptRow], Command]) -> None:
    commands: dict[str, list[Command]] = {}
    for row in rows:
        commands.setdefault(row.run_id, []).append(command(row))
    if commands:
        _complain(apply(deps, commands))


def _owe_again(deps: Deps, rows: Sequence[AttemptRow]) -> None:
    """Put claimed attempts back into the outbox, if nobody else has moved them meanwhile, and ring."""
    if not rows:
        return
    owed = [
        replace(row, state=AttemptState.OWED, worker=None, claimed_at=None, deadline=None, lease_until=None)
        for row in rows
    ]
    with deps.store.transaction() as tx:
        there = {row.attempt_id: row.fence for row in tx.attempts([row.attempt_id for row in owed], lock=True)}
        owed = [row for row in owed if there.get(row.attempt_id) == row.fence]
        tx.postpone([replace(row, due_at=row.due_at + FIRST_RING_GAP) for row in owed])
    deps.dispatcher.ring([doorbell(row) for row in owed])
