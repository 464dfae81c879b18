"""Records to rows and back: a record's fields are the columns of its table."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import fields
from typing import Any, TypeVar

from sqlalchemy import RowMapping

from orchestrator.core.codec import receipt_document, receipt_from
from orchestrator.core.data import JsonText, compact
from orchestrator.core.outcomes import Receipt
from orchestrator.ports.records import AttemptRow, AttemptState, DefinitionRow, RunRow, StoredFact, TimerRow, WaitRow

R = TypeVar("R")


#: The columns of each record's table.
_NAMES: dict[type[Any], tuple[str, ...]] = {
    kind: tuple(field.name for field in fields(kind))
    for kind in (AttemptRow, DefinitionRow, RunRow, StoredFact, TimerRow, WaitRow)
}


def values_of(record: Any) -> dict[str, Any]:
    """A record as the values of its row."""
    return {name: getattr(record, name) for name in _NAMES[type(record)]}


def attempt_values(row: AttemptRow) -> dict[str, Any]:
    """An attempt as the values of its row; the answer's output stands in a column of its own, byte for byte."""
    return {**values_of(row), "state": row.state.value, **receipt_values(row.receipt)}


def receipt_values(receipt: Receipt | None) -> dict[str, Any]:
    """The two columns of an answer."""
    if receipt is None:
        return {"receipt": None, "output": None}
    return {"receipt": compact(receipt_document(receipt)), "output": receipt.output}


def record(kind: type[R], row: RowMapping) -> R:
    """The record of a row."""
    return kind(**{name: row[name] for name in _NAMES[kind]})


def records(kind: type[R], rows: Iterable[RowMapping]) -> list[R]:
    """The records of rows."""
    return [record(kind, row) for row in rows]


def attempt_from(row: RowMapping) -> AttemptRow:
    """The attempt of a row."""
    told = dict(row)
    output = told.pop("output")
    told["state"] = AttemptState(told["state"])
    if told["receipt"] is not None:
        told["receipt"] = receipt_from(json.loads(told["receipt"]), None if output is None else JsonText(output))
    return AttemptRow(**told)
