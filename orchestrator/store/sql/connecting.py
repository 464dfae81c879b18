"""Engines: how each database is connected to, and what a failure of it means to a caller.

SQLite needs its transactions begun by us: a writer that begins deferred and upgrades later is told `database is locked`
whatever the busy timeout is. PostgreSQL needs bounds, so that a stuck session never holds a run for ever.
"""

from __future__ import annotations

import os
import sqlite3
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import URL, Engine, StaticPool, create_engine, event, make_url
from sqlalchemy.exc import (
    ArgumentError,
    DBAPIError,
    IntegrityError,
    InterfaceError,
    NoSuchModuleError,
    OperationalError,
)
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from orchestrator.errors import BadSettings, Conflict, SchemaOutdated, StoreUnavailable

#: Serialization failure, deadlock, lock not available, statement cancelled by its timeout.
_AGAIN = frozenset({"40001", "40P01", "55P03", "57014"})
_NO_TABLE = frozenset({"42P01", "42703"})

ALLOWED = "sqlite:///FILE, sqlite:// (in memory) or postgresql://USER@HOST/DATABASE"


def engine_for(url: str, *, pool_size: int = 5) -> Engine:
    """An engine for this URL; nothing is connected to yet. Raises `BadSettings` for a URL that cannot be one."""
    try:
        parsed = make_url(url)
    except ArgumentError as error:
        raise BadSettings(f"CELERIAC_DATABASE_URL is {url!r}, which is no database URL; use {ALLOWED}") from error
    backend = parsed.get_backend_name()
    try:
        if backend == "sqlite":
            return _sqlite(parsed, pool_size)
        if backend == "postgresql":
            return _postgresql(parsed, pool_size)
    except (NoSuchModuleError, ImportError, ArgumentError) as error:
        raise BadSettings(f"CELERIAC_DATABASE_URL {shown(parsed)}: {error}; use {ALLOWED}") from error
    raise BadSettings(f"CELERIAC_DATABASE_URL {shown(parsed)}: {backend} is not supported; use {ALLOWED}")


def shown(url: URL) -> str:
    """A URL without its password."""
    return url.render_as_string(hide_password=True)


def _sqlite(url: URL, pool_size: int) -> Engine:
    memory = url.database in (None, "", ":memory:")
    options: dict[str, Any] = {"poolclass": StaticPool} if memory else {"pool_size": pool_size, "max_overflow": 10}
    engine = create_engine(url, connect_args={"check_same_thread": False, "timeout": 15.0}, **options)

    @event.listens_for(engine, "connect")
    def _connected(connection: sqlite3.Connection, _: object) -> None:
        connection.isolation_level = None
        for pragma in ("journal_mode=WAL", "synchronous=NORMAL", "busy_timeout=15000"):
            connection.execute(f"PRAGMA {pragma}").close()

    @event.listens_for(engine, "begin")
    def _begun(connection: Any) -> None:
        reads = connection.get_execution_options().get("reads_only", False)
        connection.exec_driver_sql("BEGIN" if reads else "BEGIN IMMEDIATE")

    return engine


def _postgresql(url: URL, pool_size: int) -> Engine:
    if url.drivername == "postgresql":
        url = url.set(drivername="postgresql+psycopg")
    bounds = {"lock_timeout": "10s", "statement_timeout": "30s", "idle_in_transaction_session_timeout": "60s"}
    options = " ".join(f"-c {name}={value}" for name, value in bounds.items())
    engine = create_engine(
        url,
        pool_size=pool_size,
        max_overflow=5,
        pool_timeout=10,
        pool_pre_ping=True,
        connect_args={
            "connect_timeout": 5,
            "application_name": "celeriac",
            "options": f"{url.query.get('options', '')} {options}".strip(),
            "keepalives_idle": 30,
        },
    )
    inherited: weakref.WeakSet[Any] = weakref.WeakSet()

    @event.listens_for(engine, "connect")
    def _connected(connection: Any, _: object) -> None:
        inherited.add(connection)

    _CONNECTIONS[engine] = inherited
    return engine


_CONNECTIONS: weakref.WeakKeyDictionary[Engine, weakref.WeakSet[Any]] = weakref.WeakKeyDictionary()


def forget_inherited(engine: Engine) -> None:
    """In a forked child: let go of the parent's connections without a word to the server.

    The sockets are closed in this process only; if the parent dies, its locks are not kept alive by us.
    """
    for connection in _CONNECTIONS.get(engine, ()):
        try:
            os.close(connection.fileno())
        except (OSError, ValueError):  # closed already
            continue
    engine.dispose(close=False)


@contextmanager
def translated(engine: Engine) -> Iterator[None]:
    """Database failures as our errors: `Conflict` (decide anew), `StoreUnavailable`, `SchemaOutdated`."""
    try:
        yield
    except IntegrityError as error:
        raise Conflict(f"another writer was first: {_first_line(error)}") from error
    except (OperationalError, InterfaceError, PoolTimeoutError) as error:
        raise _translation(engine, error) from error
    except DBAPIError as error:
        if getattr(error.orig, "sqlstate", None) in _NO_TABLE:
            raise SchemaOutdated from error
        if getattr(error.orig, "sqlstate", None) in _AGAIN or error.connection_invalidated:
            raise _translation(engine, error) from error
        raise


def _translation(engine: Engine, error: DBAPIError | PoolTimeoutError) -> Exception:
    original = getattr(error, "orig", None)
    state = getattr(original, "sqlstate", None)
    text = str(original or error)
    if state in _AGAIN or "database is locked" in text or "database table is locked" in text:
        return Conflict(f"the database asks to try again: {_first_line(error)}")
    if state in _NO_TABLE or "no such table" in text or "no such column" in text:
        return SchemaOutdated()
    return StoreUnavailable(
        f"the database {shown(engine.url)} does not answer: {_first_line(error)}; "
        "check CELERIAC_DATABASE_URL and that the server is up"
    )


def _first_line(error: Exception) -> str:
    text = str(getattr(error, "orig", None) or error).strip()
    return text.splitlines()[0] if text else type(error).__name__
