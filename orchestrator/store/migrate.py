"""Migrations: the schema is made and changed by Alembic's steps only, which ship inside the package."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, text

from orchestrator.errors import SchemaOutdated
from orchestrator.ports.store import Store
from orchestrator.store.sql.failures import shown
from orchestrator.store.sql.schema import REVISION
from orchestrator.store.sql.transaction import SqlStore, open_sql_store

#: Two processes that upgrade PostgreSQL at once take turns by this advisory lock ("celeriac" as a number).
_LOCK = 0x63656C65726961


def configuration(connection: Connection | None = None) -> Config:
    """Alembic's configuration, which needs no file."""
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "sql" / "migrations").replace("%", "%%"))
    config.attributes["connection"] = connection
    return config


def head() -> str:
    """The revision this release needs."""
    return REVISION


def upgrade(url: str) -> tuple[str | None, str]:
    """Bring a database to this release's schema: the revision before and after. Safe to call by several at once.

    Raises `SchemaOutdated` for a database that a newer release has upgraded already; nothing is changed then.
    """
    with _opened(url) as store:
        return upgrade_store(store)


def upgrade_store(store: SqlStore) -> tuple[str | None, str]:
    """As `upgrade`, on an open store."""
    with store.engine.begin() as connection:
        if connection.dialect.name == "postgresql":
            # Waiting for another process and rebuilding a large table may take longer than a step of a run may.
            connection.execute(text("SET LOCAL lock_timeout = 0"))
            connection.execute(text("SET LOCAL statement_timeout = 0"))
            connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})
        before = MigrationContext.configure(connection).get_current_revision()
        if before != REVISION:
            _refuse_newer(store, before)
            command.upgrade(configuration(connection), "head")
    return before, REVISION


def _refuse_newer(store: SqlStore, revision: str | None) -> None:
    known = {step.revision for step in ScriptDirectory.from_config(configuration()).walk_revisions()}
    if revision is not None and revision not in known:
        raise SchemaOutdated(
            f"the database {shown(store.engine.url)} is at revision {revision}, which this release does not know: "
            "a newer release has upgraded it; upgrade this process"
        )


def current(url: str) -> str | None:
    """The revision a database is at; None: it has no schema yet."""
    with _opened(url) as store:
        return _current(store)


def _current(store: SqlStore) -> str | None:
    with store.engine.execution_options(reads_only=True).connect() as connection:
        return MigrationContext.configure(connection).get_current_revision()


def check(store: Store) -> None:
    """Raises `SchemaOutdated` when the database is not at this release's revision."""
    if not isinstance(store, SqlStore):
        return
    found = _current(store)
    if found != REVISION:
        _refuse_newer(store, found)
        raise SchemaOutdated(
            f"the schema of the database {shown(store.engine.url)} is at revision {found or 'none'}, this release "
            f"needs {REVISION}: run `celeriac db upgrade`"
        )


@contextmanager
def _opened(url: str) -> Iterator[SqlStore]:
    store = open_sql_store(url)
    try:
        yield store
    finally:
        store.close()
