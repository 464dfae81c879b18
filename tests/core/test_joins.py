"""Joins: when each mode is satisfied, what fires early and what is partial (semantics 1.12)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.core.decide.joins import verdict
from orchestrator.core.facts import WorkflowBranchesJoined, WorkflowNodeSucceeded
from orchestrator.core.outcomes import Failed, Skipped
from tests.core.graphs import gathered, lines
from tests.core.world import World
from tests.definitions import action


def started(count: int, **mode: Any) -> World:
    """A run with so many branches of one action each."""
    return World.start(gathered(action("x"), **mode), lines(*(f"k{number}" for number in range(count))))


def fired(world: World) -> list[str]:
    """Through which outlets joins have fired."""
    return [fact.outlet for fact in world.facts(WorkflowBranchesJoined)]


@pytest.mark.behaviour("B75")
def test_all_is_completed_when_every_branch_has_succeeded() -> None:
    world = started(3)
    for number in range(3):
        assert [] == fired(world)
        world.answer("x", key=f"k{number}")
    assert ["completed"] == fired(world)
    assert [("after", None)] == world.scheduled()


@pytest.mark.behaviour("B76")
def test_all_with_a_failure_waits_for_every_branch_and_is_partial() -> None:
    world = started(3, mode="all")
    world.answer("x", Failed("no"), key="k0")
    world.answer("x", key="k1")
    assert [] == fired(world)
    world.answer("x", key="k2")
    assert ["partial"] == fired(world)
    assert [("rest", None)] == world.scheduled()


@pytest.mark.behaviour("B77")
def test_any_fires_at_the_first_success() -> None:
    world = started(3, mode="any")
    world.answer("x", Failed("no"), key="k0")
    assert [] == fired(world)
    world.answer("x", key="k1")
    assert ["completed"] == fired(world)
    assert ("after", None) in world.scheduled()


def test_any_without_a_success_is_partial_at_the_end() -> None:
    world = started(2, mode="any")
    world.answer("x", Failed("no"), key="k0")
    world.answer("x", Failed("no"), key="k1")
    assert ["partial"] == fired(world)


@pytest.mark.behaviour("B78")
def test_at_least_fires_at_the_threshold() -> None:
    world = started(5, mode="atLeast", threshold=3)
    for number in (4, 0):
        world.answer("x", key=f"k{number}")
    world.answer("x", Failed("no"), key="k1")
    assert [] == fired(world)
    world.answer("x", key="k2")
    assert ["completed"] == fired(world)


@pytest.mark.behaviour("B78")
def test_below_the_threshold_it_is_partial_and_never_before_the_last_branch_has_ended() -> None:
    world = started(4, mode="atLeast", threshold=3)
    for number in (0, 1):
        world.answer("x", Failed("no"), key=f"k{number}")
    world.answer("x", key="k2")
    assert [] == fired(world), "it cannot be satisfied any more, and yet it waits"
    world.answer("x", key="k3")
    assert ["partial"] == fired(world)


@pytest.mark.parametrize("threshold", (4, 1_000_000))
def test_a_threshold_above_the_number_of_branches_is_partial_at_the_end(threshold: int) -> None:
    world = started(3, mode="atLeast", threshold=threshold)
    for number in range(3):
        world.answer("x", key=f"k{number}")
    assert ["partial"] == fired(world)


def test_the_threshold_is_only_for_at_least() -> None:
    world = started(2, mode="all", threshold=1)
    world.answer("x", key="k0")
    assert [] == fired(world)


@pytest.mark.behaviour("B79")
@pytest.mark.parametrize("mode", ({"mode": "any"}, {"mode": "atLeast", "threshold": 1}))
def test_a_skipped_branch_satisfies_any_and_at_least(mode: dict[str, Any]) -> None:
    world = started(2, **mode)
    world.answer("x", Skipped("no"), key="k1")
    assert ["completed"] == fired(world)


@pytest.mark.behaviour("B85")
@pytest.mark.parametrize(
    ("mode", "outlet"),
    (
        ({}, "completed"),
        ({"mode": "all"}, "completed"),
        ({"mode": "any"}, "partial"),
        ({"mode": "atLeast", "threshold": 1}, "partial"),
    ),
)
def test_an_empty_list_fires_at_once_without_a_branch(mode: dict[str, Any], outlet: str) -> None:
    world = started(0, **mode)
    assert [outlet] == fired(world)
    assert {} == world.output("gather")
    assert [("after" if outlet == "completed" else "rest", None)] == world.scheduled()
    assert [] == world.executions("x")


def test_a_join_fires_before_its_last_branches_start_when_items_end_at_once() -> None:
    world = World.start(gathered(mode="any"), lines("a", "b"))
    assert ["completed"] == fired(world)
    assert {"a": "succeeded", "b": "succeeded"} == {key: told["status"] for key, told in world.output("gather").items()}


def test_the_join_is_visited_once_in_root_and_its_success_follows_its_firing() -> None:
    world = started(1)
    tail = world.state.tail
    world.answer("x", {"n": 1}, key="k0")
    assert ["NodeOperationCompleted", "NodeSucceeded", "BranchesJoined", "NodeSucceeded"] == world.types(tail)[:4]
    [joined] = world.facts(WorkflowBranchesJoined)
    assert ("gather", (), 1) == (joined.execution.node, joined.execution.branch, joined.execution.visit)
    assert "fan" == joined.fan_out.node
    success = world.facts(WorkflowNodeSucceeded)[-1]
    assert ("gather", "completed", tail + 3) == (success.execution.node, success.outlet, success.output_at)
    assert '{"k0":{"key":"k0","status":"succeeded","outlet":"next","output":{"n":1}}}' == joined.value


@given(st.sampled_from(("all", "any", "atLeast")), st.integers(1, 6), st.lists(st.booleans(), max_size=6))
def test_the_verdict_is_what_the_rules_say_at_every_moment(mode: str, threshold: int, ends: list[bool]) -> None:
    branches = len(ends)
    for ended in range(branches + 1):
        succeeded = sum(ends[:ended])
        holds = {"all": succeeded == branches, "any": succeeded >= 1, "atLeast": succeeded >= threshold}[mode]
        expected = "completed" if holds else "partial" if ended == branches else None
        assert expected == verdict(mode, threshold, branches=branches, succeeded=succeeded, ended=ended)
