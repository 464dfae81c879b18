"""Lists and look-ups of runs and waits, and the uniqueness of completion keys."""

from __future__ import annotations

from typing import Any

import pytest

from orchestrator.errors import Conflict
from orchestrator.ports.records import RunRow
from orchestrator.ports.store import RunFilter, Store, Transaction
from tests.store.rows import NOW, at, change, run, wait

#: At most 255 bytes, and nothing that SQL, JSON or a path could mistake.
HARD_IDS = (
    "a/b//../c?d=e&f#g",
    'it\'s "quoted" \\ back',
    "%s %(x)s :name ? {0} $1 --;",
    "📦" * 63 + "abc",
    "x" * 255,
    "\u0001\t\n\x7f",
    "null",
    "1.0",
)


def completion(wait_id: str, key: str, **other: Any) -> Any:
    return wait(wait_id, kind="completion", key=key, **other)


class ReadModelPromises:
    @pytest.mark.parametrize("id", HARD_IDS)
    def test_ids_of_every_kind_are_kept(self, store: Store, id: str) -> None:
        words: dict[str, Any] = {
            "scope": id,
            "workflow": id,
            "key": id,
            "subject_kind": id,
            "subject_id": id,
            "correlation": id,
        }
        waiting = completion("w1", id, scope=id, node=id, branch_key=id, actor=id, outlet=id)
        with store.transaction() as tx:
            tx.append([change(row=words, waits=(waiting,))])
        with store.reading() as tx:
            assert run(**words) == tx.run("run-1")
            which = RunFilter(scope=id, workflow=id, subject_kind=id, subject_id=id)
            assert [run(**words)] == tx.runs(which, limit=10)
            assert waiting == tx.wait("w1")
            assert waiting == tx.wait_by_key(id, id)
            assert {id: "execution-of-w1"} == tx.open_keys(id, [id, "other"])

    def test_every_field_of_a_wait_is_kept(self, store: Store) -> None:
        opened = wait(signal_id="paid", signal_version=2**40, deadline=at(60), branch_key="k1", kind="signal")
        with store.transaction() as tx:
            tx.append([change(waits=(opened,))])
            assert opened == tx.wait("w1")
            closed = wait(status="closed", outlet="approved", actor="ada", closed_at=at(5))
            tx.append([change(after=1, waits=(closed,))])
            assert closed == tx.wait("w1")
            assert tx.wait("gone") is None

    def test_runs_come_newest_first_in_stable_pages(self, store: Store) -> None:
        rows = [run(f"{letter}{n}", started_at=at(n)) for n in range(3) for letter in ("a", "B", "ä")]
        with store.transaction() as tx:
            tx.append([change(row.run_id, row={"started_at": row.started_at}) for row in rows])
        newest_first = sorted(rows, key=lambda row: (row.started_at, row.run_id), reverse=True)
        with store.reading() as tx:
            assert newest_first == pages(tx, RunFilter(), 2)
            assert newest_first == pages(tx, RunFilter(), 100)
            assert newest_first[:6] == pages(tx, RunFilter(since=at(1)), 4)

    @pytest.mark.parametrize(
        ("which", "expected"),
        (
            (RunFilter(), "edcba"),
            (RunFilter(scope="default"), "dcba"),
            (RunFilter(scope="north"), "e"),
            (RunFilter(workflow="orders"), "eca"),
            (RunFilter(status="Waiting"), "db"),
            (RunFilter(scope="default", workflow="orders", status="Running"), "ca"),
            (RunFilter(subject_kind="order"), "ba"),
            (RunFilter(subject_kind="order", subject_id="1"), "a"),
            (RunFilter(scope="south"), ""),
        ),
    )
    def test_runs_are_filtered(self, store: Store, which: RunFilter, expected: str) -> None:
        order = {"subject_kind": "order"}
        with store.transaction() as tx:
            for seconds, (id, row) in enumerate(
                {
                    "a": {**order, "subject_id": "1"},
                    "b": {**order, "subject_id": "2", "workflow": "returns", "status": "Waiting"},
                    "c": {},
                    "d": {"workflow": "returns", "status": "Waiting"},
                    "e": {"scope": "north"},
                }.items()
            ):
                tx.append([change(id, row={**row, "started_at": at(seconds)})])
        with store.reading() as tx:
            assert expected == "".join(row.run_id for row in tx.runs(which, limit=10))

    def test_runs_are_counted_by_status(self, store: Store) -> None:
        with store.transaction() as tx:
            tx.append([change(id) for id in "ab"])
            tx.append([change("c", row={"status": "Failed"}), change("d", row={"scope": "north"})])
        with store.reading() as tx:
            assert {"Running": 3, "Failed": 1} == dict(tx.count_runs())
            assert {"Running": 2, "Failed": 1} == dict(tx.count_runs("default"))
            assert {} == dict(tx.count_runs("south"))

    def test_ids_of_all_runs_come_in_order_and_in_pages(self, store: Store) -> None:
        ids = ["b", "a", "B", "ä", "a/b"]
        with store.transaction() as tx:
            tx.append([change(id) for id in ids])
        with store.reading() as tx:
            assert sorted(ids) == tx.run_ids()
            assert sorted(ids)[:2] == tx.run_ids(limit=2)
            assert sorted(ids)[2:] == tx.run_ids(after=sorted(ids)[1])

    def test_open_waits_come_oldest_first_in_stable_pages(self, store: Store) -> None:
        rows = [wait(f"{letter}{n}", opened_at=at(n)) for n in range(3) for letter in ("a", "B", "ä")]
        closed = wait("0", status="withdrawn", closed_at=NOW)
        with store.transaction() as tx:
            tx.append([change(waits=(*rows, closed))])
        oldest_first = sorted(rows, key=lambda row: (row.opened_at, row.wait_id))
        with store.reading() as tx:
            found, last = [], None
            while page := tx.waits(limit=2, after=last):
                found += page
                last = (page[-1].opened_at, page[-1].wait_id)
            assert oldest_first == found
            assert [closed] == [row for row in tx.waits(open_only=False) if row.status != "open"]

    def test_waits_are_filtered(self, store: Store) -> None:
        with store.transaction() as tx:
            tx.append([change(waits=(wait("a"), wait("b", kind="signal"), wait("c", status="closed", closed_at=NOW)))])
            tx.append([change("run-2", waits=(wait("d", "run-2", scope="north"),))])
        with store.reading() as tx:
            filters: dict[str, dict[str, Any]] = {
                "abd": {},
                "ab": {"scope": "default"},
                "d": {"run_id": "run-2"},
                "b": {"kind": "signal"},
                "a": {"scope": "default", "kind": "approval", "run_id": "run-1"},
                "": {"scope": "south"},
            }
            for expected, which in filters.items():
                assert expected == "".join(row.wait_id for row in tx.waits(**which))
            assert "abc" == "".join(row.wait_id for row in tx.waits(run_id="run-1", open_only=False))

    def test_a_key_finds_the_open_wait_before_closed_ones(self, store: Store) -> None:
        with store.transaction() as tx:
            closed = [completion(id, "k", status="closed", closed_at=at(n)) for n, id in enumerate("cba")]
            tx.append([change(waits=tuple(closed))])
            assert closed[2] == tx.wait_by_key("default", "k")
            tx.append([change(after=1, waits=(completion("z", "k", opened_at=at(-9)),))])
            assert completion("z", "k", opened_at=at(-9)) == tx.wait_by_key("default", "k")
            assert tx.wait_by_key("north", "k") is None
            assert tx.wait_by_key("default", "other") is None

    def test_an_open_key_is_unique_in_its_scope(self, store: Store) -> None:
        with store.transaction() as tx:
            tx.append([change(waits=(completion("w1", "k"),))])
        with pytest.raises(Conflict), store.transaction() as tx:
            tx.append([change("run-2", waits=(completion("w2", "k", run_id="run-2"),))])
        with store.transaction() as tx:
            assert (None, None) == (tx.wait("w2"), tx.run("run-2"))
            tx.append([change("run-2", waits=(completion("w3", "k", run_id="run-2", scope="north"),))])
            assert {"k": "execution-of-w1"} == tx.open_keys("default", ["k"])
            assert {} == tx.open_keys("default", [])

    def test_a_key_that_was_closed_is_free_again(self, store: Store) -> None:
        with store.transaction() as tx:
            tx.append([change(waits=(completion("w1", "k"),))])
            tx.append([change(after=1, waits=(completion("w1", "k", status="closed", closed_at=NOW),))])
            assert {} == tx.open_keys("default", ["k"])
            tx.append([change("run-2", waits=(completion("w2", "k", run_id="run-2"),))])
            assert {"k": "execution-of-w2"} == tx.open_keys("default", ["k"])

    def test_a_key_may_change_hands_in_one_append(self, store: Store) -> None:
        with store.transaction() as tx:
            tx.append([change(waits=(completion("w1", "k"),)), change("run-2")])
            taking = change("run-2", after=1, waits=(completion("w2", "k", run_id="run-2"),))
            giving = change(after=1, waits=(completion("w1", "k", status="withdrawn", closed_at=NOW),))
            tx.append([taking, giving])
            assert {"k": "execution-of-w2"} == tx.open_keys("default", ["k"])


def pages(tx: Transaction, which: RunFilter, limit: int) -> list[RunRow]:
    found: list[RunRow] = []
    before = None
    while page := tx.runs(which, limit=limit, before=before):
        found += page
        before = (page[-1].started_at, page[-1].run_id)
    return found
