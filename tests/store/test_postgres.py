"""The SQL store on PostgreSQL keeps the port's promises; and what is PostgreSQL's own: row locks, lost connections."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict
from sqlalchemy import text

from orchestrator.errors import CommitUnknown, Conflict, SchemaOutdated, StoreUnavailable
from orchestrator.ports.store import ClaimRequest, Store
from orchestrator.store.sql.transaction import SqlStore, SqlTransaction, open_sql_store
from tests.store.conformance import Conformance
from tests.store.cutting import Line
from tests.store.rows import NOW, at, attempt, change, timer

IMPATIENT = timedelta(milliseconds=100)


@pytest.fixture
def store(postgres_store: SqlStore) -> SqlStore:
    """Empty tables."""
    return postgres_store


@pytest.fixture
def other(store: SqlStore, postgres_url: str) -> Iterator[SqlStore]:
    """The store of another process that waits for no lock for long."""
    other = open_sql_store(postgres_url, patience=IMPATIENT)
    yield other
    other.close()


class TestPostgres(Conformance):
    @pytest.fixture
    def store(self, store: SqlStore) -> Store:
        return store


# --- row locks --------------------------------------------------------------------------------------------------------


def test_a_run_that_somebody_holds_is_left_out_or_waited_for(store: SqlStore, other: SqlStore) -> None:
    with store.transaction() as tx:
        tx.append([change("a"), change("b")])
    with store.transaction() as holder:
        assert {"a"} == holder.lock(["a"], wait=True).keys()
        with other.transaction() as tx:
            assert {"b"} == tx.lock(["b", "a", "gone"], wait=False).keys()
        with pytest.raises(Conflict, match="lock timeout"), other.transaction() as tx:
            tx.lock(["a", "b"], wait=True)
    with other.transaction() as tx:
        assert {"a", "b"} == tx.lock(["a", "b"], wait=True).keys()


def test_what_one_beat_looks_at_the_other_skips(store: SqlStore, other: SqlStore) -> None:
    owed = tuple(attempt(f"{name}.1", due_at=NOW) for name in "abc")
    with store.transaction() as tx:
        tx.append([change(owed=owed, timers=tuple(timer(name, due_at=NOW) for name in "abc"))])
    with store.transaction() as first, other.transaction() as second:
        assert ["a.1", "b.1"] == [row.attempt_id for row in first.due_attempts(NOW, 2)]
        assert ["c.1"] == [row.attempt_id for row in second.due_attempts(NOW, 2)]
        assert ["a"] == [row.execution_id for row in first.due_timers(NOW, 1)]
        assert ["b", "c"] == [row.execution_id for row in second.due_timers(NOW, 9)]


def test_an_attempt_that_is_held_cannot_be_claimed_meanwhile(store: SqlStore, other: SqlStore) -> None:
    with store.transaction() as tx:
        tx.append([change(owed=(attempt(),))])
    requests = [ClaimRequest("e1.1", "safe")]
    for holding in (["e1.1"], None):
        with store.transaction() as holder:
            rows = holder.attempts(holding, lock=True) if holding else holder.attempts_of(["run-1"], lock=True)
            assert [attempt()] == rows
            with pytest.raises(Conflict), other.transaction() as tx:
                tx.claim(requests, "w", now=NOW, lease=IMPATIENT)
    with other.transaction() as tx:
        assert 1 == len(tx.claim(requests, "w", now=NOW, lease=IMPATIENT))


def test_what_was_rung_while_a_claim_waited_is_claimed_as_it_is_now(store: SqlStore, other: SqlStore) -> None:
    with store.transaction() as tx:
        tx.append([change(owed=(attempt(),))])
    with store.transaction() as beat:
        (row,) = beat.due_attempts(at(5), 1)
        beat.postpone([row])
    with other.transaction() as tx:
        (claimed,) = tx.claim([ClaimRequest("e1.1", "safe")], "w", now=NOW, lease=IMPATIENT)
        assert 1 == claimed.fence


def test_the_order_of_ids_is_that_of_code_points_whatever_the_database_sorts_by(store: SqlStore) -> None:
    with store.engine.connect() as connection:
        compared = connection.execute(
            text(
                "SELECT table_name || '.' || column_name FROM information_schema.columns WHERE table_schema = 'public' "
                "AND data_type IN ('text', 'character varying') AND collation_name IS DISTINCT FROM 'C' "
                "AND column_name NOT IN ('document', 'data', 'value', 'receipt', 'output', 'version_num')"
            )
        )
        assert [] == compared.scalars().all()


# --- failures ---------------------------------------------------------------------------------------------------------


def backend(transaction: SqlTransaction) -> int:
    """The server process of a transaction."""
    found = transaction._connection.execute(text("SELECT pg_backend_pid()")).scalar_one()
    assert isinstance(found, int)
    return found


def kill(store: SqlStore, process: int) -> None:
    with store.engine.begin() as connection:
        connection.execute(text("SELECT pg_terminate_backend(:process, 5000)"), {"process": process})


def test_a_connection_that_is_cut_in_the_middle_stores_nothing(store: SqlStore, other: SqlStore) -> None:
    with pytest.raises(StoreUnavailable, match="does not answer"), store.transaction() as tx:  # noqa: PT012
        tx.append([change(owed=(attempt(),))])
        kill(other, backend(tx))
        tx.append([change("run-2")])
    with store.transaction() as tx:
        assert ([], []) == (tx.run_ids(), tx.attempts_of(["run-1"]))


def test_a_connection_that_is_cut_before_the_commit_stores_nothing(store: SqlStore, other: SqlStore) -> None:
    with pytest.raises(CommitUnknown, match="whole or not at all"), store.transaction() as tx:  # noqa: PT012
        tx.append([change(owed=(attempt(),), timers=(timer(),))])
        kill(other, backend(tx))
    with store.transaction() as tx:
        assert ([], [], []) == (tx.run_ids(), tx.attempts_of(["run-1"]), tx.timers_of("run-1"))


def test_a_commit_whose_answer_is_lost_is_unknown_and_stored_whole(store: SqlStore, postgres_url: str) -> None:
    told = conninfo_to_dict(postgres_url)
    with Line(str(told["host"]), int(str(told.get("port", 5432)))) as line:
        there = store.engine.url.set(drivername="postgresql", host="127.0.0.1", port=line.port)
        far = open_sql_store(there.render_as_string(hide_password=False))
        with far.transaction() as tx:
            tx.append([change()])
        line.cuts = True
        with pytest.raises(CommitUnknown), far.transaction() as tx:
            tx.append([change("run-2", owed=(attempt("x.1", "run-2"),))])
        far.close()
    with store.reading() as tx:
        assert ["run-1", "run-2"] == tx.run_ids()
        assert ["x.1"] == [row.attempt_id for row in tx.attempts_of(["run-2"])]


def test_an_error_of_the_body_is_not_hidden_by_a_connection_that_is_gone(store: SqlStore, other: SqlStore) -> None:
    with pytest.raises(ZeroDivisionError), store.transaction() as tx:  # noqa: PT012
        tx.append([change()])
        kill(other, backend(tx))
        1 / 0  # noqa: B018
    with store.reading() as tx:
        assert [] == tx.run_ids()


def test_connections_that_died_while_they_rested_are_replaced(store: SqlStore, postgres_url: str) -> None:
    resting = open_sql_store(postgres_url, rest=timedelta(0))
    with resting.transaction() as tx:
        process = backend(tx)
    kill(store, process)
    with resting.transaction() as tx:
        tx.append([change()])
        assert process != backend(tx)
    resting.close()


def test_a_session_that_rests_inside_a_transaction_is_ended_by_the_server(other: SqlStore) -> None:
    with pytest.raises(StoreUnavailable), other.transaction() as tx:  # noqa: PT012
        tx.append([change()])
        notified = tx._connection.connection.driver_connection
        assert notified is not None
        with pytest.raises(psycopg.OperationalError):
            list(notified.notifies(timeout=30))
        tx.head("run-1")


def test_a_server_that_does_not_answer_is_named_without_the_password() -> None:
    store = open_sql_store("postgresql://ada:s3cr3t@127.0.0.1:1/orders")
    with pytest.raises(StoreUnavailable, match=r"ada:\*\*\*@127.0.0.1:1/orders.*CELERIAC_DATABASE_URL") as caught:  # noqa: SIM117
        with store.transaction():
            pass
    assert "s3cr3t" not in str(caught.value)


def test_a_pool_that_is_empty_for_too_long_is_unavailable(store: SqlStore, postgres_url: str) -> None:
    small = open_sql_store(postgres_url, pool_size=1, patience=IMPATIENT)
    taken = [small.engine.connect() for _ in range(6)]
    with pytest.raises(StoreUnavailable), small.reading():
        pass
    for connection in taken:
        connection.close()
    small.close()


def test_a_database_without_tables_asks_for_the_upgrade(empty_postgres: str) -> None:
    empty = open_sql_store(empty_postgres)
    with pytest.raises(SchemaOutdated, match="celeriac db upgrade"), empty.reading() as tx:
        tx.run_ids()
    empty.close()


def test_options_of_the_url_are_kept_beside_the_bounds(postgres_url: str) -> None:
    between = "&" if "?" in postgres_url else "?"
    store = open_sql_store(f"{postgres_url}{between}options=-c%20work_mem%3D7MB", patience=timedelta(seconds=7))
    with store.engine.connect() as connection:
        shown = {
            name: connection.execute(text(f"SHOW {name}")).scalar_one()
            for name in ("work_mem", "lock_timeout", "statement_timeout", "idle_in_transaction_session_timeout")
        }
    store.close()
    assert {
        "work_mem": "7MB",
        "lock_timeout": "7s",
        "statement_timeout": "21s",
        "idle_in_transaction_session_timeout": "42s",
    } == shown
