"""Visits: arrivals are never merged, counted in each branch, and one too many fails (semantics 1.6)."""

from __future__ import annotations

import pytest

from orchestrator.core.decide.commands import AnswerAttempt
from orchestrator.core.facts import WorkflowNodeFailed, WorkflowRunFailed
from orchestrator.core.outcomes import Failed, FailureKind, Succeeded, receipt_of
from orchestrator.core.state import ExecutionStatus
from tests.core.graphs import gathered, lines, signal_wait, single, timer
from tests.core.world import World
from tests.definitions import START, action, document, for_each, join, node, visits


def two_ways_into(target: dict[str, object], *edges: str) -> dict[str, object]:
    """Two parallel paths that reach one node, one after the other."""
    ways = ("start.next>a", "start.next>b", f"a.next>{target['id']}", f"b.next>{target['id']}")
    return document(START, action("a"), action("b"), target, action("c"), edges=(*ways, *edges))


@pytest.mark.behaviour("B53")
def test_the_second_arrival_fails_and_the_first_is_untouched() -> None:
    world = World.start(two_ways_into(action("n")))
    world.answer("a")
    world.answer("b")
    first, second = world.executions("n")
    assert ExecutionStatus.SCHEDULED is first.status
    assert (ExecutionStatus.FAILED, 0) == (second.status, second.attempt)
    assert second.failure is not None
    assert FailureKind.VISIT_LIMIT_EXCEEDED is second.failure.kind
    assert "visit 2 of node 'n': maxVisits is 1" == second.failure.reason
    assert "Running" == world.status
    world.answer("n", visit=1)
    assert "Failed" == world.status
    assert ExecutionStatus.SUCCEEDED is world.execution("n", visit=1).status


@pytest.mark.behaviour("B54")
def test_too_many_visits_are_routed_nowhere() -> None:
    world = World.start(two_ways_into(action("n", "failed", "fallback"), "n.failed>c", "n.fallback>c"))
    world.answer("a")
    world.answer("b")
    assert [None] == [fact.outlet for fact in world.facts(WorkflowNodeFailed)]
    assert [("n", None)] == world.scheduled()
    world.answer("n", visit=1)
    [end] = world.facts(WorkflowRunFailed)
    assert FailureKind.VISIT_LIMIT_EXCEEDED is end.kind


@pytest.mark.behaviour("B55")
def test_a_loop_that_never_exits_is_left_after_its_visits() -> None:
    world = World.start(single(node("n", "decision", "again", policy=visits(3)), edges=("n.again>n",)))
    for visit in range(1, 4):
        assert visit == world.execution("n").ref.visit
        world.answer("n", Succeeded("again"))
    assert "Failed" == world.status
    assert 3 + 1 == len(world.executions("n"))


@pytest.mark.behaviour("B56")
def test_each_branch_has_its_own_count() -> None:
    world = World.start(gathered(action("x")), lines("a", "b", "c", "d", "e"))
    for key in "abcde":
        assert 1 == world.execution("x", key).ref.visit
        world.answer("x", key=key)
    assert [("after", None)] == world.scheduled()


def test_root_and_branches_count_apart() -> None:
    given = document(START, action("x"), for_each(), join(), edges=("start.next>x", "start.next>fan", "fan.each>x"))
    world = World.start(given, lines("k1"))
    assert [("x", None), ("x", "k1")] == world.scheduled()


def test_arrivals_are_never_merged() -> None:
    world = World.start(two_ways_into(action("n", policy=visits(2)), "n.next>c"))
    world.answer("a")
    world.answer("b")
    assert [1, 2] == [execution.ref.visit for execution in world.executions("n")]
    world.answer("n", {"n": 1}, visit=1)
    assert {"n": 1} == world.input("c")["nodes"]["n"]
    world.answer("n", {"n": 2}, visit=2)
    assert [ExecutionStatus.SCHEDULED, ExecutionStatus.FAILED] == [e.status for e in world.executions("c")]


@pytest.mark.parametrize("target", (signal_wait("n"), timer("n"), node("n", "approval", "approved")))
def test_the_limit_holds_for_waits_and_approvals_too(target: dict[str, object]) -> None:
    world = World.start(two_ways_into(target))
    world.answer("a")
    world.answer("b")
    first, second = world.executions("n")
    assert (ExecutionStatus.WAITING, ExecutionStatus.FAILED) == (first.status, second.status)
    assert 1 == len(world.state.waits)


def test_a_for_each_above_its_visits_fails_and_fans_out_nothing() -> None:
    given = document(
        START,
        action("a"),
        action("b"),
        for_each(),
        action("x"),
        join(),
        edges=("start.next>a", "start.next>b", "a.next>fan", "b.next>fan", "fan.each>x", "x.next>gather"),
    )
    world = World.start(given, lines("k1"))
    world.answer("a")
    world.answer("b")
    assert [ExecutionStatus.SUCCEEDED, ExecutionStatus.FAILED] == [e.status for e in world.executions("fan")]
    assert 1 == len(world.state.fan_outs)
    world.answer("x", key="k1")
    assert "Failed" == world.status


@pytest.mark.parametrize("limit", (1, 2))
def test_a_join_above_its_visits_fails_and_its_fan_out_counts_as_joined(limit: int) -> None:
    given = document(
        START,
        action("a"),
        action("b"),
        for_each(policy=visits(2)),
        action("x"),
        join(policy=visits(limit)),
        action("after", policy=visits(2)),
        edges=(
            "start.next>a",
            "start.next>b",
            "a.next>fan",
            "b.next>fan",
            "fan.each>x",
            "x.next>gather",
            "gather.completed>after",
        ),
    )
    world = World.start(given, lines("k1"))
    world.answer("a")
    world.answer("b")
    first, second = (e for e in world.state.executions.values() if e.ref.node == "x")
    for execution in sorted((first, second), key=lambda e: e.born):
        world.tell(AnswerAttempt(execution.ref.id, 1, receipt_of({})))
    assert all(fan_out.joined for fan_out in world.state.fan_outs.values())
    statuses = [e.status for e in world.executions("gather")]
    assert [ExecutionStatus.SUCCEEDED, ExecutionStatus.SUCCEEDED if limit == 2 else ExecutionStatus.FAILED] == statuses
    for _ in range(limit):
        [waiting, *_] = [e for e in world.executions("after") if e.status is ExecutionStatus.SCHEDULED]
        world.answer("after", visit=waiting.ref.visit)
    assert ("Succeeded" if limit == 2 else "Failed") == world.status


def test_two_fan_outs_of_one_for_each_keep_their_branches_apart() -> None:
    given = gathered(
        action("x"),
        fan={"policy": visits(2)},
        gather={"policy": visits(2)},
        edges=("fan.each>x", "x.next>gather", "gather.partial>fan"),
    )
    given["graph"]["edges"] = [e for e in given["graph"]["edges"] if e["to"] != "rest"]
    world = World.start(given, lines("k1"))
    world.answer("x", Failed("no"), key="k1")
    first, second = (e for e in sorted(world.state.executions.values(), key=lambda e: e.born) if e.ref.node == "x")
    assert (1, 2) == (first.ref.branch[0].visit, second.ref.branch[0].visit)
    assert (1, 1) == (first.ref.visit, second.ref.visit)
    assert {} == world.input("x", "k1")["failures"]
    world.answer("x", key="k1")
    assert [("after", None)] == world.scheduled()


def test_the_bound_is_of_one_fan_out_not_of_all_visits_of_the_node() -> None:
    given = document(
        START,
        action("a"),
        action("b"),
        for_each(policy=visits(2)),
        action("x"),
        join(policy=visits(2)),
        edges=("start.next>a", "start.next>b", "a.next>fan", "b.next>fan", "fan.each>x", "x.next>gather"),
    )
    world = World.start(given, lines("k1", "k2"))
    world.answer("a")
    world.answer("b")
    assert [("x", "k1"), ("x", "k1")] == world.scheduled()
