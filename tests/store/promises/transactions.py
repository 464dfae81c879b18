"""Units of work: all or nothing, readers that see one moment, failures that cannot be swallowed."""

from __future__ import annotations

import pytest

from orchestrator.errors import Conflict
from orchestrator.ports.store import ClaimRequest, Store
from tests.store.rows import NOW, SECOND, attempt, change, definition, timer, wait


class Stopped(BaseException):
    """The process ends here."""


class TransactionPromises:
    @pytest.mark.parametrize("error", (ValueError, Stopped, KeyboardInterrupt))
    def test_nothing_of_a_transaction_that_fails_is_stored(self, store: Store, error: type[BaseException]) -> None:
        with store.transaction() as tx:
            tx.add_definition(definition())
            tx.append([change(owed=(attempt(),), timers=(timer(),), waits=(wait(),))])
        with pytest.raises(error), store.transaction() as tx:  # noqa: PT012
            tx.add_definition(definition(version=2))
            tx.activate("default", "orders", 1)
            tx.claim([ClaimRequest("e1.1", "safe")], "w", now=NOW, lease=SECOND)
            tx.append(
                [
                    change(after=1, count=5, ended=("e1.1",), owed=(attempt("e2.1"),), cleared=("e1",)),
                    change(
                        "run-2", timers=(timer("x", "run-2"),), waits=(wait("w2", "run-2", kind="completion", key="k"),)
                    ),
                ]
            )
            raise error
        with store.reading() as tx:
            assert [definition()] == tx.definitions("default")
            assert [change().facts[0]] == tx.facts("run-1")
            assert change().run == tx.run("run-1")
            assert ([attempt()], [timer()]) == (tx.attempts_of(["run-1"]), tx.timers_of("run-1"))
            assert ([wait()], ["run-1"], []) == (tx.waits(open_only=False), tx.run_ids(), tx.facts("run-2"))
        with store.transaction() as tx:
            tx.append([change(after=1), change("run-2", waits=(wait("w3", "run-2", kind="completion", key="k"),))])
            assert [1, 2] == [fact.number for fact in tx.facts("run-1")]

    def test_a_transaction_sees_what_it_wrote(self, store: Store) -> None:
        with store.transaction() as tx:
            tx.append([change(count=2, owed=(attempt(),))])
            assert [1, 2] == [fact.number for fact in tx.facts("run-1")]
            assert [attempt()] == tx.attempts_of(["run-1"])

    @pytest.mark.behaviour("B100")
    def test_a_conflict_that_is_swallowed_stores_nothing_all_the_same(self, store: Store) -> None:
        with store.transaction() as tx:
            tx.append([change()])
        with pytest.raises(Conflict), store.transaction() as tx:  # noqa: PT012
            tx.append([change("run-2", owed=(attempt("x.1", "run-2"),))])
            with pytest.raises(Conflict):
                tx.append([change(after=7)])
        with store.reading() as tx:
            assert ["run-1"] == tx.run_ids()
            assert [] == tx.attempts_of(["run-2"])

    def test_after_a_conflict_a_transaction_is_of_no_further_use(self, store: Store) -> None:
        with pytest.raises(Conflict), store.transaction() as tx:  # noqa: PT012
            with pytest.raises(Conflict):
                tx.append([change(after=7)])
            with pytest.raises(Conflict):
                tx.append([change("run-2")])
            with pytest.raises(Conflict):
                tx.head("run-2")
        with store.reading() as tx:
            assert [] == tx.run_ids()

    def test_a_reader_may_not_write_or_hold(self, store: Store) -> None:
        with store.reading() as tx:
            for act in (
                lambda: tx.append([change()]),
                lambda: tx.add_definition(definition()),
                lambda: tx.lock(["run-1"], wait=False),
                lambda: tx.due_attempts(NOW, 1),
                lambda: tx.due_timers(NOW, 1),
                lambda: tx.attempts(["e1.1"], lock=True),
            ):
                with pytest.raises(RuntimeError, match="read only"):
                    act()
            assert [] == tx.run_ids()

    def test_a_transaction_inside_a_transaction_is_a_bug(self, store: Store) -> None:
        with store.transaction() as tx:
            tx.append([change()])
            with pytest.raises(RuntimeError, match="nest"), store.transaction():
                pass
        with store.reading() as tx:
            assert ["run-1"] == tx.run_ids()

    def test_a_store_goes_on_after_every_failure(self, store: Store) -> None:
        for _ in range(30):
            with pytest.raises(Conflict), store.transaction() as tx:
                tx.append([change(after=3)])
        with store.transaction() as tx:
            tx.append([change()])


class ConsistentReading:
    """For stores that can be read while somebody writes."""

    def test_a_reader_sees_one_moment_and_blocks_no_writer(self, store: Store) -> None:
        with store.transaction() as tx:
            tx.append([change(owed=(attempt(),), waits=(wait(),))])
        with store.reading() as reader:
            assert [1] == [fact.number for fact in reader.facts("run-1")]
            with store.transaction() as tx:
                tx.append(
                    [change(after=1, ended=("e1.1",), waits=(wait(status="closed", closed_at=NOW),)), change("b")]
                )
            with pytest.raises(ValueError), store.transaction() as tx:  # noqa: PT011, PT012
                tx.append([change(after=2)])
                raise ValueError
            assert [1] == [fact.number for fact in reader.facts("run-1")]
            assert ([attempt()], [wait()]) == (reader.attempts_of(["run-1"]), reader.waits())
            assert ["run-1"] == reader.run_ids()
        with store.reading() as reader:
            assert [1, 2] == [fact.number for fact in reader.facts("run-1")]
            assert ([], [], ["b", "run-1"]) == (reader.attempts_of(["run-1"]), reader.waits(), reader.run_ids())

    def test_a_writer_may_look_at_what_is_committed(self, store: Store) -> None:
        with store.transaction() as tx:
            tx.append([change()])
            with store.reading() as reader:
                assert [] == reader.run_ids()
