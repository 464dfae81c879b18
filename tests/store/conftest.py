"""What tests of the stores share: databases of their own, and promises whose assertions explain themselves."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

import psycopg
import pytest
from psycopg import sql

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
