"""Journals: facts in order and byte for byte, appended at the expected tail with all they owe."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from orchestrator.core.data import JsonText
from orchestrator.errors import Conflict
from orchestrator.ports.records import Change, Head, StoredFact
from orchestrator.ports.store import Store
from tests.store.rows import NOW, at, attempt, change, fact, run, timer, wait

#: Texts that a column type or a JSON parser on the way would change.
TELLING = (
    "null",
    "1",
    "1.0",
    "1e22",
    "-0.0",
    "9" * 64,
    '{"__type__":"datetime","__value__":"2026-12-01"}',
    '{"b":1,"a":2}',
    '"Grüße, 世界 📦 \\" \\\\ / \\n \\t"',
    '"it\'s 100 %s %(x)s :name ? {0} $1"',
    '["\\ud83d\\udce6 as an escape","\u2028"]',
    '{"":{"k":[[],{},"",null,true]}}',
)


class JournalPromises:
    def test_a_run_that_does_not_exist_has_nothing(self, store: Store) -> None:
        with store.transaction() as tx:
            assert tx.head("run-1") is None
            assert {} == tx.lock(["run-1"], wait=True)
            assert [] == tx.facts("run-1")
            assert {} == tx.values("run-1", [1, 2])

    def test_the_first_append_creates_the_run(self, store: Store) -> None:
        with store.transaction() as tx:
            tx.append([change(count=3)])
        with store.reading() as tx:
            assert Head("run-1", "default", 3, final=False) == tx.head("run-1")
            assert [fact(1), fact(2), fact(3)] == tx.facts("run-1")
            assert run(tail=3) == tx.run("run-1")

    @pytest.mark.parametrize("text", TELLING)
    def test_values_come_back_byte_for_byte(self, store: Store, text: str) -> None:
        kept = fact(1, text, data=JsonText(text))
        with store.transaction() as tx:
            tx.append([Change(run(), 0, (kept,))])
        with store.reading() as tx:
            assert [kept] == tx.facts("run-1")
            assert {1: text} == tx.values("run-1", [1])

    def test_instants_are_exact_to_the_microsecond(self, store: Store) -> None:
        instants = (datetime(1970, 1, 1, tzinfo=UTC), NOW, datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC))
        facts = tuple(fact(n, at=instant) for n, instant in enumerate(instants, 1))
        with store.transaction() as tx:
            tx.append([Change(run(tail=3), 0, facts)])
        with store.reading() as tx:
            assert [*facts] == tx.facts("run-1")

    def test_a_value_of_a_megabyte_is_kept(self, store: Store) -> None:
        text = '"' + 'ü\\"' * 350_000 + '"'
        with store.transaction() as tx:
            tx.append([Change(run(), 0, (fact(1, text),))])
        with store.reading() as tx:
            assert {1: text} == tx.values("run-1", [1])

    def test_large_values_are_left_out_when_asked_and_their_size_is_kept(self, store: Store) -> None:
        facts = (fact(1, '"1234"'), fact(2, '"12345"'), fact(3))
        with store.transaction() as tx:
            tx.append([Change(run(tail=3), 0, facts)])
        with store.reading() as tx:
            assert [facts[0], StoredFact(2, facts[1].type, NOW, facts[1].data, None, 7), facts[2]] == tx.facts(
                "run-1", inline=6
            )
            assert {1: '"1234"', 2: '"12345"'} == tx.values("run-1", [1, 2, 3, 4])
            assert {} == tx.values("run-1", [])

    def test_facts_are_read_from_a_number_on_and_in_pages(self, store: Store) -> None:
        with store.transaction() as tx:
            tx.append([change(count=12), change("run-2", count=2)])
        with store.reading() as tx:
            assert [11, 12] == [f.number for f in tx.facts("run-1", after=10)]
            assert [4, 5] == [f.number for f in tx.facts("run-1", after=3, limit=2)]
            assert [] == tx.facts("run-1", after=12)

    @pytest.mark.parametrize(
        ("status", "final"),
        (
            ("Running", False),
            ("Waiting", False),
            ("ReconciliationRequired", False),
            ("Succeeded", True),
            ("Failed", True),
            ("Cancelled", True),
        ),
    )
    def test_a_head_says_whether_the_run_is_over(self, store: Store, status: str, final: bool) -> None:
        with store.transaction() as tx:
            tx.append([change(row={"status": status})])
            assert Head("run-1", "default", 1, final) == tx.head("run-1")
            assert {"run-1": Head("run-1", "default", 1, final)} == tx.lock(["run-1", "run-9"], wait=False)

    def test_an_append_moves_only_its_runs(self, store: Store) -> None:
        with store.transaction() as tx:
            tx.append([change("a"), change("b"), change("c")])
        with store.transaction() as tx:
            tx.append([change("b", after=1, count=2), change("c", after=1), change("d")])
        with store.reading() as tx:
            assert [1, 3, 2, 1] == [head.tail for id in "abcd" if (head := tx.head(id))]

    def test_nothing_to_append_is_no_error(self, store: Store) -> None:
        with store.transaction() as tx:
            tx.append([])

    @pytest.mark.behaviour("B100")
    @pytest.mark.parametrize("expected", (1, 3))
    def test_an_append_at_another_tail_is_a_conflict_and_nothing_of_it_is_stored(
        self, store: Store, expected: int
    ) -> None:
        with store.transaction() as tx:
            tx.append([change(count=2)])
        owing = change(after=expected, owed=(attempt(),), timers=(timer(),), waits=(wait(),))
        with pytest.raises(Conflict), store.transaction() as tx:
            tx.append([change("run-2"), owing])
        with store.reading() as tx:
            assert Head("run-1", "default", 2, final=False) == tx.head("run-1")
            assert (None, [], [], None) == (tx.run("run-2"), tx.facts("run-2"), tx.timers_of("run-1"), tx.wait("w1"))
            assert [] == tx.attempts_of(["run-1"])

    @pytest.mark.behaviour("B22")
    def test_a_run_is_created_once(self, store: Store) -> None:
        with store.transaction() as tx:
            tx.append([change()])
        with pytest.raises(Conflict), store.transaction() as tx:
            tx.append([change(row={"workflow": "other"})])
        with store.reading() as tx:
            assert run() == tx.run("run-1")

    def test_appending_to_a_run_that_does_not_exist_is_a_conflict(self, store: Store) -> None:
        with pytest.raises(Conflict), store.transaction() as tx:
            tx.append([change(after=4)])

    @pytest.mark.parametrize(
        "wrong",
        (
            Change(run(tail=3), 0, (fact(1), fact(3))),
            Change(run(tail=2), 0, (fact(2),)),
            Change(run(tail=5), 0, (fact(1),)),
        ),
        ids=("a gap", "not from the tail on", "another tail"),
    )
    def test_facts_that_do_not_follow_are_a_bug(self, store: Store, wrong: Change) -> None:
        with pytest.raises(ValueError, match="run-1"), store.transaction() as tx:
            tx.append([wrong])

    def test_a_run_that_stands_twice_in_an_append_is_a_bug(self, store: Store) -> None:
        with pytest.raises(ValueError, match="once"), store.transaction() as tx:
            tx.append([change(), change(after=1)])

    def test_what_changes_of_a_run_is_kept_and_what_its_first_fact_said_stays(self, store: Store) -> None:
        first: dict[str, Any] = {"subject_kind": "order", "subject_id": "10248", "correlation": "c/1"}
        with store.transaction() as tx:
            tx.append([change(row=first)])
        ended = first | {"status": "Succeeded", "updated_at": at(9), "ended_at": at(9)}
        with store.transaction() as tx:
            tx.append([change(after=1, row=ended)])
        with store.reading() as tx:
            assert run(tail=2, **ended) == tx.run("run-1")

    def test_a_change_without_facts_mends_the_rows(self, store: Store) -> None:
        with store.transaction() as tx:
            tx.append([change(row={"workflow": "wrong", "correlation": "wrong"})])
        with store.transaction() as tx:
            tx.append([Change(run(), 1, (), owed=(attempt(),), timers=(timer(),))])
        with store.reading() as tx:
            assert run() == tx.run("run-1")
            assert ([fact(1)], [attempt()], [timer()]) == (
                tx.facts("run-1"),
                tx.attempts(["e1.1"]),
                tx.timers_of("run-1"),
            )

    def test_an_append_stores_and_removes_what_it_owes(self, store: Store) -> None:
        with store.transaction() as tx:
            tx.append([change(owed=(attempt("a.1"), attempt("b.1")), timers=(timer("a"), timer("b")))])
            tx.append([change("run-2", owed=(attempt("z.1", "run-2"),), timers=(timer("a", "run-2"),))])
        with store.transaction() as tx:
            tx.append([change(after=1, ended=("a.1", "gone.1"), cleared=("a", "gone"), owed=(attempt("a.2"),))])
        with store.reading() as tx:
            assert ["a.2", "b.1"] == [row.attempt_id for row in tx.attempts_of(["run-1"])]
            assert [timer("b")] == tx.timers_of("run-1")
            assert [attempt("z.1", "run-2")] == tx.attempts_of(["run-2"])
            assert [timer("a", "run-2")] == tx.timers_of("run-2")

    def test_an_attempt_that_ends_may_be_owed_anew_in_the_same_append(self, store: Store) -> None:
        with store.transaction() as tx:
            tx.append([change(owed=(attempt(fence=3),))])
            tx.append([change(after=1, ended=("e1.1",), owed=(attempt(fence=4, due_at=at(1)),))])
            assert [attempt(fence=4, due_at=at(1))] == tx.attempts(["e1.1"])

    def test_an_attempt_that_is_there_is_never_owed_again(self, store: Store) -> None:
        with store.transaction() as tx:
            tx.append([change(owed=(attempt(),))])
        with pytest.raises(Conflict), store.transaction() as tx:
            tx.append([change(after=1, owed=(attempt(rings=9),))])
        with store.reading() as tx:
            assert [attempt()] == tx.attempts(["e1.1"])

    def test_a_timer_that_is_set_replaces_the_one_that_was_there(self, store: Store) -> None:
        with store.transaction() as tx:
            tx.append([change(timers=(timer(),))])
            tx.park_timers("run-1", ["e1"])
            tx.append([change(after=1, timers=(timer(due_at=at(99)),))])
            tx.append([change(after=2, cleared=("e1",), timers=(timer(due_at=at(100)),))])
            assert [timer(due_at=at(100))] == tx.timers_of("run-1")

    def test_a_sweep_takes_every_attempt_and_timer_of_the_run(self, store: Store) -> None:
        with store.transaction() as tx:
            tx.append([change(owed=(attempt("a.1"), attempt("b.1")), timers=(timer("a"), timer("b")))])
            tx.append([change("run-2", owed=(attempt("z.1", "run-2"),), timers=(timer("z", "run-2"),))])
        with store.transaction() as tx:
            tx.append([change(after=1, swept=True, owed=(attempt("c.1"),), timers=(timer("c"),), waits=(wait(),))])
        with store.reading() as tx:
            assert ([], []) == (tx.attempts_of(["run-1"]), tx.timers_of("run-1"))
            assert wait() == tx.wait("w1")
            assert [attempt("z.1", "run-2")] == tx.attempts_of(["run-2"])
            assert [timer("z", "run-2")] == tx.timers_of("run-2")

    def test_a_thousand_of_everything_is_one_append(self, store: Store) -> None:
        names = [f"e{n:04}" for n in range(1000)]
        owing = change(
            count=3000,
            owed=tuple(attempt(f"{name}.1") for name in names),
            timers=tuple(map(timer, names)),
            waits=tuple(wait(f"w-{name}") for name in names),
        )
        with store.transaction() as tx:
            tx.append([owing])
        with store.transaction() as tx:
            assert 1000 == len(tx.attempts([f"{name}.1" for name in names], lock=True))
            tx.append([change(after=3000, ended=tuple(f"{name}.1" for name in names[1:]), cleared=tuple(names[1:]))])
        with store.reading() as tx:
            assert ["e0000.1"] == [row.attempt_id for row in tx.attempts_of(["run-1"])]
            assert [timer("e0000")] == tx.timers_of("run-1")
            assert 1000 == len(tx.waits(run_id="run-1"))
            assert 3001 == len(tx.facts("run-1"))
