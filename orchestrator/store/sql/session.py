"""One transaction on one connection: how the tables read and write, and what happens once something has failed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from sqlalchemy import Connection, CursorResult, Executable, Row

from orchestrator.errors import Conflict
from orchestrator.store.sql.batches import Batch

Parameters: TypeAlias = Mapping[str, Any] | None
Found: TypeAlias = Sequence[Row[*tuple[Any, ...]]]


class Session:
    """What the tables of a transaction share. After a failure nothing of it is stored, whoever swallowed the error."""

    def __init__(self, connection: Connection, *, writable: bool) -> None:
        self._connection = connection
        self._dialect = connection.dialect.name
        self._writable = writable
        self.failed = False

    def read(self, statement: Executable, told: Parameters = None) -> Found:
        """What a query finds."""
        return self._run(statement, told).all()

    def first(self, statement: Executable, told: Parameters = None) -> Row[*tuple[Any, ...]] | None:
        """The first row that a query finds."""
        return self._run(statement, told).first()

    def hold(self, statement: Executable, told: Parameters = None) -> Found:
        """The rows that a statement holds until the transaction ends, or has changed."""
        self._may_write()
        return self._run(statement, told).all()

    def write(self, statement: Executable, told: Parameters | Sequence[Mapping[str, Any]] = None) -> int:
        """Change rows; how many an update or a delete has changed."""
        self._may_write()
        return self._run(statement, told).rowcount

    def insert(self, rows: Batch, values: Sequence[Mapping[str, Any]]) -> None:
        """Insert rows, if there are any."""
        if values:
            self.write(*rows.statement(self._dialect, values))

    def conflict(self, message: str) -> Conflict:
        """What to raise when another writer was first; the transaction is of no further use."""
        self.failed = True
        return Conflict(message)

    def _may_write(self) -> None:
        if not self._writable:
            raise RuntimeError("reading() is read only: use transaction() to write and to hold rows")

    def _run(self, statement: Executable, parameters: Any) -> CursorResult[*tuple[Any, ...]]:
        if self.failed:
            raise Conflict("this transaction has failed already and nothing of it is stored: begin a new one")
        try:
            return self._connection.execute(statement, parameters)
        except BaseException:
            self.failed = True
            raise
