"""A run's journal as people and programs look at it: each fact with the user's JSON where it belongs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from orchestrator.core.codec import fact_document
from orchestrator.core.data import load
from orchestrator.core.facts import (
    Recorded,
    WorkflowBranchesFannedOut,
    WorkflowBranchesJoined,
    WorkflowNodeOperationCompleted,
    WorkflowNodeReconciled,
    WorkflowNodeSucceeded,
    WorkflowRunAdmitted,
    WorkflowWaitResolved,
    value_of,
)
from orchestrator.core.instants import format_instant


@dataclass(frozen=True, slots=True)
class JournalEntry:
    """One fact as the API shows it."""

    number: int
    type: str
    at: datetime
    data: dict[str, Any]

    def document(self) -> dict[str, Any]:
        """On the wire."""
        return {"number": self.number, "type": self.type, "at": format_instant(self.at), "data": self.data}


def entries(facts: Iterable[Recorded]) -> Iterator[JournalEntry]:
    """All facts of a run from the first, complete with their values; a success shows the output it refers to."""
    values: dict[int, Any] = {}
    for recorded in facts:
        text = value_of(recorded.fact)
        if text is not None:
            values[recorded.number] = load(text)
        data = fact_document(recorded.fact)
        _put(recorded, data, values)
        yield JournalEntry(recorded.number, type(recorded.fact).__name__, recorded.at, data)


def _put(recorded: Recorded, data: dict[str, Any], values: dict[int, Any]) -> None:
    """Put the user's JSON where readers look for it."""
    value = values.get(recorded.number)
    match recorded.fact:
        case WorkflowRunAdmitted():
            data["trigger"]["payload"] = value
        case WorkflowNodeSucceeded(output_at=number):
            data["output"] = {} if number is None else values.get(number, {})
        case WorkflowNodeOperationCompleted(outcome=outcome) | WorkflowNodeReconciled(outcome=outcome):
            if outcome.status == "succeeded":
                data["outcome"]["output"] = value
        case WorkflowBranchesFannedOut():
            data["items"] = value
        case WorkflowBranchesJoined():
            data["output"] = value
        case WorkflowWaitResolved(outcome=outcome):
            if outcome is None:
                data["output"] = values.get(recorded.number, {})
            elif outcome.status == "succeeded":
                data["outcome"]["output"] = value
        case _:
            pass
