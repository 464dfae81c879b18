"""Many values in one statement, whose text is the same however many there are: it is compiled, cached and prepared once.

`among` is ``column IN (…)`` over a list of any length; `Rows` is an insert of any number of rows. On PostgreSQL both
travel as one JSON parameter, measured at a third of the client's work of arrays or of a statement a row, and without the
limit of 65,535 parameters. SQLite has no round trips to save: rows go one by one there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import orjson
from sqlalchemy import (
    BigInteger,
    Column,
    ColumnElement,
    Insert,
    Integer,
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

#: The name of the one parameter that the rows of a PostgreSQL insert travel in.
_ROWS = "rows_"


class _Among(FunctionElement[bool]):
    name = "among"
    inherit_cache = True


@compiles(_Among, "postgresql")
def _among_array(element: _Among, compiler: SQLCompiler, **options: Any) -> str:
    wanted, told = (compiler.process(clause, **options) for clause in element.clauses)
    value = "CAST(told.value AS BIGINT)" if _is_number(element) else "told.value"
    return f"{wanted} = ANY (ARRAY(SELECT {value} FROM json_array_elements_text(CAST({told} AS JSON)) AS told(value)))"


@compiles(_Among, "sqlite")
def _among_list(element: _Among, compiler: SQLCompiler, **options: Any) -> str:
    wanted, told = (compiler.process(clause, **options) for clause in element.clauses)
    return f"{wanted} IN (SELECT told.value FROM json_each({told}) AS told)"


def _is_number(element: _Among) -> bool:
    return isinstance(next(iter(element.clauses)).type, Integer)


def among(wanted: Column[Any], name: str) -> ColumnElement[bool]:
    """Whether the column is one of the values that the parameter `name` lists (see `listed`)."""
    return _Among(wanted, bindparam(name, type_=Text()))


def listed(values: Iterable[str | int]) -> str:
    """The parameter of `among`."""
    return orjson.dumps([*values]).decode()


class Rows:
    """An insert of many rows into a table; with `replacing`, a row whose primary key is there takes its place."""

    def __init__(self, table: Table, *, replacing: bool = False, order: Sequence[ColumnElement[Any]] = ()) -> None:
        self.table = table
        self._one_by_one: Insert = insert(table)
        self._at_once: Insert = insert(table)
        if replacing:
            self._one_by_one = _replacing(sqlite_insert(table), table)
        self._at_once = _from_json(table, order)
        if replacing:
            self._at_once = _replacing(self._at_once, table)

    def statement(self, dialect: str, rows: Sequence[Mapping[str, Any]]) -> tuple[Insert, Any]:
        """The statement for this dialect, with its parameters."""
        if dialect == "postgresql":
            return self._at_once, {_ROWS: orjson.dumps(rows).decode()}
        return self._one_by_one, rows


def _from_json(table: Table, order: Sequence[ColumnElement[Any]]) -> Any:
    told = func.json_to_recordset(cast(bindparam(_ROWS, type_=Text()), JSON)).table_valued(
        *(column(each.name, BigInteger() if isinstance(each.type, Integer) else each.type) for each in table.c),
        name="told",
    )
    source = select(*told.c).select_from(told.render_derived(with_types=True)).order_by(*order)
    return postgresql_insert(table).from_select(table.c.keys(), source)


def _replacing(statement: Any, table: Table) -> Any:
    key = [*table.primary_key.columns]
    return statement.on_conflict_do_update(
        index_elements=key, set_={each.name: statement.excluded[each.name] for each in table.c if each not in key}
    )
