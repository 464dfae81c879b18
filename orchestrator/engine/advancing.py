"""One transaction over one or several runs: hold them, fold them, decide, append; then ring."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from orchestrator.core.data import JsonText
from orchestrator.core.decide.commands import Command
from orchestrator.core.decide.decision import Decision, decide
from orchestrator.core.decide.draft import Known, Missing
from orchestrator.core.ids import attempt_id
from orchestrator.core.state import ExecutionStatus, RunState, RunStatus
from orchestrator.engine.deps import Deps
from orchestrator.engine.loading import Lookup
from orchestrator.engine.rows import change_of, doorbell
from orchestrator.errors import CeleriacError, Conflict, StoreUnavailable
from orchestrator.ports.dispatch import Doorbell
from orchestrator.ports.records import Change
from orchestrator.ports.store import Transaction

#: How often a decision is made anew when another writer was first.
TRIES = 20


@dataclass(slots=True)
class Batch:
    """What one transaction decided, to be acted on once it is committed."""

    changes: list[Change] = field(default_factory=list)
    decisions: dict[str, Decision] = field(default_factory=dict)
    #: Runs whose decision raised; nothing of them is stored.
    refused: dict[str, Exception] = field(default_factory=dict)
    #: Attempts that workers may still hold and that are over.
    called_off: list[str] = field(default_factory=list)


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
        state = deps.states.load(tx, run_id, tail)
        decision = decide_run(deps, tx, state, commands)
    except (Conflict, StoreUnavailable):
        raise
    except CeleriacError as error:
        batch.refused[run_id] = error
        return
    batch.decisions[run_id] = decision
    if decision.facts:
        batch.changes.append(change_of(state.tail, decision.facts, decision.state))
        batch.called_off.extend(_called_off(state, decision))


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


def apply(deps: Deps, commands: Mapping[str, Sequence[Command]]) -> Batch:
    """Apply commands to runs, waiting for whoever holds them. Runs that do not exist are absent from the answer.

    Raises `Conflict` when other writers were first `TRIES` times.
    """
    for attempt in range(TRIES):
        batch = Batch()
        try:
            with deps.store.transaction() as tx:
                heads = tx.lock(sorted(commands), wait=True)
                for run_id, head in heads.items():
                    add_run(deps, tx, batch, head.tail, run_id, commands[run_id])
                store(tx, batch)
        except Conflict:
            if attempt == TRIES - 1:
                raise
            for run_id in commands:
                deps.states.forget(run_id)
            continue
        committed(deps, batch)
        return batch
    raise AssertionError("unreachable")


def _called_off(before: RunState, decision: Decision) -> list[str]:
    """Attempts that workers may hold when their run is cancelled; a join calls off only what nobody holds."""
    if decision.state.final is not RunStatus.CANCELLED:
        return []
    return [
        attempt_id(id, execution.attempt)
        for id, execution in before.executions.items()
        if execution.status is ExecutionStatus.SCHEDULED
    ]
