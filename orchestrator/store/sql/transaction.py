"""The SQL store and its transactions."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from datetime import timedelta

from sqlalchemy import Connection, Engine, text
from sqlalchemy.exc import TimeoutError as NoneFree

from orchestrator.errors import CommitUnknown, Conflict, StoreUnavailable
from orchestrator.store.sql.appending import Appending
from orchestrator.store.sql.attempts import Attempts
from orchestrator.store.sql.connecting import PATIENCE, REST, Terms, engine_for, in_memory
from orchestrator.store.sql.definitions import Definitions
from orchestrator.store.sql.failures import shown, unavailable
from orchestrator.store.sql.inheriting import forget_inherited
from orchestrator.store.sql.journal import Journal
from orchestrator.store.sql.read_models import ReadModels
from orchestrator.store.sql.schema import REVISION, metadata
from orchestrator.store.sql.timers import Timers
from orchestrator.store.turns import Turns


class SqlTransaction(Definitions, Journal, Appending, Attempts, Timers, ReadModels):
    """`ports.store.Transaction` on one connection."""


class SqlStore:
    """`ports.store.Store` on a database; thread-safe."""

    def __init__(self, engine: Engine, *, patience: timedelta = PATIENCE) -> None:
        self.engine = engine
        self._patience = patience
        sqlite = engine.dialect.name == "sqlite"
        self._reader = engine.execution_options(
            **({"reads_only": True} if sqlite else {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True})
        )
        self._take_turns()

    def _take_turns(self) -> None:
        # SQLite has one writer at a time; threads of one process wait here, which is quicker than asking it again and
        # again. In memory it is one connection for readers too.
        sqlite = self.engine.dialect.name == "sqlite"
        self._turns = Turns(one_at_a_time=sqlite, patience=self._patience)
        self._reads_in_turn = in_memory(self.engine)

    @contextmanager
    def transaction(self) -> Iterator[SqlTransaction]:
        """Read and write; see the port. Raises `CommitUnknown` when the connection was lost during the commit."""
        with self._turns.taken(), self._connected(self.engine) as connection:
            connection.begin()
            transaction = SqlTransaction(connection, writable=True)
            yield transaction
            if transaction.failed:
                raise Conflict("a statement of this transaction failed, so nothing of it was stored: begin a new one")
            try:
                connection.commit()
            except StoreUnavailable as lost:
                raise CommitUnknown(
                    f"the connection to {shown(self.engine.url)} was lost during a commit ({lost.message}); what it "
                    "stored is stored whole or not at all: load the run and look"
                ) from lost

    @contextmanager
    def reading(self) -> Iterator[SqlTransaction]:
        """One consistent view; see the port."""
        turn: AbstractContextManager[None] = self._turns.taken() if self._reads_in_turn else nullcontext()
        with turn, self._connected(self._reader) as connection:
            connection.begin()
            yield SqlTransaction(connection, writable=False)

    @contextmanager
    def _connected(self, engine: Engine) -> Iterator[Connection]:
        """A connection of the pool; what is not committed when it is given back is rolled back."""
        try:
            connection = engine.connect()
        except NoneFree as error:
            raise unavailable(engine.url, error) from error
        try:
            yield connection
        finally:
            # A rollback that cannot reach the server any more is done by the server.
            with suppress(StoreUnavailable):
                connection.close()

    def close(self) -> None:
        """Give up every connection."""
        self.engine.dispose()

    def forget_inherited_connections(self) -> None:
        """For a forked child, which must never touch the parent's connections; nothing in any other process."""
        forget_inherited(self.engine)
        self._take_turns()


def open_sql_store(
    url: str, *, pool_size: int = 5, echo: bool = False, patience: timedelta = PATIENCE, rest: timedelta = REST
) -> SqlStore:
    """A store on this URL. Raises `BadSettings` for a URL that cannot be one; connects at the first transaction.

    A database in memory has its schema from the start, since nobody else could ever reach it to upgrade it.
    """
    engine = engine_for(url, Terms(pool_size, echo, patience, rest))
    if in_memory(engine):
        with engine.begin() as connection:
            metadata.create_all(connection)
            connection.execute(text("CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL PRIMARY KEY)"))
            connection.execute(text("INSERT INTO alembic_version VALUES (:revision)"), {"revision": REVISION})
    return SqlStore(engine, patience=patience)
