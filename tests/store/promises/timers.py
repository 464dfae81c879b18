"""When runs must be woken."""

from __future__ import annotations

from orchestrator.ports.store import Store
from tests.store.rows import at, change, timer


class TimerPromises:
    def test_due_timers_come_earliest_first_and_no_more_than_asked_for(self, store: Store) -> None:
        with store.transaction() as tx:
            tx.append([change(timers=(timer("a", due_at=at(2)), timer("b", due_at=at(1))))])
            tx.append([change("run-2", timers=(timer("a", "run-2", due_at=at(3)),))])
        with store.transaction() as tx:
            assert [] == tx.due_timers(at(0.999999), 10)
            assert [timer("b", due_at=at(1))] == tx.due_timers(at(1), 10)
            assert ["b", "a"] == [row.execution_id for row in tx.due_timers(at(9), 2)]
            assert ["run-1", "run-1", "run-2"] == [row.run_id for row in tx.due_timers(at(9), 10)]

    def test_a_timer_that_was_taken_is_not_due_until_then(self, store: Store) -> None:
        with store.transaction() as tx:
            tx.append([change(timers=(timer("a", due_at=at(1)), timer("b", due_at=at(1))))])
        with store.transaction() as tx:
            tx.take_timers(tx.due_timers(at(1), 1), until=at(31))
            tx.take_timers([], until=at(31))
        with store.transaction() as tx:
            assert [timer("b", due_at=at(1))] == tx.due_timers(at(30), 10)
            assert [timer("b", due_at=at(1)), timer("a", due_at=at(31))] == tx.due_timers(at(31), 10)

    def test_taking_leaves_alone_what_was_set_anew_or_cleared_since(self, store: Store) -> None:
        with store.transaction() as tx:
            tx.append([change(timers=(timer("a", due_at=at(1)), timer("b", due_at=at(1))))])
            read = tx.due_timers(at(1), 10)
        with store.transaction() as tx:
            tx.append([change(after=1, timers=(timer("a", due_at=at(2)),), cleared=("b",))])
        with store.transaction() as tx:
            tx.take_timers(read, until=at(31))
        with store.reading() as tx:
            assert [timer("a", due_at=at(2))] == tx.timers_of("run-1")

    def test_parked_timers_are_kept_and_never_due(self, store: Store) -> None:
        with store.transaction() as tx:
            tx.append([change(timers=(timer("a"), timer("b")))])
            tx.append([change("run-2", timers=(timer("a", "run-2"),))])
            tx.park_timers("run-1", ["a", "gone"])
            tx.park_timers("run-1", [])
        with store.transaction() as tx:
            assert [timer("b"), timer("a", "run-2")] == tx.due_timers(at(99), 10)
            assert [timer("a", parked=True), timer("b")] == tx.timers_of("run-1")

    def test_timers_of_a_run_come_in_the_order_of_their_executions(self, store: Store) -> None:
        names = ["b", "B", "ä", "a"]
        with store.transaction() as tx:
            tx.append([change(timers=tuple(map(timer, names)))])
            assert sorted(names) == [row.execution_id for row in tx.timers_of("run-1")]
            assert [] == tx.timers_of("run-9")
