"""Engines: how each database is connected to.

SQLite needs its transactions begun by us: a writer that begins deferred and upgrades later is told `database is locked`
whatever the busy timeout is. PostgreSQL needs bounds, so that a stuck session never holds a run for ever.
"""

from __future__ import annotations

import sqlite3
import time
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from sqlalchemy import URL, Connection, Engine, StaticPool, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError, DisconnectionError, NoSuchModuleError

from orchestrator.errors import BadSettings
from orchestrator.store.sql.failures import first_line, shown, translated
from orchestrator.store.sql.inheriting import remember

ALLOWED = "memory:, sqlite:///FILE, sqlite:// (in memory) or postgresql://USER@HOST/DATABASE"

#: How long a lock is waited for.
PATIENCE = timedelta(seconds=10)
#: A connection that rested longer is asked whether it still lives before it is used; asking each time costs as much as
#: a small query.
REST = timedelta(seconds=5)

#: Plans are kept with their statements. One made while few rows live would read whole tables from then on, with all
#: that died in them since the last vacuum; and of an index only plain scans leave out for good what they found dead.
_BY_INDEX = "-c enable_seqscan=off -c enable_bitmapscan=off"


@dataclass(frozen=True, slots=True)
class Terms:
    """How a database is connected to."""

    pool_size: int = 5
    echo: bool = False
    patience: timedelta = PATIENCE
    rest: timedelta = REST


def engine_for(url: str, terms: Terms) -> Engine:
    """An engine for this URL; nothing is connected to yet. Raises `BadSettings` for a URL that cannot be one."""
    try:
        parsed = make_url("sqlite://" if url == ":memory:" else url)
    except (ArgumentError, ValueError) as error:
        raise BadSettings(f"CELERIAC_DATABASE_URL is no database URL; use {ALLOWED}") from error
    drivers = {
        "sqlite": _sqlite,
        "sqlite+pysqlite": _sqlite,
        "postgresql": _postgresql,
        "postgresql+psycopg": _postgresql,
    }
    if parsed.drivername not in drivers:
        raise BadSettings(f"CELERIAC_DATABASE_URL {shown(parsed)}: {parsed.drivername} is not supported; use {ALLOWED}")
    try:
        engine = drivers[parsed.drivername](parsed, terms)
    except (NoSuchModuleError, ImportError, ArgumentError) as error:
        raise BadSettings(f"CELERIAC_DATABASE_URL {shown(parsed)}: {first_line(error)}; use {ALLOWED}") from error

    @event.listens_for(engine, "handle_error")
    def _failed(context: Any) -> Exception | None:
        return translated(context, parsed)

    return engine


def in_memory(engine: Engine) -> bool:
    """Whether this is an SQLite database that lives in one connection of this process."""
    return isinstance(engine.pool, StaticPool)


def _sqlite(url: URL, terms: Terms) -> Engine:
    seconds = terms.patience.total_seconds()
    pool: dict[str, Any] = {"pool_size": terms.pool_size, "max_overflow": 10, "pool_timeout": seconds}
    if "memory" in url.query.get("mode", ()):
        raise ArgumentError("a database in memory is sqlite://")
    if url.database in (None, "", ":memory:"):
        pool = {"poolclass": StaticPool}
    connect_args = {"check_same_thread": False, "timeout": seconds}
    engine = create_engine(url, echo=terms.echo, connect_args=connect_args, **pool)

    @event.listens_for(engine, "connect")
    def _connected(connection: sqlite3.Connection, _: object) -> None:
        connection.isolation_level = None
        for pragma in ("journal_mode=WAL", "synchronous=NORMAL"):
            connection.execute(f"PRAGMA {pragma}").close()

    @event.listens_for(engine, "begin")
    def _begun(connection: Connection) -> None:
        reads_only = connection.get_execution_options().get("reads_only", False)
        connection.exec_driver_sql("BEGIN" if reads_only else "BEGIN IMMEDIATE")

    return engine


def _postgresql(url: URL, terms: Terms) -> Engine:
    milliseconds = max(1, round(terms.patience.total_seconds() * 1000))
    rest = terms.rest.total_seconds()
    bounds = {
        "lock_timeout": milliseconds,
        "statement_timeout": milliseconds * 3,
        "idle_in_transaction_session_timeout": milliseconds * 6,
    }
    told = " ".join(
        (_BY_INDEX, str(url.query.get("options", "")), *(f"-c {name}={value}" for name, value in bounds.items()))
    )
    engine = create_engine(
        url.set(drivername="postgresql+psycopg"),
        echo=terms.echo,
        pool_size=terms.pool_size,
        max_overflow=5,
        pool_timeout=terms.patience.total_seconds(),
        pool_use_lifo=True,
        connect_args={
            "connect_timeout": 5,
            "application_name": "celeriac",
            "options": told.strip(),
            "keepalives_idle": 30,
        },
    )

    @event.listens_for(engine, "connect")
    def _connected(connection: Any, _: object) -> None:
        remember(engine, connection)

    @event.listens_for(engine, "checkin")
    def _returned(_: object, record: Any) -> None:
        record.info["rests_since"] = time.monotonic()

    @event.listens_for(engine, "checkout")
    def _taken(connection: Any, record: Any, _: object) -> None:
        since = record.info.get("rests_since")
        if since is None or time.monotonic() - since < rest:
            return
        try:
            engine.dialect.do_ping(connection)
        except engine.dialect.loaded_dbapi.Error as gone:
            raise DisconnectionError from gone

    return engine
