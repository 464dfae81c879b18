"""What can go wrong on PostgreSQL: rows that change while one waits for them, lost servers, wrong addresses."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import psycopg
import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from orchestrator.core.data import JsonText
from orchestrator.core.outcomes import Receipt
from orchestrator.errors import BadSettings, CeleriacError, Conflict, StoreUnavailable
from orchestrator.ports.records import AttemptState
from orchestrator.ports.store import ClaimRequest, RunFilter, Transaction
from orchestrator.store.migrate import check, upgrade
from orchestrator.store.sql.transaction import SqlStore, SqlTransaction, open_sql_store
from tests.store.rows import NOW, at, attempt, change, definition, timer, wait

LEASE = timedelta(seconds=30)
ANSWER = Receipt("succeeded", outlet="next", output=JsonText("{}"))


@pytest.fixture
def store(postgres_store: SqlStore) -> SqlStore:
    """Empty tables."""
    return postgres_store


def sql(tx: SqlTransaction, statement: str) -> list[Any]:
    """What the server says to a statement of this test."""
    found = tx._connection.execute(text(statement))
    return [*found] if found.returns_rows else []


# --- rows that somebody changes while one waits for them --------------------------------------------------------------


class Waiting:
    """A call in a thread of its own that waits for a lock."""

    def __init__(self, store: SqlStore, act: Callable[[Transaction], Any]) -> None:
        self._answer: list[Any] = []

        def call() -> None:
            try:
                with store.transaction() as tx:
                    self._answer.append(act(tx))
            except CeleriacError as error:
                self._answer.append(error)

        self._thread = threading.Thread(target=call, daemon=True)
        self._thread.start()
        query = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
        with psycopg.connect(
            store.engine.url.set(drivername="postgresql").render_as_string(hide_password=False), autocommit=True
        ) as connection:
            for _ in range(1000):
                if connection.execute(query).fetchone() != (0,):
                    return
                self._thread.join(0.01)
        raise AssertionError(f"nobody waits: {self._answer}")

    def answer(self) -> Any:
        """What it came to, once it needs not wait any more."""
        self._thread.join(30)
        (answer,) = self._answer
        return answer


def claim(tx: Transaction) -> list[str]:
    requests = [ClaimRequest(id, "safe") for id in ("b.1", "a.1")]
    return [f"{row.attempt_id} rung {row.rings}" for row in tx.claim(requests, "w", now=NOW, lease=LEASE)]


@pytest.mark.parametrize(
    ("beat", "expected"),
    (
        (lambda tx, row: tx.postpone([replace(row, rings=1, due_at=at(60))]), ["b.1 rung 0", "a.1 rung 1"]),
        (lambda tx, row: claim(tx), []),
        (lambda tx, row: tx.append([change(after=1, ended=("a.1",))]), ["b.1 rung 0"]),
    ),
    ids=("rung", "claimed", "ended"),
)
def test_a_claim_that_waited_takes_the_rows_as_they_are_then(store: SqlStore, beat: Any, expected: list[str]) -> None:
    with store.transaction() as tx:
        tx.append([change(owed=(attempt("a.1"), attempt("b.1", due_at=at(50))))])
    with store.transaction() as tx:
        (row,) = tx.due_attempts(at(5), 10)
        waiting = Waiting(store, claim)
        beat(tx, row)
    assert expected == waiting.answer()


@pytest.mark.parametrize(
    "late",
    (
        lambda tx: tx.renew([("a.1", 1)], until=at(99)),
        lambda tx: tx.answer([("a.1", 1, ANSWER)], now=at(31), due_at=at(33)),
    ),
    ids=("renewing", "answering"),
)
def test_who_waited_while_beat_took_the_claim_away_is_late(store: SqlStore, late: Any) -> None:
    with store.transaction() as tx:
        tx.append([change(owed=(attempt("a.1"),))])
        tx.claim([ClaimRequest("a.1", "safe")], "w", now=NOW, lease=LEASE)
    with store.transaction() as tx:
        (row,) = tx.due_attempts(at(31), 10)
        waiting = Waiting(store, late)
        given_up = replace(row, state=AttemptState.OWED, losses=1, worker=None)
        tx.postpone([given_up])
    assert set() == waiting.answer()
    with store.reading() as reader:
        assert [given_up] == reader.attempts(["a.1"])


@pytest.mark.behaviour("B100")
def test_a_writer_that_waited_for_one_that_was_first_has_a_conflict_and_leaves_nothing(store: SqlStore) -> None:
    with store.transaction() as tx:
        tx.append([change(owed=(attempt("a.1"),))])
    with store.transaction() as tx:
        tx.append([change(after=1, ended=("a.1",), owed=(attempt("b.1"),))])
        second = change(after=1, ended=("a.1",), owed=(attempt("c.1"),), timers=(timer(),), waits=(wait(),))
        waiting = Waiting(store, lambda tx: tx.append([second]))
    assert isinstance(waiting.answer(), Conflict)
    with store.reading() as reader:
        assert ["b.1"] == [row.attempt_id for row in reader.attempts_of(["run-1"])]
        assert (2, [], None) == (len(reader.facts("run-1")), reader.timers_of("run-1"), reader.wait("w1"))


def test_a_writer_that_waited_for_one_that_failed_is_the_first(store: SqlStore) -> None:
    with store.transaction() as tx:
        tx.append([change()])
    with pytest.raises(ZeroDivisionError), store.transaction() as tx:  # noqa: PT012
        tx.append([change(after=1, owed=(attempt("b.1"),))])
        waiting = Waiting(store, lambda tx: tx.append([change(after=1, owed=(attempt("c.1"),))]))
        1 / 0  # noqa: B018
    assert waiting.answer() is None
    with store.reading() as reader:
        assert ["c.1"] == [row.attempt_id for row in reader.attempts_of(["run-1"])]


def test_of_two_that_wait_for_each_other_one_has_a_conflict(store: SqlStore) -> None:
    with store.transaction() as tx:
        tx.append([change("a"), change("b")])
    waiting: list[Waiting] = []
    answers: list[Any] = []
    try:
        with store.transaction() as tx:
            tx.lock(["a"], wait=True)
            waiting.append(Waiting(store, lambda tx: (tx.lock(["b"], wait=True), tx.lock(["a"], wait=True))))
            tx.lock(["b"], wait=True)
    except Conflict as error:
        answers.append(error)
    answers += [other.answer() for other in waiting]
    assert 1 == sum(isinstance(answer, Conflict) for answer in answers)


# --- what the server says ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("state", "error"),
    (
        ("40001", Conflict),
        ("40P01", Conflict),
        ("55P03", Conflict),
        ("53300", StoreUnavailable),
        ("53100", StoreUnavailable),
        ("57P03", StoreUnavailable),
        ("25006", StoreUnavailable),
    ),
)
def test_what_a_repetition_may_cure_is_a_conflict_and_the_rest_is_unavailable(
    store: SqlStore, state: str, error: type[Exception]
) -> None:
    with pytest.raises(error), store.transaction() as tx:  # noqa: PT012
        tx.append([change()])
        sql(tx, f"DO $$ BEGIN RAISE EXCEPTION 'as told' USING ERRCODE = '{state}'; END $$")
    with store.transaction() as tx:
        assert [] == tx.run_ids()


def test_a_statement_that_takes_too_long_is_given_up(store: SqlStore, postgres_url: str) -> None:
    impatient = open_sql_store(postgres_url, patience=timedelta(milliseconds=20))
    with pytest.raises(StoreUnavailable, match="statement timeout"), impatient.transaction() as tx:  # noqa: PT012
        tx.append([change()])
        sql(tx, "SELECT pg_sleep(20)")
    impatient.close()
    with store.reading() as reader:
        assert [] == reader.run_ids()


def test_an_error_that_is_swallowed_stores_nothing_whatever_it_was(store: SqlStore) -> None:
    """A transaction that a statement has spoiled is rolled back by the server at its commit, without a word."""
    with pytest.raises(Conflict), store.transaction() as tx:  # noqa: PT012
        tx.append([change()])
        with pytest.raises(DBAPIError, match="out of range"):
            tx.facts("run-1", after=2**70)
    with store.reading() as reader:
        assert [] == reader.run_ids()


@pytest.mark.parametrize("rest", (timedelta(0), timedelta(hours=1)))
def test_a_server_that_was_restarted_costs_at_most_one_failure(empty_postgres: str, rest: timedelta) -> None:
    upgrade(empty_postgres)
    store, pooled = open_sql_store(empty_postgres), open_sql_store(empty_postgres, rest=rest)
    held = [pooled.engine.connect() for _ in range(4)]
    for connection in held:
        connection.close()
    with store.transaction() as tx:
        sql(
            tx,
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()",
        )
    failures = 0
    for n in range(4):
        try:
            with pooled.transaction() as tx:
                tx.append([change(f"run-{n}")])
        except StoreUnavailable:
            failures += 1
    pooled.close()
    assert (0 if rest == timedelta(0) else 1) == failures
    with store.reading() as reader:
        assert 4 - failures == len(reader.run_ids())
    store.close()


# --- addresses --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("address", "says"),
    (
        ("postgresql://ada:s3cr3t@127.0.0.1:1/orders", "refused"),
        ("postgresql://ada:s3cr3t@no-such-host.invalid/orders", "resolve"),
        ("postgresql:///orders?host=/no/such/folder&user=ada&password=s3cr3t", "socket"),
        ("postgresql:///orders?host=127.0.0.1&port=1&sslpassword=s3cr3t", "refused"),
    ),
)
def test_a_server_that_cannot_be_reached_is_named_without_passwords(address: str, says: str) -> None:
    store = open_sql_store(address)
    for act in (lambda: store.transaction().__enter__(), lambda: store.reading().__enter__(), lambda: check(store)):
        with pytest.raises(StoreUnavailable, match=rf"orders.*{says}.*CELERIAC_DATABASE_URL") as caught:
            act()
        assert "s3cr3t" not in str(caught.value)
    with pytest.raises(StoreUnavailable, match=says) as caught:
        upgrade(address)
    assert "s3cr3t" not in str(caught.value)


def test_a_database_that_is_not_there_is_named(store: SqlStore) -> None:
    absent = store.engine.url.set(drivername="postgresql", database="not-there")
    with pytest.raises(StoreUnavailable, match='database "not-there" does not exist'):
        upgrade(absent.render_as_string(hide_password=False))


def test_an_option_that_nobody_knows_is_a_bad_setting() -> None:
    with pytest.raises(BadSettings, match='invalid connection option "frobnicate"'):
        upgrade("postgresql://ada@127.0.0.1:1/orders?frobnicate=1")


# --- plans ------------------------------------------------------------------------------------------------------------


def test_no_question_of_the_engine_reads_a_whole_table_even_while_few_rows_live(store: SqlStore) -> None:
    """The plan of a statement is kept; rows come and go, so one made for a small table would soon read a large one."""
    with store.transaction() as tx:
        tx.append([change(count=3, owed=(attempt("a.1"), attempt("b.1")), timers=(timer(),), waits=(wait(),))])
        tx.add_definition(definition(active=True))
    with store.engine.connect() as connection:
        connection.execution_options(isolation_level="AUTOCOMMIT").execute(text("VACUUM ANALYZE"))
    whole = "SELECT relname, seq_scan FROM pg_stat_xact_user_tables ORDER BY relname"
    with store.transaction() as tx:
        before = sql(tx, whole)
        tx.claim([ClaimRequest("a.1", "safe"), ClaimRequest("b.1", "once")], "w", now=NOW, lease=LEASE)
        tx.renew([("a.1", 1)], until=at(60))
        tx.answer([("a.1", 1, ANSWER)], now=NOW, due_at=NOW)
        tx.answered(["run-1"])
        tx.postpone(tx.due_attempts(at(99), 10))
        tx.attempts(["a.1"], lock=True)
        tx.attempts_of(["run-1"])
        tx.lock(["run-1"], wait=False)
        tx.head("run-1")
        tx.facts("run-1", after=1, limit=2, inline=512)
        tx.values("run-1", [1, 2])
        tx.append(
            [
                change(after=3, ended=("a.1",), owed=(attempt("a.2"),), cleared=("e1",), timers=(timer("e2"),)),
                change("run-2", owed=(attempt("c.1", "run-2"),)),
            ]
        )
        tx.append([change(after=4, ended=("a.2",), owed=(attempt("a.3"),), waits=(wait("w2", key="k"),))])
        tx.take_timers(tx.due_timers(at(99), 10), until=at(200))
        tx.park_timers("run-1", ["e2"])
        tx.timers_of("run-1")
        tx.definition("default", "orders")
        tx.definitions("default", "orders")
        tx.run("run-1")
        tx.runs(RunFilter(scope="default"), limit=10)
        tx.run_ids(limit=10)
        tx.wait("w1")
        tx.wait_by_key("default", "k")
        tx.open_keys("default", ["k"])
        tx.waits(run_id="run-1", open_only=False)
        tx.waits(scope="default")
        tx.append([change("run-2", after=1, swept=True)])
        assert before == sql(tx, whole)
