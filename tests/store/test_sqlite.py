"""The SQL store on SQLite, in a file and in memory, keeps the port's promises; and what is SQLite's own."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from orchestrator.errors import Conflict, SchemaOutdated, StoreUnavailable
from orchestrator.ports.store import Store
from orchestrator.store.migrate import upgrade_store
from orchestrator.store.sql.transaction import SqlStore, open_sql_store
from tests.store.conformance import Conformance, OneConnection
from tests.store.promises.races import together
from tests.store.rows import change


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/it's 100% größer.db"


@pytest.fixture
def file_store(url: str) -> Iterator[SqlStore]:
    store = open_sql_store(url)
    upgrade_store(store)
    yield store
    store.close()


class TestFile(Conformance):
    @pytest.fixture
    def store(self, file_store: SqlStore) -> Store:
        return file_store


class TestInMemory(OneConnection):
    @pytest.fixture
    def store(self) -> Iterator[Store]:
        store = open_sql_store("sqlite://")
        yield store
        store.close()


def test_a_writer_of_another_process_is_waited_for_and_then_a_conflict(url: str, file_store: SqlStore) -> None:
    other = open_sql_store(url, patience=timedelta(milliseconds=50))
    with file_store.transaction() as tx:
        tx.append([change()])
        with pytest.raises(Conflict, match="locked"), other.transaction():
            pass
        with other.reading() as reader:
            assert [] == reader.run_ids()
    with other.transaction() as tx:
        assert ["run-1"] == tx.run_ids()
    other.close()


def test_a_writer_of_another_thread_is_waited_for_and_then_a_conflict() -> None:
    store = open_sql_store("sqlite://", patience=timedelta(milliseconds=50))

    def write() -> None:
        with store.transaction() as tx:
            tx.append([change()])

    with store.transaction():
        (refused,) = together(write)
    assert isinstance(refused, Conflict)
    assert [None] == together(write)
    store.close()


def test_the_journal_is_written_ahead_so_that_readers_and_the_writer_do_not_wait(
    url: str, file_store: SqlStore
) -> None:
    with sqlite3.connect(url.removeprefix("sqlite:///")) as connection:
        assert [("wal",)] == connection.execute("PRAGMA journal_mode").fetchall()
    connection.close()


@pytest.mark.parametrize("place", ("no/such/folder/x.db", "a folder", "a file/x.db"))
def test_a_file_that_cannot_be_opened_is_named(tmp_path: Path, place: str) -> None:
    (tmp_path / "a folder").mkdir()
    (tmp_path / "a file").touch()
    store = open_sql_store(f"sqlite:///{tmp_path}/{place}")
    for opened in (store.transaction(), store.reading()):
        with pytest.raises(StoreUnavailable, match=rf"{place}.*unable to open"), opened:
            pass
    store.close()


def test_a_file_that_may_only_be_read_is_read_and_named_when_written(url: str, file_store: SqlStore) -> None:
    store = open_sql_store(f"sqlite:///file:{url.removeprefix('sqlite:///').replace('%', '%25')}?mode=ro&uri=true")
    with store.reading() as reader:
        assert [] == reader.run_ids()
    with pytest.raises(StoreUnavailable, match=r"\.db.*readonly"), store.transaction() as tx:
        tx.append([change()])
    store.close()


def test_a_file_that_is_no_database_is_named(tmp_path: Path) -> None:
    (tmp_path / "x.db").write_bytes(b"no database at all" * 100)
    store = open_sql_store(f"sqlite:///{tmp_path}/x.db")
    with pytest.raises(StoreUnavailable, match=r"x\.db.*not a database"), store.transaction():
        pass
    store.close()


def test_a_database_without_tables_asks_for_the_upgrade(url: str) -> None:
    store = open_sql_store(url)
    with pytest.raises(SchemaOutdated, match="celeriac db upgrade"), store.reading() as tx:
        tx.run_ids()
    store.close()


def test_a_database_in_memory_has_its_schema_from_the_start() -> None:
    store = open_sql_store(":memory:")
    assert ("0001", "0001") == upgrade_store(store)
    with store.transaction() as tx:
        tx.append([change()])
    store.close()
