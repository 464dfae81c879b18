"""Rows to store: valid ones in which a test names only what it is about."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from orchestrator.core.data import JsonText
from orchestrator.ports.records import (
    AttemptRow,
    AttemptState,
    Change,
    DefinitionRow,
    RunRow,
    StoredFact,
    TimerRow,
    WaitRow,
)

NOW = datetime(2026, 12, 1, 8, 30, 0, 123_457, tzinfo=UTC)
SECOND = timedelta(seconds=1)


def at(seconds: float) -> datetime:
    """An instant so long after `NOW`."""
    return NOW + timedelta(seconds=seconds)


def definition(workflow: str = "orders", version: int = 1, **other: Any) -> DefinitionRow:
    """A published version that is not active."""
    row = DefinitionRow("default", workflow, version, f"digest-{version}", JsonText("{}"), False, NOW)
    return replace(row, **other)


def run(run_id: str = "run-1", tail: int = 1, **other: Any) -> RunRow:
    """A run that is under way."""
    row = RunRow(run_id, "default", "orders", 1, run_id, "manual", None, None, None, "Running", tail, NOW, NOW)
    return replace(row, **other)


def fact(number: int, value: str | None = None, **other: Any) -> StoredFact:
    """A fact, with the user's JSON it brings in."""
    size = len(value.encode()) if value is not None else 0
    row = StoredFact(number, "WorkflowNodeScheduled", NOW, JsonText('{"attempt":1}'), None, size)
    return replace(row, value=None if value is None else JsonText(value), **other)


def attempt(attempt_id: str = "e1.1", run_id: str = "run-1", **other: Any) -> AttemptRow:
    """An attempt in the outbox, due for a second ring in five seconds."""
    row = AttemptRow(
        attempt_id,
        run_id,
        "default",
        attempt_id.partition(".")[0],
        "ship",
        1,
        "orders.ship@1",
        timedelta(minutes=10),
        AttemptState.OWED,
        NOW,
        at(5),
    )
    return replace(row, **other)


def timer(execution_id: str = "e1", run_id: str = "run-1", **other: Any) -> TimerRow:
    """A timer that is due in ten seconds."""
    return replace(TimerRow(run_id, execution_id, at(10)), **other)


def wait(wait_id: str = "w1", run_id: str = "run-1", **other: Any) -> WaitRow:
    """An open approval."""
    row = WaitRow(wait_id, run_id, "default", "orders", f"execution-of-{wait_id}", "review", None, "approval", NOW)
    return replace(row, **other)


def change(run_id: str = "run-1", *, after: int = 0, count: int = 1, **other: Any) -> Change:
    """An append of `count` facts after number `after`; `row` names fields of the run."""
    row = other.pop("row", {})
    numbers = range(after + 1, after + count + 1)
    return Change(run(run_id, after + count, **row), after, tuple(map(fact, numbers)), **other)
