"""The SQL store and its transactions."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext

from sqlalchemy import Connection, Engine, StaticPool

from orchestrator.store.sql.attempts import Attempts
from orchestrator.store.sql.connecting import engine_for, forget_inherited, translated
from orchestrator.store.sql.definitions import Definitions
from orchestrator.store.sql.journal import Journal
from orchestrator.store.sql.read_models import ReadModels
from orchestrator.store.sql.timers import Timers


class SqlTransaction(Definitions, Journal, Attempts, Timers, ReadModels):
    """`ports.store.Transaction` on one connection."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.row_locks = connection.dialect.name == "postgresql"


class SqlStore:
    """`ports.store.Store` on a database; thread-safe."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        # An SQLite database in memory is one connection, which threads must take in turn.
        self._turn = threading.RLock() if isinstance(engine.pool, StaticPool) else nullcontext()

    @contextmanager
    def transaction(self) -> Iterator[SqlTransaction]:
        """Read and write; see the port."""
        with self._turn, translated(self.engine), self.engine.begin() as connection:
            yield SqlTransaction(connection)

    @contextmanager
    def reading(self) -> Iterator[SqlTransaction]:
        """One consistent view; see the port."""
        options = (
            {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}
            if self.engine.dialect.name == "postgresql"
            else {"reads_only": True}
        )
        with (
            self._turn,
            translated(self.engine),
            self.engine.connect().execution_options(**options) as connection,
            connection.begin(),
        ):
            yield SqlTransaction(connection)

    def close(self) -> None:
        """Give up every connection."""
        self.engine.dispose()

    def forget_inherited_connections(self) -> None:
        """For a forked child, which must never touch the parent's connections."""
        forget_inherited(self.engine)


def open_sql_store(url: str, *, pool_size: int = 5) -> SqlStore:
    """A store on this URL. Raises `BadSettings` for a URL that cannot be one; connects at the first transaction."""
    return SqlStore(engine_for(url, pool_size=pool_size))
