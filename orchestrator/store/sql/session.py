"""One transaction on one connection: how the tables read and write, and what happens once something has failed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, CursorResult, Executable

from orchestrator.errors import CeleriacError, Conflict
from orchestrator.store.sql.batches import Rows


class Session:
    """What the tables of a transaction share. After a failure nothing of it is stored, whoever swallowed the error."""

    def __init__(self, connection: Connection, *, writable: bool) -> None:
        self._connection = connection
        self._dialect = connection.dialect.name
        self._writable = writable
        self.failed = False

    def read(
        self, statement: Executable, parameters: Mapping[str, Any] | None = None
    ) -> CursorResult[*tuple[Any, ...]]:
        """Run a query."""
        return self._run(statement, parameters)

    def write(
        self, statement: Executable, parameters: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None
    ) -> CursorResult[*tuple[Any, ...]]:
        """Run a statement that changes or holds rows."""
        if not self._writable:
            raise RuntimeError("reading() is read only: use transaction() to write and to hold rows")
        return self._run(statement, parameters)

    def insert(self, rows: Rows, values: Sequence[Mapping[str, Any]]) -> None:
        """Insert rows, if there are any."""
        if values:
            self.write(*rows.statement(self._dialect, values))

    def conflict(self, message: str) -> Conflict:
        """What to raise when another writer was first; the transaction is of no further use."""
        self.failed = True
        return Conflict(message)

    def _run(self, statement: Executable, parameters: Any) -> CursorResult[*tuple[Any, ...]]:
        if self.failed:
            raise Conflict("this transaction has failed already and nothing of it is stored: begin a new one")
        try:
            return self._connection.execute(statement, parameters)
        except CeleriacError:
            self.failed = True
            raise
