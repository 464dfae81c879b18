"""The stage of `tests.behaviours` on an empty store of each kind; at the end every row agrees with the journals."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from orchestrator.ports.store import Store
from orchestrator.store.memory import MemoryStore
from orchestrator.store.migrate import upgrade_store
from orchestrator.store.sql.schema import metadata
from orchestrator.store.sql.transaction import SqlStore, open_sql_store
from tests.behaviours.stage import Stage


@pytest.fixture(scope="session")
def migrated(postgres_url: str) -> Iterator[SqlStore]:
    """PostgreSQL with the schema, for as many threads as a test may want."""
    store = open_sql_store(postgres_url, pool_size=12)
    upgrade_store(store)
    yield store
    store.close()


@pytest.fixture
def postgres(migrated: SqlStore) -> SqlStore:
    """PostgreSQL, empty."""
    with migrated.engine.begin() as connection:
        for table in metadata.tables.values():
            connection.execute(table.delete())
    return migrated


@pytest.fixture(params=["memory", "sqlite", "postgresql"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    """An empty store of each kind."""
    if request.param == "memory":
        yield MemoryStore()
    elif request.param == "sqlite":
        made = open_sql_store(f"sqlite:///{tmp_path}/store.db")
        upgrade_store(made)
        yield made
        made.close()
    else:
        postgres: SqlStore = request.getfixturevalue("postgres")
        yield postgres


@pytest.fixture
def stored(store: Store) -> Iterator[Stage]:
    """On every store."""
    acting = Stage(store)
    yield acting
    assert [] == acting.simulation.verify()


@pytest.fixture
def hot(postgres: SqlStore) -> Iterator[Stage]:
    """On PostgreSQL, where several can act at once."""
    acting = Stage(postgres)
    yield acting
    assert [] == acting.simulation.verify()


@pytest.fixture
def stage() -> Iterator[Stage]:
    """In memory."""
    acting = Stage(MemoryStore())
    yield acting
    assert [] == acting.simulation.verify()
