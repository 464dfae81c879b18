"""Records to rows and back. Columns stand in the order of their record's fields; instants are microseconds."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from orchestrator.core.codec import receipt_document, receipt_from
from orchestrator.core.data import JsonText, compact
from orchestrator.core.outcomes import Receipt
from orchestrator.core.state import RunStatus
from orchestrator.ports.records import (
    AttemptRow,
    AttemptState,
    DefinitionRow,
    Head,
    RunRow,
    StoredFact,
    TimerRow,
    WaitRow,
)
from orchestrator.store.sql.instants import duration, instant, length, micros

_FINAL = frozenset(str(status) for status in RunStatus if status.final)

Values = dict[str, Any]


# --- definitions ------------------------------------------------------------------------------------------------------


def definition_values(row: DefinitionRow) -> Values:
    """A definition as the values of its row."""
    return {
        "scope": row.scope,
        "workflow": row.workflow,
        "version": row.version,
        "digest": row.digest,
        "document": row.document,
        "active": row.active,
        "published_at": micros(row.published_at),
    }


def definition_from(row: Sequence[Any]) -> DefinitionRow:
    """The definition of a row."""
    values = list(row)
    values[6] = instant(values[6])
    return DefinitionRow(*values)


# --- runs and facts ---------------------------------------------------------------------------------------------------


def run_values(row: RunRow) -> Values:
    """A run as the values of its row."""
    return {
        "run_id": row.run_id,
        "scope": row.scope,
        "workflow": row.workflow,
        "version": row.version,
        "key": row.key,
        "trigger_kind": row.trigger_kind,
        "subject_kind": row.subject_kind,
        "subject_id": row.subject_id,
        "correlation": row.correlation,
        "status": str(row.status),
        "tail": row.tail,
        "started_at": micros(row.started_at),
        "updated_at": micros(row.updated_at),
        "ended_at": micros(row.ended_at),
    }


def run_from(row: Sequence[Any]) -> RunRow:
    """The run of a row."""
    values = list(row)
    values[11:] = map(instant, values[11:])
    return RunRow(*values)


def head_from(row: Sequence[Any]) -> Head:
    """The head of a row (run, scope, tail, status)."""
    run_id, scope, tail, status = row
    return Head(run_id, scope, tail, status in _FINAL)


def fact_values(run_id: str, fact: StoredFact) -> Values:
    """A fact as the values of its row."""
    return {
        "run_id": run_id,
        "number": fact.number,
        "type": fact.type,
        "at": micros(fact.at),
        "data": fact.data,
        "value": fact.value,
        "size": fact.size,
    }


def fact_from(row: Sequence[Any]) -> StoredFact:
    """The fact of a row (its run left out)."""
    number, type_, at, data, value, size = row
    return StoredFact(number, type_, instant(at), data, value, size)


# --- attempts and timers ----------------------------------------------------------------------------------------------


def attempt_values(row: AttemptRow) -> Values:
    """An attempt as the values of its row."""
    return {
        "attempt_id": row.attempt_id,
        "run_id": row.run_id,
        "scope": row.scope,
        "execution_id": row.execution_id,
        "node": row.node,
        "number": row.number,
        "capability": row.capability,
        "timeout": length(row.timeout),
        "state": row.state.value,
        "owed_at": micros(row.owed_at),
        "due_at": micros(row.due_at),
        "fence": row.fence,
        "rings": row.rings,
        "losses": row.losses,
        "worker": row.worker,
        "effect": row.effect,
        "claimed_at": micros(row.claimed_at),
        "deadline": micros(row.deadline),
        "lease_until": micros(row.lease_until),
        **receipt_values(row.receipt),
        "answered_at": micros(row.answered_at),
    }


def attempt_from(row: Sequence[Any]) -> AttemptRow:
    """The attempt of a row."""
    values = list(row)
    receipt, output = values[19:21]
    values[19:21] = [
        None if receipt is None else receipt_from(json.loads(receipt), None if output is None else JsonText(output))
    ]
    values[7] = duration(values[7])
    values[8] = AttemptState(values[8])
    for place in (9, 10, 16, 17, 18, 20):
        values[place] = instant(values[place])
    return AttemptRow(*values)


def receipt_values(receipt: Receipt | None) -> Values:
    """The two columns of an answer; its output stands in one of its own, byte for byte."""
    if receipt is None:
        return {"receipt": None, "output": None}
    return {"receipt": compact(receipt_document(receipt)), "output": receipt.output}


def timer_values(row: TimerRow) -> Values:
    """A timer as the values of its row."""
    return {
        "run_id": row.run_id,
        "execution_id": row.execution_id,
        "due_at": micros(row.due_at),
        "parked": row.parked,
    }


def timer_from(row: Sequence[Any]) -> TimerRow:
    """The timer of a row."""
    run_id, execution_id, due_at, parked = row
    return TimerRow(run_id, execution_id, instant(due_at), parked)


# --- waits ------------------------------------------------------------------------------------------------------------


def wait_values(row: WaitRow) -> Values:
    """A wait as the values of its row."""
    return {
        "wait_id": row.wait_id,
        "run_id": row.run_id,
        "scope": row.scope,
        "workflow": row.workflow,
        "execution_id": row.execution_id,
        "node": row.node,
        "branch_key": row.branch_key,
        "kind": row.kind,
        "opened_at": micros(row.opened_at),
        "signal_id": row.signal_id,
        "signal_version": row.signal_version,
        "key": row.key,
        "deadline": micros(row.deadline),
        "status": row.status,
        "outlet": row.outlet,
        "actor": row.actor,
        "closed_at": micros(row.closed_at),
    }


def wait_from(row: Sequence[Any]) -> WaitRow:
    """The wait of a row."""
    values = list(row)
    for place in (8, 12, 16):
        values[place] = instant(values[place])
    return WaitRow(*values)
