"""Fan-outs: which items become branches, how many work at once and in what order, and when a branch has ended (2.5)."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from orchestrator.core.facts import (
    WorkflowBranchesFannedOut,
    WorkflowNodeFailed,
    WorkflowNodeScheduled,
    WorkflowNodeSucceeded,
)
from orchestrator.core.outcomes import Ambiguous, Failed, FailureKind, Skipped, Succeeded, Suspended
from orchestrator.core.state import ExecutionStatus
from tests.core.graphs import chain, gathered, lines, signal_wait, single, timer, tries
from tests.core.world import DAWN, World
from tests.definitions import START, action, document, for_each, join, node, visits


def report(world: World, key: str) -> tuple[str, str | None, Any]:
    """What the join says of a branch: status, outlet, output."""
    told = world.output("gather")[key]
    assert key == told["key"]
    return told["status"], told["outlet"], told["output"]


# --- the items --------------------------------------------------------------------------------------------------------


@pytest.mark.behaviour("B73")
@pytest.mark.parametrize(
    "items",
    (
        [{"no": "key"}],
        [{"key": ""}],
        [{"key": None}],
        [{"key": 7}],
        [{"key": "a"}, {"key": "a"}],
        [{"key": "x" * 256}],
        ["text"],
        [["key", "a"]],
        [{"key": "a"}, None],
    ),
)
def test_an_item_without_a_good_key_of_its_own_is_invalid_output(items: list[object]) -> None:
    given = gathered(
        action("x"),
        fan={"outlets": ("each", "failed")},
        edges=("fan.each>x", "x.next>gather", "fan.failed>z"),
        others=[action("z")],
    )
    world = World.start(given, {"lines": items})
    [failed] = world.facts(WorkflowNodeFailed)
    assert ("fan", FailureKind.INVALID_OUTPUT, "failed") == (failed.execution.node, failed.kind, failed.outlet)
    assert [] == world.facts(WorkflowBranchesFannedOut)
    assert [("z", None)] == world.scheduled()


@pytest.mark.behaviour("B74")
@pytest.mark.parametrize("payload", ({}, {"lines": None}, {"lines": {"key": "a"}}, {"lines": "abc"}, [1], 7, "lines"))
def test_a_property_that_is_missing_or_no_list_is_invalid_output(payload: object) -> None:
    given = gathered(
        action("x"),
        fan={"outlets": ("each", "fallback", "failed")},
        edges=("fan.each>x", "x.next>gather", "fan.failed>y", "fan.fallback>z"),
        others=[action("y"), action("z")],
    )
    world = World.start(given, payload)
    [failed] = world.facts(WorkflowNodeFailed)
    assert (FailureKind.INVALID_OUTPUT, "fallback") == (failed.kind, failed.outlet)
    assert [("z", None)] == world.scheduled()


@pytest.mark.behaviour("B74")
def test_items_of_a_node_that_never_ran_are_invalid_output_and_unrouted_here() -> None:
    given = document(
        START,
        action("never"),
        for_each(configuration={"itemsFrom": "never"}),
        join(),
        edges=("start.next>fan", "fan.each>gather"),
    )
    world = World.start(given)
    assert "Failed" == world.status
    assert "has not succeeded" in world.facts(WorkflowNodeFailed)[0].reason


def test_items_come_from_the_output_of_any_node() -> None:
    given = document(
        START,
        action("a"),
        for_each(configuration={"itemsFrom": "a", "itemsProperty": "found"}),
        action("x"),
        join(),
        edges=("start.next>a", "a.next>fan", "fan.each>x", "x.next>gather"),
    )
    world = World.start(given)
    world.answer("a", {"found": [{"key": "k1", "large": "x" * 2_000}]})
    assert {"key": "k1", "large": "x" * 2_000} == world.input("x", "k1")["item"]


def test_the_items_are_pinned_whatever_their_source_does_later() -> None:
    given = document(
        START,
        action("a", policy=visits(2)),
        for_each(configuration={"itemsFrom": "a", "maxParallelism": 1}),
        action("x"),
        join(),
        edges=("start.next>a", "a.next>fan", "fan.each>x", "x.next>gather"),
    )
    world = World.start(given)
    world.answer("a", lines("k1", "k2", v=1))
    world.answer("x", key="k1")
    assert {"key": "k2", "v": 1} == world.input("x", "k2")["item"]
    [fanned] = world.facts(WorkflowBranchesFannedOut)
    assert '[{"key":"k1","v":1},{"key":"k2","v":1}]' == fanned.value


def test_keys_are_free_text() -> None:
    keys = ("ä ö", '"quoted"', "a/b", "0", " ", "\\", "\U0001f600")
    world = World.start(gathered(action("x"), bound=99), lines(*keys))
    for key in keys:
        world.answer("x", key=key)
    assert list(keys) == list(world.output("gather"))


def test_the_output_of_a_for_each_is_empty_and_its_outlet_is_each() -> None:
    world = World.start(gathered(action("x")), lines("k1"))
    [success] = [f for f in world.facts(WorkflowNodeSucceeded) if f.execution.node == "fan"]
    assert ("each", None) == (success.outlet, success.output_at)
    assert {} == world.output("fan")


# --- the bound --------------------------------------------------------------------------------------------------------


@pytest.mark.behaviour("B71")
def test_never_more_than_the_bound_are_scheduled_at_once() -> None:
    keys = [f"k{number}" for number in range(10)]
    world = World.start(gathered(action("x"), action("y"), bound=4), lines(*keys))
    most = 0
    while work := [(node, key) for node, key in world.scheduled() if node in ("x", "y")]:
        most = max(most, len(work))
        node, key = work[-1]
        world.answer(node, key=key)
    assert 4 == most
    assert [("after", None)] == world.scheduled()


@pytest.mark.behaviour("B72")
@pytest.mark.parametrize("bound", (0, -1, 1, None))
def test_a_bound_below_one_or_none_counts_as_one(bound: int | None) -> None:
    world = World.start(gathered(action("x"), bound=bound), lines("k1", "k2"))
    assert [("x", "k1")] == world.scheduled()
    world.answer("x", key="k1")
    assert [("x", "k2")] == world.scheduled()


def test_with_a_bound_of_one_the_items_go_one_after_another() -> None:
    world = World.start(gathered(action("x"), action("y"), bound=1), lines("k1", "k2"))
    order = []
    while "after" not in [node for node, _ in world.scheduled()]:
        [(node, key)] = world.scheduled()
        order.append((node, key))
        world.answer(node, key=key)
    assert [("x", "k1"), ("y", "k1"), ("x", "k2"), ("y", "k2")] == order


def test_a_freed_slot_goes_to_the_earliest_item_and_within_it_to_the_oldest() -> None:
    given = gathered(
        action("x"),
        action("y"),
        action("z"),
        bound=2,
        edges=("fan.each>x", "x.next>y", "x.next>z", "y.next>gather", "z.next>gather"),
    )
    world = World.start(given, lines("k1", "k2", "k3"))
    assert [("x", "k1"), ("x", "k2")] == world.scheduled()
    world.answer("x", key="k2")
    assert [("x", "k1"), ("y", "k2")] == world.scheduled()
    world.answer("x", key="k1")
    assert [("y", "k2"), ("y", "k1")] == world.scheduled()
    world.answer("y", key="k2")
    assert [("y", "k1"), ("z", "k1")] == world.scheduled()
    world.answer("y", key="k1")
    assert [("z", "k2"), ("z", "k1")] == world.scheduled()


@pytest.mark.behaviour("B86")
def test_a_long_wait_holds_no_slot() -> None:
    given = gathered(
        node("d", "decision", "wait", "go"),
        signal_wait("w"),
        action("x"),
        bound=1,
        edges=("fan.each>d", "d.wait>w", "d.go>x", "w.resumed>gather", "x.next>gather"),
    )
    world = World.start(given, lines("k1", "k2"))
    world.answer("d", Succeeded("wait"), key="k1")
    assert [("d", "k2")] == world.scheduled()
    world.answer("d", Succeeded("go"), key="k2")
    world.answer("x", key="k2")
    assert "Waiting" == world.status
    world.signal("paid@1")
    assert [("after", None)] == world.scheduled()


def test_a_retry_that_waits_holds_no_slot_and_when_it_is_due_it_is_as_old_as_its_execution() -> None:
    world = World.start(gathered(action("x", policy=tries(2)), bound=1), lines("k1", "k2", "k3"))
    world.answer("x", Failed("no"), key="k1")
    assert [("x", "k2")] == world.scheduled()
    world.wake(minutes=5)
    assert [("x", "k2")] == world.scheduled(), "due, and no slot is free"
    world.answer("x", key="k2")
    assert [("x", "k1")] == world.scheduled(), "before the third item, which never started"
    world.answer("x", key="k1")
    assert [("x", "k3")] == world.scheduled()


def test_a_retry_of_a_later_item_comes_after_what_is_pending_of_an_earlier_one() -> None:
    given = gathered(action("x", policy=tries(2)), action("y"), bound=2)
    world = World.start(given, lines("k1", "k2"))
    world.answer("x", Failed("no"), key="k2")
    world.now += timedelta(seconds=30)
    world.answer("x", key="k1")
    assert [("x", "k2"), ("y", "k1")] == world.scheduled(), "both slots are free"
    world = World.start(gathered(action("x", policy=tries(2)), action("y"), bound=1), lines("k1", "k2"))
    world.answer("x", Failed("no"), key="k1")
    world.answer("x", Failed("no"), key="k2")
    world.wake(seconds=30)
    world.answer("x", key="k1")
    assert [("y", "k1")] == world.scheduled(), "the earliest item first, though the retry is older"


def test_a_stopped_job_is_due_again_in_its_old_place() -> None:
    world = World.start(gathered(action("x", policy=tries(1, retryDelay="00:00:00")), bound=1), lines("k1", "k2"))
    world.stop("x", key="k1")
    assert [("x", "k1")] == world.scheduled()


def test_root_has_no_bound() -> None:
    nodes = [action(f"a{number}") for number in range(20)]
    world = World.start(document(START, *nodes, edges=[f"start.next>{each['id']}" for each in nodes]))
    assert 20 == len(world.scheduled())


def test_two_fan_outs_side_by_side_have_a_bound_each() -> None:
    given = document(
        START,
        for_each("f1"),
        action("x"),
        join("j1", "f1"),
        for_each("f2", configuration={"maxParallelism": 2}),
        action("y"),
        join("j2", "f2"),
        edges=("start.next>f1", "start.next>f2", "f1.each>x", "x.next>j1", "f2.each>y", "y.next>j2"),
    )
    world = World.start(given, lines("a", "b", "c"))
    assert [("x", "a"), ("y", "a"), ("y", "b")] == sorted(world.scheduled())


def test_fan_outs_one_after_another() -> None:
    given = document(
        START,
        for_each("f1"),
        action("x"),
        join("j1", "f1"),
        for_each("f2"),
        action("y"),
        join("j2", "f2"),
        action("end"),
        edges=(
            "start.next>f1",
            "f1.each>x",
            "x.next>j1",
            "j1.completed>f2",
            "f2.each>y",
            "y.next>j2",
            "j2.completed>end",
        ),
    )
    world = World.start(given, lines("a"))
    world.answer("x", {"n": 1}, key="a")
    assert "x" not in world.input("y", "a")["nodes"]
    assert {"n": 1} == world.input("y", "a")["nodes"]["j1"]["a"]["output"]
    world.answer("y", key="a")
    assert [("end", None)] == world.scheduled()


# --- how a branch ends ------------------------------------------------------------------------------------------------


@pytest.mark.behaviour("B80")
def test_a_branch_says_how_it_ended_and_with_which_output() -> None:
    world = World.start(gathered(action("x")), lines("a", "b", "c"))
    world.answer("x", {"n": 1}, key="a")
    world.answer("x", Failed("no"), key="b")
    world.answer("x", Skipped("no"), key="c")
    assert {
        "a": {"key": "a", "status": "succeeded", "outlet": "next", "output": {"n": 1}},
        "b": {"key": "b", "status": "failed", "outlet": None, "output": None},
        "c": {"key": "c", "status": "skipped", "outlet": None, "output": None},
    } == world.output("gather")
    assert ["a", "b", "c"] == list(world.output("gather")), "in the order of the items"


def test_a_failed_or_skipped_branch_shows_its_last_success() -> None:
    world = World.start(gathered(action("x"), action("y")), lines("a", "b"))
    for key in "ab":
        world.answer("x", {"of": key}, key=key)
    world.answer("y", Failed("no"), key="a")
    world.answer("y", Skipped("no"), key="b")
    assert ("failed", "next", {"of": "a"}) == report(world, "a")
    assert ("skipped", "next", {"of": "b"}) == report(world, "b")


@pytest.mark.behaviour("B79")
def test_a_skipped_branch_counts_as_a_success() -> None:
    world = World.start(gathered(action("x")), lines("a", "b"))
    world.answer("x", Skipped("no"), key="a")
    world.answer("x", key="b")
    assert [("after", None)] == world.scheduled()


@pytest.mark.behaviour("B81")
def test_an_unrouted_failure_in_a_branch_does_not_fail_the_run() -> None:
    world = World.start(gathered(action("x")), lines("a"))
    world.answer("x", Failed("no"), key="a")
    world.answer("rest")
    assert "Succeeded" == world.status


@pytest.mark.behaviour("B82")
def test_a_failure_that_the_branch_handles_is_a_success() -> None:
    given = gathered(
        action("x", "failed"),
        action("mend"),
        edges=("fan.each>x", "x.next>gather", "x.failed>mend", "mend.next>gather"),
    )
    world = World.start(given, lines("a"))
    world.answer("x", Failed("no"), key="a")
    world.answer("mend", {"ok": True}, key="a")
    assert ("succeeded", "next", {"ok": True}) == report(world, "a")
    assert [("after", None)] == world.scheduled()


def test_a_failure_routed_to_the_join_has_an_outlet_and_no_output() -> None:
    given = gathered(action("x"), action("y", "failed"), edges=("fan.each>x", "x.next>y", "y.failed>gather"))
    world = World.start(given, lines("a"))
    world.answer("x", {"n": 1}, key="a")
    world.answer("y", Failed("no"), key="a")
    assert ("succeeded", "failed", None) == report(world, "a")


def test_an_each_edge_straight_into_the_join_ends_the_branch_as_succeeded_with_nulls() -> None:
    world = World.start(gathered(), lines("a", "b"))
    assert ("succeeded", None, None) == report(world, "a") == report(world, "b")
    assert [("after", None)] == world.scheduled()


def test_each_declared_and_not_connected_ends_every_branch_as_succeeded() -> None:
    world = World.start(gathered(action("x"), edges=()), lines("a"))
    assert ("succeeded", None, None) == report(world, "a")
    assert [("after", None)] == world.scheduled()


def test_each_may_lead_to_the_join_and_to_work_beside_it() -> None:
    given = gathered(action("x"), edges=("fan.each>x", "fan.each>gather"))
    world = World.start(given, lines("a"))
    assert [("x", "a")] == world.scheduled(), "the branch has not ended while something of it is live"
    world.answer("x", {"n": 1}, key="a")
    assert ("succeeded", None, None) == report(world, "a"), "what reached the join counts, not the last success"


def test_parallel_paths_of_a_branch_all_end_before_it_has_ended() -> None:
    given = gathered(
        action("x"), action("y"), edges=("fan.each>x", "fan.each>y", "x.next>gather", "y.next>gather"), mode="any"
    )
    world = World.start(given, lines("a"))
    world.answer("y", {"from": "y"}, key="a")
    assert [("x", "a")] == world.scheduled()
    world.answer("x", {"from": "x"}, key="a")
    assert ("succeeded", "next", {"from": "x"}) == report(world, "a"), "the latest that reached the join"


@pytest.mark.parametrize(("first", "status"), (("x", "succeeded"), ("y", "skipped")))
def test_a_branch_is_skipped_when_its_last_path_ended_skipped(first: str, status: str) -> None:
    given = gathered(action("x"), action("y"), edges=("fan.each>x", "fan.each>y", "x.next>gather", "y.next>gather"))
    world = World.start(given, lines("a"))
    outcomes = {"x": Skipped("no"), "y": {"n": 1}}
    for name in (first, "y" if first == "x" else "x"):
        world.answer(name, outcomes[name], key="a")
    assert (status, "next", {"n": 1}) == report(world, "a")


def test_a_path_that_ends_in_the_open_ends_the_branch_with_its_last_success() -> None:
    given = gathered(action("x"), node("d", "decision", "stop"), edges=("fan.each>x", "x.next>d"))
    world = World.start(given, lines("a"))
    world.answer("x", key="a")
    world.answer("d", Succeeded("stop", {"n": 2}), key="a")
    assert ("succeeded", "stop", {"n": 2}) == report(world, "a")


def test_an_unrouted_failure_on_one_path_fails_the_branch_when_the_others_have_ended() -> None:
    given = gathered(action("x"), action("y"), edges=("fan.each>x", "fan.each>y", "x.next>gather", "y.next>gather"))
    world = World.start(given, lines("a"))
    world.answer("x", Failed("no"), key="a")
    assert [("y", "a")] == world.scheduled(), "the other path of the branch runs on"
    world.answer("y", {"n": 1}, key="a")
    assert ("failed", "next", {"n": 1}) == report(world, "a")


def test_too_many_visits_in_a_branch_fail_that_branch_only() -> None:
    given = gathered(action("x"), action("y"), edges=("fan.each>x", "fan.each>y", "x.next>y", "y.next>gather"))
    world = World.start(given, lines("a"))
    world.answer("x", key="a")
    world.answer("y", key="a", visit=1)
    assert "failed" == report(world, "a")[0]
    assert [("rest", None)] == world.scheduled()


def test_a_branch_may_hold_waits_timers_and_suspensions() -> None:
    world = World.start(gathered(signal_wait("w"), timer("t"), action("x"), bound=1), lines("a", "b"))
    world.signal("paid@1")
    world.wake(minutes=1)
    world.answer("x", Suspended("s"), key="a")
    world.answer("x", key="b")
    world.complete("x", {"n": 1}, key="a")
    assert ("succeeded", "next", {"n": 1}) == report(world, "a")


def test_a_branch_with_an_ambiguous_execution_has_not_ended() -> None:
    world = World.start(gathered(action("x")), lines("a"))
    world.answer("x", Ambiguous("?"), key="a")
    assert [] == world.executions("gather")
    world.reconcile("x", {"n": 1}, key="a")
    assert ("succeeded", "next", {"n": 1}) == report(world, "a")


def test_large_outputs_of_branches_and_joins_are_read_where_they_are_kept() -> None:
    world = World.start(gathered(action("x")), lines("a", "b"))
    for key in "ab":
        world.answer("x", {"large": key * 600}, key=key)
    assert {"large": "b" * 600} == world.output("gather")["b"]["output"]
    assert {"large": "a" * 600} == world.input("after")["nodes"]["gather"]["a"]["output"]
    world.answer("after")
    assert {"large": "a" * 600} == world.snapshot().executions_of("gather")[0].output["a"]["output"]


def test_a_for_each_over_the_output_of_a_join() -> None:
    """A join's output is an object by key, so its items are missing: told as what it is."""
    given = chain(action("a"), for_each(configuration={"itemsFrom": "a", "itemsProperty": "lines"}))
    given["graph"]["nodes"].append(join())
    world = World.start(given)
    world.answer("a", {"lines": [{"key": "k"}]})
    assert "Succeeded" == world.status


def test_scheduled_facts_come_in_the_order_of_the_items() -> None:
    world = World.start(gathered(action("x"), bound=3), lines("c", "a", "b"))
    assert ["c", "a", "b"] == [fact.execution.branch[0].key for fact in world.facts(WorkflowNodeScheduled)]


def test_a_timer_in_a_branch_counts_from_its_arrival() -> None:
    world = World.start(gathered(action("x"), timer("t", "00:01:00"), bound=1), lines("a", "b"))
    world.answer("x", key="a")
    world.now += timedelta(seconds=40)
    world.answer("x", key="b")
    assert DAWN + timedelta(seconds=60) == world.wait("t", "a").deadline
    assert DAWN + timedelta(seconds=100) == world.wait("t", "b").deadline
    assert ExecutionStatus.WAITING is world.execution("t", "a").status


def test_one_item_is_a_fan_out_too() -> None:
    world = World.start(single(for_each(), action("x"), join(), edges=("fan.each>x", "x.next>gather")), lines("only"))
    world.answer("x", key="only")
    assert "Succeeded" == world.status
