"""A new store of each kind for every measurement, and what is said where there is no PostgreSQL."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from itertools import count
from pathlib import Path
from typing import TypeAlias

import psycopg
from psycopg import sql

from orchestrator.ports.store import Store
from orchestrator.store.memory import MemoryStore
from orchestrator.store.migrate import upgrade_store
from orchestrator.store.sql.transaction import open_sql_store

#: A server on which databases may be made; the environment names another.
SERVER = "postgresql://postgres@127.0.0.1:5432/postgres"

NewStore: TypeAlias = Callable[[], Store]


@contextmanager
def databases() -> Iterator[Mapping[str, NewStore]]:
    """By name: what makes an empty store. PostgreSQL is left out where none answers."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        numbers = count()

        def opened(url: str) -> Store:
            store = open_sql_store(url)
            stack.callback(store.close)
            upgrade_store(store)
            return store

        kinds: dict[str, NewStore] = {
            "memory": MemoryStore,
            "SQLite": lambda: opened(f"sqlite:///{folder / str(next(numbers))}.db"),
        }
        server = os.environ.get("CELERIAC_BENCH_POSTGRES") or SERVER
        try:
            psycopg.connect(server, connect_timeout=3).close()
        except psycopg.OperationalError as error:
            print(f"PostgreSQL is left out: {str(error).splitlines()[0]}")
        else:
            kinds["PostgreSQL"] = lambda: opened(_made(stack, server, f"celeriac_bench_{os.getpid()}_{next(numbers)}"))
        yield kinds


def _made(stack: ExitStack, server: str, name: str) -> str:
    """The URL of a new database that is dropped at the end."""

    def drop() -> None:
        with psycopg.connect(server, autocommit=True) as connection:
            connection.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))

    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE DATABASE {} TEMPLATE template0").format(sql.Identifier(name)))
    stack.callback(drop)
    address, _, query = server.partition("?")
    return f"{address.rpartition('/')[0]}/{name}" + (f"?{query}" if query else "")
