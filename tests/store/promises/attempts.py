"""The outbox, the leases and the inbox of answers."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from orchestrator.core.data import JsonText
from orchestrator.core.outcomes import FailureKind, Receipt
from orchestrator.ports.records import AttemptRow, AttemptState
from orchestrator.ports.store import ClaimRequest, Store, Transaction
from tests.store.rows import NOW, at, attempt, change

LEASE = timedelta(seconds=30)
ANSWER = Receipt("succeeded", outlet="next", output=JsonText("{}"))


def claim(tx: Transaction, *ids: str, seconds: float = 0, worker: str = "worker-1") -> list[AttemptRow]:
    return tx.claim([ClaimRequest(id, "idempotent") for id in ids], worker, now=at(seconds), lease=LEASE)


def claimed(row: AttemptRow, *, fence: int = 1, worker: str = "worker-1") -> AttemptRow:
    return replace(
        row,
        state=AttemptState.CLAIMED,
        fence=fence,
        worker=worker,
        effect="idempotent",
        claimed_at=NOW,
        lease_until=NOW + LEASE,
        deadline=NOW + row.timeout,
        due_at=NOW + min(row.timeout, LEASE),
    )


class AttemptPromises:
    @pytest.mark.parametrize(
        "row",
        (
            attempt(),
            attempt(timeout=timedelta(days=9999, microseconds=1), capability=f"{'x' * 255}@{2**40}"),
            claimed(attempt(fence=2**40, rings=7, losses=2)),
            replace(claimed(attempt()), state=AttemptState.ANSWERED, receipt=ANSWER, answered_at=at(1)),
        ),
        ids=("plain", "extreme", "claimed", "answered"),
    )
    def test_an_attempt_is_found_as_it_was_stored(self, store: Store, row: AttemptRow) -> None:
        with store.transaction() as tx:
            tx.append([change(owed=(row,))])
        with store.reading() as tx:
            assert [row] == tx.attempts([row.attempt_id, "gone"])

    @pytest.mark.parametrize("timeout", (timedelta(seconds=29), timedelta(seconds=30), timedelta(minutes=10)))
    def test_a_claim_writes_everything_of_the_claim(self, store: Store, timeout: timedelta) -> None:
        row = attempt(timeout=timeout)
        with store.transaction() as tx:
            tx.append([change(owed=(row,))])
        with store.transaction() as tx:
            assert [claimed(row)] == claim(tx, "e1.1")
        with store.reading() as tx:
            assert [claimed(row)] == tx.attempts(["e1.1"])

    def test_only_what_is_owed_is_claimed_in_the_order_asked_for(self, store: Store) -> None:
        rows = [attempt(f"{name}.1") for name in "abcd"]
        with store.transaction() as tx:
            tx.append([change(owed=tuple(rows))])
            claim(tx, "b.1")
            claim(tx, "c.1")
            tx.answer([("c.1", 1, ANSWER)], now=NOW, due_at=NOW)
        with store.transaction() as tx:
            assert [claimed(rows[3]), claimed(rows[0])] == claim(tx, "gone.1", "d.1", "c.1", "b.1", "a.1")
            assert [] == claim(tx, "a.1", "b.1")
            assert [] == claim(tx)

    def test_each_claim_notes_the_effect_its_own_performer_declared(self, store: Store) -> None:
        with store.transaction() as tx:
            tx.append([change(owed=(attempt("a.1"), attempt("b.1")))])
            requests = [ClaimRequest("b.1", "once"), ClaimRequest("a.1", "safe")]
            rows = tx.claim(requests, "w", now=NOW, lease=LEASE)
            assert [("b.1", "once"), ("a.1", "safe")] == [(row.attempt_id, row.effect) for row in rows]

    def test_renewing_moves_the_lease_and_never_the_deadline(self, store: Store) -> None:
        with store.transaction() as tx:
            tx.append([change(owed=(attempt("a.1", timeout=timedelta(seconds=40)), attempt("b.1")))])
            claim(tx, "a.1", "b.1")
        with store.transaction() as tx:
            assert {"a.1", "b.1"} == tx.renew([("a.1", 1), ("b.1", 1)], until=at(50))
            short, long = tx.attempts(["a.1", "b.1"])
            assert (at(50), at(40), at(40)) == (short.lease_until, short.deadline, short.due_at)
            assert (at(50), at(600), at(50)) == (long.lease_until, long.deadline, long.due_at)
            assert set() == tx.renew([], until=at(50))

    def test_who_lost_the_claim_can_neither_renew_nor_answer(self, store: Store) -> None:
        with store.transaction() as tx:
            tx.append([change(owed=(attempt("a.1"), attempt("b.1"), attempt("c.1")))])
            claim(tx, "a.1", "b.1")
            tx.postpone([replace(row, state=AttemptState.OWED, worker=None) for row in tx.attempts(["a.1"])])
            claim(tx, "a.1", worker="worker-2")
            before = tx.attempts(["a.1", "b.1", "c.1"])
        late = [("a.1", 1), ("b.1", 2), ("c.1", 0), ("gone.1", 1)]
        with store.transaction() as tx:
            assert set() == tx.renew(late, until=at(99))
            assert set() == tx.answer([(id, fence, ANSWER) for id, fence in late], now=NOW, due_at=NOW)
        with store.reading() as tx:
            assert before == tx.attempts(["a.1", "b.1", "c.1"])

    @pytest.mark.parametrize(
        "receipt",
        (
            ANSWER,
            Receipt(
                "succeeded", outlet="von „hier\"\\'", output=JsonText('{"a":[1.0,1e22,' + "9" * 64 + '],"ü":"📦"}')
            ),
            Receipt("succeeded", outlet="next", output=JsonText("null")),
            Receipt("skipped", reason="nothing\nto do \x07 %s"),
            Receipt("failed", kind=FailureKind.ERROR, reason="no stock", code="NO_STOCK", retryable=True),
            Receipt("failed", kind=FailureKind.INVALID_OUTPUT, reason="", retryable=False),
            Receipt("ambiguous", reason="who knows"),
            Receipt("suspended", key="a/b", expires_after=timedelta(days=2, microseconds=1)),
            Receipt("suspended", key="a/b"),
        ),
        ids=("plain", "hard", "null", "skipped", "failed", "invalid", "ambiguous", "expiring", "suspended"),
    )
    def test_an_answer_is_kept_byte_for_byte(self, store: Store, receipt: Receipt) -> None:
        with store.transaction() as tx:
            tx.append([change(owed=(attempt(),))])
            (row,) = claim(tx, "e1.1")
        with store.transaction() as tx:
            assert {"e1.1"} == tx.answer([("e1.1", 1, receipt)], now=at(2), due_at=at(7))
        expected = replace(row, state=AttemptState.ANSWERED, receipt=receipt, answered_at=at(2), due_at=at(7))
        with store.reading() as tx:
            assert [expected] == tx.answered(["run-1"])

    @pytest.mark.behaviour("B48")
    def test_a_second_answer_is_late(self, store: Store) -> None:
        with store.transaction() as tx:
            tx.append([change(owed=(attempt(),))])
            claim(tx, "e1.1")
            assert {"e1.1"} == tx.answer([("e1.1", 1, ANSWER), ("e1.1", 2, ANSWER)], now=NOW, due_at=NOW)
            other = Receipt("ambiguous", reason="later")
            assert set() == tx.answer([("e1.1", 1, other)], now=at(1), due_at=at(1))
            assert [ANSWER] == [row.receipt for row in tx.answered(["run-1"])]

    def test_answers_are_read_oldest_first_and_only_of_the_runs_asked_for(self, store: Store) -> None:
        with store.transaction() as tx:
            tx.append([change(owed=(attempt("a.1"), attempt("b.1"), attempt("c.1")))])
            tx.append([change("run-2", owed=(attempt("d.1", "run-2"),))])
            tx.append([change("run-3", owed=(attempt("e.1", "run-3"),))])
            claim(tx, "a.1", "b.1", "c.1", "d.1", "e.1")
            for seconds, id in enumerate(("b.1", "d.1", "a.1", "e.1")):
                tx.answer([(id, 1, ANSWER)], now=at(seconds), due_at=NOW)
            assert ["b.1", "d.1", "a.1"] == [row.attempt_id for row in tx.answered(["run-1", "run-2"])]
            assert [] == tx.answered([])

    def test_rows_are_read_in_the_order_of_their_ids(self, store: Store) -> None:
        ids = ["b.1", "B.1", "a.1", "ä.1", "_.1"]
        with store.transaction() as tx:
            tx.append([change(owed=tuple(map(attempt, ids)))])
            assert sorted(ids) == [row.attempt_id for row in tx.attempts(ids)]
            assert sorted(ids) == [row.attempt_id for row in tx.attempts_of(["run-1", "run-1"], lock=True)]
            assert [] == tx.attempts([], lock=True)

    def test_due_rows_come_earliest_first_and_no_more_than_asked_for(self, store: Store) -> None:
        owed = (attempt("a.1", due_at=at(3)), attempt("b.1", due_at=at(1)), attempt("c.1", due_at=at(2)))
        with store.transaction() as tx:
            tx.append([change(owed=owed)])
        with store.transaction() as tx:
            assert [] == tx.due_attempts(at(0.999999), 10)
            assert ["b.1"] == [row.attempt_id for row in tx.due_attempts(at(1), 10)]
            assert ["b.1", "c.1"] == [row.attempt_id for row in tx.due_attempts(at(9), 2)]

    def test_postponing_writes_what_beat_may_write(self, store: Store) -> None:
        with store.transaction() as tx:
            tx.append([change(owed=(attempt("a.1"), attempt("b.1")))])
            (row,) = claim(tx, "b.1")
        rung = attempt("a.1", due_at=at(15), rings=1)
        back = replace(
            row,
            state=AttemptState.OWED,
            due_at=at(60),
            losses=1,
            worker=None,
            claimed_at=None,
            deadline=None,
            lease_until=None,
        )
        with store.transaction() as tx:
            tx.postpone([rung, back, attempt("gone.1")])
            tx.postpone([])
        with store.reading() as tx:
            assert [rung, back] == tx.attempts(["a.1", "b.1"])

    def test_postponing_leaves_alone_what_was_claimed_or_answered_since(self, store: Store) -> None:
        with store.transaction() as tx:
            tx.append([change(owed=(attempt("a.1"), attempt("b.1")))])
            claim(tx, "b.1")
            read = tx.attempts(["a.1", "b.1"])
        with store.transaction() as tx:
            claim(tx, "a.1")
            tx.answer([("b.1", 1, ANSWER)], now=NOW, due_at=NOW)
            moved = tx.attempts(["a.1", "b.1"])
        with store.transaction() as tx:
            tx.postpone([replace(row, due_at=at(500), rings=9) for row in read])
        with store.reading() as tx:
            assert moved == tx.attempts(["a.1", "b.1"])

    def test_an_answer_that_nobody_took_up_may_be_postponed(self, store: Store) -> None:
        with store.transaction() as tx:
            tx.append([change(owed=(attempt(),))])
            claim(tx, "e1.1")
            tx.answer([("e1.1", 1, ANSWER)], now=NOW, due_at=NOW)
            (row,) = tx.due_attempts(NOW, 10)
            tx.postpone([replace(row, due_at=at(30))])
            assert [] == tx.due_attempts(NOW, 10)
            assert [replace(row, due_at=at(30))] == tx.answered(["run-1"])
