"""Migrations make the very schema that the adapter is written against, and several may upgrade at once."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, text

from orchestrator.errors import SchemaOutdated
from orchestrator.store.memory import MemoryStore
from orchestrator.store.migrate import check, configuration, current, head, upgrade
from orchestrator.store.sql.schema import metadata
from orchestrator.store.sql.transaction import SqlStore, open_sql_store


@pytest.fixture(params=["sqlite", "postgresql"])
def empty(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of a database without a schema."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/empty.db"
    return str(request.getfixturevalue("empty_postgres"))


@pytest.fixture
def store(empty: str) -> Iterator[SqlStore]:
    store = open_sql_store(empty)
    yield store
    store.close()


def everything(connection: Connection) -> list[Any]:
    """What the database says of its tables and indexes, in its own words."""
    if connection.dialect.name == "sqlite":
        query = "SELECT name, sql FROM sqlite_master WHERE name NOT LIKE '%alembic%' AND sql IS NOT NULL ORDER BY name"
        return [(name, " ".join(sql.split())) for name, sql in connection.execute(text(query))]
    columns = (
        "SELECT table_name, column_name, ordinal_position, data_type, is_nullable, collation_name, column_default FROM "
        "information_schema.columns WHERE table_schema = 'public' AND table_name <> 'alembic_version' ORDER BY 1, 3"
    )
    indexes = (
        "SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'public' AND tablename <> 'alembic_version' "
        "ORDER BY indexname"
    )
    options = "SELECT relname, reloptions FROM pg_class WHERE reloptions IS NOT NULL AND relkind = 'r' ORDER BY 1"
    return [tuple(row) for query in (columns, indexes, options) for row in connection.execute(text(query))]


def test_the_migrations_make_the_schema_of_the_code(empty: str, store: SqlStore) -> None:
    assert (None, head()) == upgrade(empty)
    with store.engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True, "compare_server_default": True})
        assert [] == compare_metadata(context, metadata)
        migrated = everything(connection)
    with store.engine.begin() as connection:
        metadata.drop_all(connection)
        metadata.create_all(connection)
        assert everything(connection) == migrated


def test_the_revision_of_the_code_is_the_last_migration() -> None:
    assert head() == ScriptDirectory.from_config(configuration()).get_current_head()


def test_an_upgrade_of_what_is_up_to_date_changes_nothing(empty: str) -> None:
    assert current(empty) is None
    assert (None, head()) == upgrade(empty)
    assert (head(), head()) == upgrade(empty)
    assert head() == current(empty)


def test_a_database_that_was_never_upgraded_is_refused_with_the_command(empty: str, store: SqlStore) -> None:
    with pytest.raises(SchemaOutdated, match="revision none, this release needs 0001: run `celeriac db upgrade`"):
        check(store)
    upgrade(empty)
    check(store)


def test_a_database_of_a_newer_release_is_refused_and_left_alone(empty: str, store: SqlStore) -> None:
    upgrade(empty)
    with store.engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    for act in (lambda: check(store), lambda: upgrade(empty)):
        with pytest.raises(SchemaOutdated, match="9999, which this release does not know"):
            act()
    assert "9999" == current(empty)


def test_the_store_in_memory_is_never_outdated() -> None:
    check(MemoryStore())


def test_processes_that_upgrade_at_once_take_turns(empty: str) -> None:
    program = "import sys; from orchestrator.store.migrate import upgrade; print(upgrade(sys.argv[1])[0])"
    processes = [
        subprocess.Popen([sys.executable, "-c", program, empty], stdout=subprocess.PIPE, text=True) for _ in range(3)
    ]
    told = [process.communicate(timeout=60)[0].strip() for process in processes]
    assert [0, 0, 0] == [process.returncode for process in processes]
    assert ["0001", "0001", "None"] == sorted(told)
    assert head() == current(empty)
