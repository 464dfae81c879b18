"""Several threads at once: one wins, the others are told, and nothing half is left."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from orchestrator.core.data import JsonText
from orchestrator.core.outcomes import Receipt
from orchestrator.errors import Conflict
from orchestrator.ports.store import ClaimRequest, Store
from tests.store.rows import NOW, at, attempt, change, definition, timer, wait

LEASE = timedelta(seconds=30)


def together(*calls: Callable[[], Any]) -> list[Any]:
    """What each call answers or raises, all begun at once, each in a thread of its own."""
    answers: list[Any] = [None] * len(calls)
    start = threading.Barrier(len(calls))

    def act(place: int, call: Callable[[], Any]) -> None:
        start.wait(10)
        try:
            answers[place] = call()
        except Exception as error:  # noqa: BLE001 - the answer of the call
            answers[place] = error

    threads = [threading.Thread(target=act, args=pair, daemon=True) for pair in enumerate(calls)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not any(thread.is_alive() for thread in threads)
    return answers


def conflicts(answers: list[Any]) -> int:
    """How many were conflicts; anything else that was raised is no answer."""
    others = [answer for answer in answers if isinstance(answer, Exception) and not isinstance(answer, Conflict)]
    assert [] == others
    return sum(isinstance(answer, Conflict) for answer in answers)


class RacePromises:
    @pytest.mark.behaviour("B100")
    def test_of_two_writers_at_one_tail_one_wins_and_nothing_of_the_other_is_stored(self, store: Store) -> None:
        for round_ in range(10):
            id = f"run-{round_}"
            with store.transaction() as tx:
                tx.append([change(id)])

            def writer(name: str, id: str = id) -> Callable[[], None]:
                def write() -> None:
                    owed = (attempt(f"{name}-{id}.1", id),)
                    with store.transaction() as tx:
                        tx.append(
                            [change(id, after=1, owed=owed, timers=(timer(name, id),), waits=(wait(name + id, id),))]
                        )

                return write

            answers = together(writer("a"), writer("b"))
            assert 1 == conflicts(answers)
            winner = "ab"[answers.index(None)]
            with store.reading() as tx:
                assert [1, 2] == [fact.number for fact in tx.facts(id)]
                assert [f"{winner}-{id}.1"] == [row.attempt_id for row in tx.attempts_of([id])]
                assert [winner] == [row.execution_id for row in tx.timers_of(id)]
                assert [winner + id] == [row.wait_id for row in tx.waits(run_id=id)]

    @pytest.mark.behaviour("B23")
    def test_of_two_that_create_one_run_one_wins(self, store: Store) -> None:
        def create() -> None:
            with store.transaction() as tx:
                tx.append([change()])

        assert 3 == conflicts(together(create, create, create, create))
        with store.reading() as tx:
            assert [1] == [fact.number for fact in tx.facts("run-1")]

    def test_writers_of_many_runs_in_any_order_come_to_an_end(self, store: Store) -> None:
        ids = [f"run-{n}" for n in range(6)]
        with store.transaction() as tx:
            tx.append([change(id) for id in ids])

        def writer(order: list[str]) -> Callable[[], int]:
            def write() -> int:
                stored = 0
                while stored < 8:
                    try:
                        with store.transaction() as tx:
                            heads = tx.lock(order, wait=True)
                            tx.append([change(id, after=heads[id].tail) for id in order])
                    except Conflict:
                        continue
                    stored += 1
                return stored

            return write

        assert [8, 8, 8] == together(writer(ids), writer(ids[::-1]), writer([*ids[3:], *ids[:3]]))
        with store.reading() as tx:
            assert [[*range(1, 26)]] * 6 == [[fact.number for fact in tx.facts(id)] for id in ids]

    def test_an_attempt_is_claimed_by_one_worker(self, store: Store) -> None:
        ids = [f"e{n:02}.1" for n in range(20)]
        with store.transaction() as tx:
            tx.append([change(owed=tuple(map(attempt, ids)))])

        def worker(name: str, order: list[str]) -> Callable[[], list[str]]:
            def claim() -> list[str]:
                with store.transaction() as tx:
                    rows = tx.claim([ClaimRequest(id, "safe") for id in order], name, now=NOW, lease=LEASE)
                    return [row.attempt_id for row in rows]

            return claim

        claims = together(worker("a", ids), worker("b", ids[::-1]), worker("c", ids[10:] + ids[:10]))
        assert sorted(ids) == sorted(id for claimed in claims for id in claimed)
        with store.reading() as tx:
            assert {1} == {row.fence for row in tx.attempts(ids)}

    def test_an_answer_is_stored_once(self, store: Store) -> None:
        with store.transaction() as tx:
            tx.append([change(owed=(attempt(),))])
            tx.claim([ClaimRequest("e1.1", "safe")], "w", now=NOW, lease=LEASE)

        def answer() -> set[str]:
            with store.transaction() as tx:
                receipt = Receipt("succeeded", outlet="next", output=JsonText("1"))
                return tx.answer([("e1.1", 1, receipt)], now=NOW, due_at=NOW)

        assert 1 == sum(map(len, together(answer, answer, answer)))

    def test_one_open_key_has_one_holder(self, store: Store) -> None:
        def suspend(id: str) -> Callable[[], None]:
            def write() -> None:
                with store.transaction() as tx:
                    tx.append([change(id, waits=(wait(id, id, kind="completion", key="k"),))])

            return write

        answers = together(suspend("a"), suspend("b"), suspend("c"))
        assert 2 == conflicts(answers)
        with store.reading() as tx:
            winner = "abc"[answers.index(None)]
            assert ([winner], {"k": f"execution-of-{winner}"}) == (tx.run_ids(), tx.open_keys("default", ["k"]))

    def test_beats_share_what_is_due(self, store: Store) -> None:
        names = [f"e{n:02}" for n in range(30)]
        owed = tuple(attempt(f"{name}.1", due_at=NOW) for name in names)
        with store.transaction() as tx:
            tx.append([change(owed=owed, timers=tuple(timer(name, due_at=NOW) for name in names))])

        def beat() -> list[str]:
            looked_at: list[str] = []
            for _ in range(10):
                with store.transaction() as tx:
                    timers = tx.due_timers(NOW, 4)
                    tx.take_timers(timers, until=at(30))
                looked_at += [row.execution_id for row in timers]
            return looked_at

        first, second = together(beat, beat)
        assert sorted(names) == sorted([*first, *second])

    def test_of_two_that_publish_and_activate_one_version_is_active(self, store: Store) -> None:
        with store.transaction() as tx:
            tx.add_definition(definition(active=True))

        def publish(version: int) -> Callable[[], None]:
            def write() -> None:
                for _ in range(10):
                    try:
                        with store.transaction() as tx:
                            tx.add_definition(definition(version=version))
                            tx.activate("default", "orders", version)
                    except Conflict:
                        continue
                    return

            return write

        assert [None] * 4 == together(*map(publish, (2, 3, 4, 5)))
        with store.reading() as tx:
            assert 1 == sum(row.active for row in tx.definitions("default", "orders"))
            assert tx.definition("default", "orders") is not None
