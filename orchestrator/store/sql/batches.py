"""Many values in one statement, whose text is the same however many there are: compiled once, prepared once.

`among` is ``column IN (…)`` over a list of any length; `Batch` is an insert of any number of rows. On PostgreSQL both
travel as one JSON parameter, which costs the client a third of arrays or of a statement a row and knows no limit of
65,535 parameters. SQLite has no round trips to save: rows go one by one there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import orjson
from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    ColumnElement,
    Insert,
    Integer,
    Select,
    Table,
    Text,
    bindparam,
    cast,
    column,
    func,
    insert,
    select,
)
from sqlalchemy.dialects.postgresql import JSON
from sqlalchemy.dialects.postgresql import insert as postgresql_insert
from sqlalchemy.dialects.sqlite import insert as sqlite_insert
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement
from sqlalchemy.types import TypeEngine


class _Among(FunctionElement[bool]):
    name = "among"
    inherit_cache = True


@compiles(_Among, "postgresql")
def _among_array(element: _Among, compiler: SQLCompiler, **options: Any) -> str:
    wanted, told = (compiler.process(clause, **options) for clause in element.clauses)
    value = "CAST(told.value AS BIGINT)" if _is_number(element) else "told.value"
    told = f"json_array_elements_text(CAST({told} AS JSON))"
    return f"{wanted} = ANY (ARRAY(SELECT {value} FROM {told} AS told(value)))"  # noqa: S608


@compiles(_Among, "sqlite")
def _among_list(element: _Among, compiler: SQLCompiler, **options: Any) -> str:
    wanted, told = (compiler.process(clause, **options) for clause in element.clauses)
    return f"{wanted} IN (SELECT told.value FROM json_each({told}) AS told)"  # noqa: S608


def _is_number(element: _Among) -> bool:
    return isinstance(next(iter(element.clauses)).type, Integer)


def among(wanted: Column[Any], name: str) -> ColumnElement[bool]:
    """Whether the column is one of the values that the parameter `name` lists (see `listed`)."""
    return _Among(wanted, bindparam(name, type_=Text()))


def listed(values: Iterable[str | int]) -> str:
    """The parameter of `among`."""
    return orjson.dumps([*values]).decode()


class Batch:
    """An insert of many rows, in their order; with `replacing`, a row takes the place of the one with its key."""

    def __init__(self, table: Table, *, replacing: bool = False) -> None:
        self._one_by_one: Insert = _replacing(sqlite_insert(table), table) if replacing else insert(table)
        self._parameter = f"{table.name}_"
        at_once: Insert = postgresql_insert(table).from_select(table.c.keys(), _told(table, self._parameter))
        #: The statement for PostgreSQL, whose one parameter is `told`.
        self.at_once = _replacing(at_once, table) if replacing else at_once

    def told(self, rows: Sequence[Mapping[str, Any]]) -> dict[str, str]:
        """The rows as the parameter of `at_once`."""
        return {self._parameter: orjson.dumps(rows).decode()}

    def statement(self, dialect: str, rows: Sequence[Mapping[str, Any]]) -> tuple[Insert, Any]:
        """The statement for this dialect, with its parameters."""
        return (self.at_once, self.told(rows)) if dialect == "postgresql" else (self._one_by_one, rows)


def _told(table: Table, parameter: str) -> Select[Any]:
    """The rows that the one parameter tells, as a table."""
    kinds: dict[str, TypeEngine[Any]] = {
        each.name: BigInteger()
        if isinstance(each.type, Integer)
        else Boolean()
        if isinstance(each.type, Boolean)
        else Text()
        for each in table.c
    }
    recordset = func.json_to_recordset(cast(bindparam(parameter, type_=Text()), JSON))
    told = recordset.table_valued(*(column(name, kind) for name, kind in kinds.items()), name="told")
    return select(told.render_derived(with_types=True))


def _replacing(statement: Any, table: Table) -> Any:
    key = [*table.primary_key.columns]
    return statement.on_conflict_do_update(
        index_elements=key, set_={each.name: statement.excluded[each.name] for each in table.c if each not in key}
    )
