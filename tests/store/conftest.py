"""What tests of the stores share: databases of their own, and promises whose assertions explain themselves."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

import psycopg
import pytest
from psycopg import sql
from sqlalchemy import text

from orchestrator.store.migrate import upgrade_store
from orchestrator.store.sql.schema import metadata
from orchestrator.store.sql.transaction import SqlStore, open_sql_store

for promises in ("attempts", "definitions", "journal", "races", "read_models", "timers", "transactions"):
    pytest.register_assert_rewrite(f"tests.store.promises.{promises}")

_NUMBERS = count(1)


@pytest.fixture
def empty_postgres(postgres_url: str) -> Iterator[str]:
    """A PostgreSQL database of this test alone, without a schema."""
    address, _, name = postgres_url.partition("?")[0].rpartition("/")
    own = f"{name}_{next(_NUMBERS)}"
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE DATABASE {} TEMPLATE template0").format(sql.Identifier(own)))
    try:
        yield postgres_url.replace(f"{address}/{name}", f"{address}/{own}")
    finally:
        with psycopg.connect(postgres_url, autocommit=True) as connection:
            connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(own)))


@pytest.fixture(scope="module")
def migrated_postgres(postgres_url: str) -> Iterator[SqlStore]:
    """A store on PostgreSQL, with whatever the tests before have left in it."""
    store = open_sql_store(postgres_url)
    upgrade_store(store)
    yield store
    store.close()


@pytest.fixture
def postgres_store(migrated_postgres: SqlStore) -> SqlStore:
    """A store on PostgreSQL with empty tables. Nothing is kept of a test before, whatever it left."""
    names = ", ".join(metadata.tables)
    with migrated_postgres.engine.begin() as connection:
        connection.execute(text(f"TRUNCATE {names}"))
    return migrated_postgres
