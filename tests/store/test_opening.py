"""Which URLs are opened, and what is said of the others."""

from __future__ import annotations

import pytest

from orchestrator.errors import BadSettings
from orchestrator.store.memory import MemoryStore
from orchestrator.store.opening import open_store
from orchestrator.store.sql.transaction import SqlStore


@pytest.mark.parametrize(
    ("url", "dialect", "driver"),
    (
        ("sqlite:///x.db", "sqlite", "pysqlite"),
        ("sqlite://", "sqlite", "pysqlite"),
        (":memory:", "sqlite", "pysqlite"),
        ("postgresql://ada@db/orders", "postgresql", "psycopg"),
        ("postgresql+psycopg://ada@db/orders", "postgresql", "psycopg"),
    ),
)
def test_these_databases_are_opened_without_connecting(url: str, dialect: str, driver: str) -> None:
    store = open_store(url, pool_size=2)
    assert isinstance(store, SqlStore)
    assert (dialect, driver) == (store.engine.dialect.name, store.engine.dialect.driver)
    store.close()


def test_memory_is_a_store_of_its_own_each_time() -> None:
    first, second = open_store("memory:"), open_store("memory:")
    assert isinstance(first, MemoryStore)
    assert first is not second


@pytest.mark.parametrize(
    "url",
    (
        "",
        "orders.db",
        "memory",
        "mysql://ada:s3cr3t@db/orders",
        "postgresql+psycopg2://ada:s3cr3t@db/orders",
        "postgres://ada:s3cr3t@db/orders",
        "postgresql://ada:s3cr3t@db:port/orders",
        "sqlite+aiosqlite:///x.db",
        "sqlite:///file:x?mode=memory&uri=true",
    ),
)
def test_any_other_url_is_refused_with_what_is_allowed_and_without_the_password(url: str) -> None:
    with pytest.raises(BadSettings, match=r"sqlite:///FILE.*postgresql://USER@HOST/DATABASE") as caught:
        open_store(url)
    assert "s3cr3t" not in str(caught.value)
