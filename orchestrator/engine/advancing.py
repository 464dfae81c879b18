"""One transaction over one or several runs: hold them, fold them, decide, append; then ring.

A run that cannot be decided for is set aside: it is told of, nothing of it is stored, and it harms no other run.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TypeAlias, TypeVar

import structlog

from orchestrator.core.data import JsonText
from orchestrator.core.decide.commands import AnswerAttempt, Command
from orchestrator.core.decide.decision import Decision, decide
from orchestrator.core.decide.draft import Known, Missing
from orchestrator.core.ids import attempt_id
from orchestrator.core.state import ExecutionStatus, RunState, RunStatus
from orchestrator.engine.deps import Deps
from orchestrator.engine.loading import UNREADABLE, Lookup
from orchestrator.engine.rows import change_of, doorbell
from orchestrator.errors import CeleriacError, Conflict, StoreUnavailable
from orchestrator.ports.dispatch import Doorbell
from orchestrator.ports.records import Change
from orchestrator.ports.store import Transaction

log = structlog.get_logger(__name__)

T = TypeVar("T")

#: How often a decision is made anew when another writer was first.
TRIES = 20


@dataclass(slots=True)
class Batch:
    """What one transaction decided, to be acted on once it is committed."""

    changes: list[Change] = field(default_factory=list)
    decisions: dict[str, Decision] = field(default_factory=dict)
    #: Runs whose decision raised; nothing of them is stored.
    refused: dict[str, CeleriacError] = field(default_factory=dict)
    #: Attempts that workers may still hold and that are over.
    called_off: list[str] = field(default_factory=list)
    #: Runs with attempts that somebody may have answered while the run was held.
    busy: set[str] = field(default_factory=set)


#: Gives the commands for runs that are held, from what else the transaction sees.
Commands: TypeAlias = Callable[[Transaction, Collection[str]], Mapping[str, Sequence[Command]]]
#: Does in the same transaction what the decisions ask for beside their facts.
Beside: TypeAlias = Callable[[Transaction, Batch], None]


def decide_run(
    deps: Deps,
    tx: Transaction,
    state: RunState,
    commands: Sequence[Command],
    *,
    values: Mapping[int, JsonText] | None = None,
) -> Decision:
    """Decide, loading whatever the decision asks for; `values` are those that are not stored yet."""
    known = Known(values=values or {}, limits=deps.limits)
    now = deps.clock.now()
    while True:
        try:
            return decide(state, commands, now, known)
        except Missing as missing:
            known = Lookup(tx, state).more(known, missing)


def add_run(deps: Deps, tx: Transaction, batch: Batch, tail: int, run_id: str, commands: Sequence[Command]) -> None:
    """Decide for one run of the batch; an error of this run is kept for its caller and harms no other run."""
    try:
        state = deps.states.load_held(tx, run_id, tail)
        decision = decide_run(deps, tx, state, commands)
    except (Conflict, StoreUnavailable):
        raise
    except CeleriacError as error:
        batch.refused[run_id] = error
        return
    except UNREADABLE as error:
        log.exception("run_stumbled", run=run_id)
        batch.refused[run_id] = CeleriacError(
            f"run {run_id} cannot be decided for ({type(error).__name__}: {error}); nothing was changed: "
            f"`celeriac verify {run_id}` looks at its journal"
        )
        return
    batch.decisions[run_id] = decision
    if not decision.state.final and state.scheduled > _taken(commands, decision):
        batch.busy.add(run_id)
    if decision.facts:
        batch.changes.append(change_of(state.tail, decision.facts, decision.state))
        batch.called_off.extend(_called_off(state, decision))


def _taken(commands: Sequence[Command], decision: Decision) -> int:
    """How many answers counted."""
    pairs = zip(commands, decision.replies, strict=True)
    return sum(isinstance(command, AnswerAttempt) and bool(reply) for command, reply in pairs)


def store(tx: Transaction, batch: Batch) -> None:
    """Append all that was decided."""
    if batch.changes:
        tx.append(batch.changes)


def committed(deps: Deps, batch: Batch) -> None:
    """After the commit: remember the states, ring for what is owed, call off what is over."""
    for decision in batch.decisions.values():
        deps.states.put(decision.state)
    doorbells: list[Doorbell] = [doorbell(row) for change in batch.changes for row in change.owed]
    if doorbells:
        deps.dispatcher.ring(doorbells)
    if batch.called_off:
        deps.dispatcher.call_off(batch.called_off)


def apply(deps: Deps, run_ids: Collection[str], commands: Commands, beside: Beside | None = None) -> Batch:
    """Apply commands to runs, waiting for whoever holds them. Runs that do not exist are absent from the answer."""
    try:
        return _apply(deps, run_ids, commands, beside)
    except Conflict:
        whole = Batch()
    for run_id in run_ids:
        try:
            single = anew(deps, run_id, partial(_apply, deps, (run_id,), commands, beside))
        except Conflict as error:
            whole.refused[run_id] = error
        else:
            whole.decisions |= single.decisions
            whole.busy |= single.busy
            whole.refused |= single.refused
    return whole


def _apply(deps: Deps, run_ids: Collection[str], commands: Commands, beside: Beside | None) -> Batch:
    batch = Batch()
    with deps.store.transaction() as tx:
        heads = tx.lock(sorted(run_ids), wait=True)
        told = commands(tx, heads)
        for run_id, head in heads.items():
            add_run(deps, tx, batch, head.tail, run_id, told.get(run_id, ()))
        store(tx, batch)
        if beside is not None:
            beside(tx, batch)
    committed(deps, batch)
    return batch


def anew(deps: Deps, run_id: str, once: Callable[[], T]) -> T:
    """Do it again while other writers are first. Raises `Conflict` when they were `TRIES` times."""
    for _ in range(TRIES - 1):
        try:
            return once()
        except Conflict:
            deps.states.forget(run_id)
    return once()


def complain(batch: Batch) -> None:
    """Name the runs that were set aside."""
    for run_id, error in batch.refused.items():
        log.error("run_set_aside", run=run_id, error=str(error))


def _called_off(before: RunState, decision: Decision) -> list[str]:
    """Attempts that workers may hold when their run is cancelled; a join calls off only what nobody holds."""
    if decision.state.final is not RunStatus.CANCELLED:
        return []
    return [
        attempt_id(id, execution.attempt)
        for id, execution in before.executions.items()
        if execution.status is ExecutionStatus.SCHEDULED
    ]
