"""Attempts in the hands of workers: claimed, renewed, handed back, lost, stopped, timed out (semantics 2.2)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

import structlog

from orchestrator.core.data import JsonText
from orchestrator.core.decide.attempts import MAX_LOSSES
from orchestrator.core.decide.commands import Command, LoseAttempt, StopAttempt, TimeOutAttempt
from orchestrator.core.inputs import compose, referred
from orchestrator.core.outcomes import FailureKind, failure
from orchestrator.engine.advancing import complain
from orchestrator.engine.answers import act, advance
from orchestrator.engine.deps import Deps
from orchestrator.engine.loading import UNREADABLE, values_for
from orchestrator.engine.rows import FIRST_RING_GAP, doorbell
from orchestrator.engine.work import Answer, Work
from orchestrator.errors import Conflict, StoreUnavailable
from orchestrator.ports.records import AttemptRow, AttemptState
from orchestrator.ports.store import ClaimRequest, Transaction

log = structlog.get_logger(__name__)

Claims = Sequence[tuple[str, int]]


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
    except UNREADABLE:
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
    fences = dict(claims)
    with deps.store.reading() as tx:
        rows = tx.attempts(list(fences))
    _owe_again(deps, [row for row in rows if row.fence == fences[row.attempt_id]])


def stopped(deps: Deps, claims: Claims) -> None:
    """The jobs that carried these were stopped from outside."""
    _tell(deps, claims, lambda r: StopAttempt(r.execution_id, r.number, r.effect, claimed=True))


def timed_out(deps: Deps, claims: Claims) -> None:
    """These are past their deadline."""
    _tell(deps, claims, lambda r: TimeOutAttempt(r.execution_id, r.number, r.effect))


def lost(deps: Deps, claims: Claims, *, unless_renewed: bool = False) -> None:
    """The workers of these vanished: handed out again, until the third loss (semantics 2.2).

    With `unless_renewed` only those whose lease has run out by now.
    """
    again: dict[str, AttemptRow] = {}

    def command(row: AttemptRow) -> Command | None:
        again.pop(row.attempt_id, None)
        if unless_renewed and row.lease_until is not None and row.lease_until > deps.clock.now():
            return None
        losses = row.losses + 1
        if row.effect != "once" and losses < MAX_LOSSES:
            again[row.attempt_id] = replace(row, losses=losses)
        return LoseAttempt(row.execution_id, row.number, losses, row.effect)

    _tell(deps, claims, command)
    _owe_again(deps, list(again.values()))


def _tell(deps: Deps, claims: Claims, command: Callable[[AttemptRow], Command | None]) -> None:
    """Tell the runs of these claims what became of them; of what was answered meanwhile, the answer is taken up."""
    fences = dict(claims)
    with deps.store.reading() as tx:
        runs = {row.attempt_id: row.run_id for row in tx.attempts(list(fences))}

    def commands(tx: Transaction, held: Collection[str]) -> dict[str, list[Command]]:
        told: dict[str, list[Command]] = {}
        for row in tx.attempts(list(runs), lock=True):
            present = row.state is AttemptState.CLAIMED and row.fence == fences[row.attempt_id]
            if present and row.run_id in held and (said := command(row)) is not None:
                told.setdefault(row.run_id, []).append(said)
        return told

    if runs:
        complain(act(deps, sorted(set(runs.values())), commands))


def _owe_again(deps: Deps, rows: Sequence[AttemptRow]) -> None:
    """Put claimed attempts back into the outbox, if nobody else has moved them meanwhile, and ring."""
    if not rows:
        return
    now = deps.clock.now()
    with deps.store.transaction() as tx:
        there = {row.attempt_id: row for row in tx.attempts([row.attempt_id for row in rows], lock=True)}
        owed = [
            replace(
                row,
                state=AttemptState.OWED,
                due_at=now + FIRST_RING_GAP,
                worker=None,
                claimed_at=None,
                deadline=None,
                lease_until=None,
            )
            for row in rows
            if (present := there.get(row.attempt_id)) is not None
            and present.fence == row.fence
            and present.state is AttemptState.CLAIMED
        ]
        tx.postpone(owed)
    deps.dispatcher.ring([doorbell(row) for row in owed])
