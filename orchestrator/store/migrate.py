"""Migrations: the schema is made and changed by Alembic's steps only, which ship inside the package."""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, text

from orchestrator.errors import SchemaOutdated
from orchestrator.ports.store import Store
from orchestrator.store.sql.connecting import translated
from orchestrator.store.sql.transaction import SqlStore, open_sql_store

#: Two processes that upgrade PostgreSQL at once take turns by this advisory lock ("celeriac" as a number).
_LOCK = 0x63656C65726961


def _config(connection: Connection | None = None) -> Config:
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "sql" / "migrations"))
    config.attributes["connection"] = connection
    return config


def head() -> str:
    """The revision this release needs."""
    revision = ScriptDirectory.from_config(_config()).get_current_head()
    assert revision is not None
    return revision


def upgrade(url: str) -> tuple[str | None, str]:
    """Bring a database to this release's schema: the revision before and after. Safe to call by several at once."""
    store = open_sql_store(url)
    try:
        return upgrade_store(store)
    finally:
        store.close()


def upgrade_store(store: SqlStore) -> tuple[str | None, str]:
    """As `upgrade`, on an open store."""
    with translated(store.engine), store.engine.begin() as connection:
        if connection.dialect.name == "postgresql":
            connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})
        before = MigrationContext.configure(connection).get_current_revision()
        if before != head():
            command.upgrade(_config(connection), "head")
    return before, head()


def current(url: str) -> str | None:
    """The revision a database is at; None: it has no schema yet."""
    store = open_sql_store(url)
    try:
        return _current(store)
    finally:
        store.close()


def _current(store: SqlStore) -> str | None:
    with translated(store.engine), store.engine.connect() as connection:
        return MigrationContext.configure(connection).get_current_revision()


def check(store: Store) -> None:
    """Raises `SchemaOutdated` when the database is not at this release's revision."""
    if not isinstance(store, SqlStore):
        return
    found = _current(store)
    if found != head():
        raise SchemaOutdated(
            f"the database schema is at revision {found or 'none'}, this release needs {head()}; "
            "run `celeriac db upgrade`"
        )
