"""Rows that follow from facts and state: what an append stores beside the facts, and what verify computes anew."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from orchestrator.core.codec import fact_data
from orchestrator.core.effects import effects
from orchestrator.core.facts import ExecutionRef, Recorded, value_of
from orchestrator.core.ids import attempt_id
from orchestrator.core.state import Execution, RunState
from orchestrator.ports.dispatch import Doorbell
from orchestrator.ports.records import AttemptRow, AttemptState, Change, RunRow, StoredFact, TimerRow, WaitRow

#: After so long beat rings again for an attempt that nobody claimed; the gap doubles each time.
FIRST_RING_GAP = timedelta(seconds=5)


def change_of(before: int, facts: Sequence[Recorded], after: RunState) -> Change:
    """Everything that one append owes, for facts that follow number `before`."""
    owes = effects(facts, after)
    now = after.updated_at
    return Change(
        run=run_row(after),
        expected_tail=before,
        facts=tuple(map(stored, facts)),
        owed=tuple(attempt_row(after, ref, number, now) for ref, number in owes.owed.values()),
        ended=tuple(sorted(owes.ended)),
        timers=tuple(TimerRow(after.run_id, id, due) for id, due in owes.timers.items() if due is not None),
        cleared=tuple(id for id, due in owes.timers.items() if due is None),
        waits=tuple(wait_row(after, after.executions[ref.id]) for ref in owes.waits.values()),
        swept=owes.swept,
    )


def stored(recorded: Recorded) -> StoredFact:
    """A fact as it is kept."""
    fact = recorded.fact
    return StoredFact(recorded.number, type(fact).__name__, recorded.at, fact_data(fact), value_of(fact), recorded.size)


def run_row(state: RunState) -> RunRow:
    """What lists show of a run."""
    trigger = state.trigger
    return RunRow(
        run_id=state.run_id,
        scope=state.scope,
        workflow=state.definition.workflow,
        version=state.definition.version,
        key=state.key,
        trigger_kind=trigger.kind,
        subject_kind=trigger.subject_kind,
        subject_id=trigger.subject_id,
        correlation=trigger.correlation,
        status=state.status,
        tail=state.tail,
        started_at=state.started_at,
        updated_at=state.updated_at,
        ended_at=state.ended_at,
    )


def attempt_row(state: RunState, ref: ExecutionRef, number: int, now: datetime) -> AttemptRow:
    """An attempt as it stands in the outbox."""
    node = state.definition.graph.node[ref.node]
    return AttemptRow(
        attempt_id=attempt_id(ref.id, number),
        run_id=state.run_id,
        scope=state.scope,
        execution_id=ref.id,
        node=ref.node,
        number=number,
        capability=str(node.capability),
        timeout=node.policy.attempt_timeout,
        state=AttemptState.OWED,
        owed_at=now,
        # Above every fence that an earlier row of this attempt can have had, so that no old claim fits the new row.
        fence=state.tail << 20,
        due_at=now + FIRST_RING_GAP,
    )


def wait_row(state: RunState, execution: Execution) -> WaitRow:
    """The wait of an execution as it stands: open, or as it was closed last."""
    closing = execution.closing
    wait = execution.wait or (closing.wait if closing else None)
    assert wait is not None, "only an execution that opened a wait has a row"
    open_ = execution.wait is not None
    contract, _, version = (wait.signal or "").rpartition("@")
    branch = execution.ref.branch
    return WaitRow(
        wait_id=wait.id,
        run_id=state.run_id,
        scope=state.scope,
        workflow=state.definition.workflow,
        execution_id=execution.ref.id,
        node=execution.ref.node,
        branch_key=branch[-1].key if branch else None,
        kind=wait.kind,
        opened_at=wait.opened_at,
        signal_id=contract or None,
        signal_version=int(version) if version else None,
        key=wait.key,
        deadline=wait.deadline,
        status="open" if open_ else "closed" if closing and closing.outlet else "withdrawn",
        outlet=None if open_ or closing is None else closing.outlet,
        actor=None if open_ or closing is None else closing.actor,
        closed_at=None if open_ or closing is None else closing.at,
    )


def doorbell(row: AttemptRow) -> Doorbell:
    """How a worker is told of an attempt."""
    return Doorbell(row.attempt_id, row.run_id, row.capability, row.timeout)


def due_now(execution: Execution, now: datetime) -> bool:
    """Whether this execution's timer has come."""
    due = execution.wait.deadline if execution.wait else execution.retry_due
    return due is not None and due <= now
