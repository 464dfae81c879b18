"""What a performer gets, and which outputs it sees (B28–B35)."""

from __future__ import annotations

from typing import Any

import pytest

from orchestrator.core.data import load
from orchestrator.core.outcomes import Failed, Succeeded
from orchestrator.engine.work import Work
from tests.behaviours.stage import Stage
from tests.definitions import START, action, document, for_each, join, node, visits

LINES = {"lines": [{"key": "k1", "n": 1}, {"key": "k2", "n": 2}]}


def given(work: Work) -> Any:
    return load(work.input)


@pytest.mark.behaviour("B28")
def test_the_input_holds_the_trigger_the_nodes_the_failures_and_the_item(stored: Stage) -> None:
    stored.publish(document(START, action("work"), edges=("start.next>work",)))
    stored.orchestrator.start("test", {"a": 1}, subject=("order", "10248"), correlation="c-1")
    stored.simulation.settle()
    [work] = stored.simulation.performed
    assert {
        "trigger": {"payload": {"a": 1}, "subject": {"kind": "order", "id": "10248"}, "correlation": "c-1"},
        "nodes": {"start": {"a": 1}},
        "failures": {},
        "item": None,
    } == given(work)


@pytest.mark.behaviour("B29")
def test_a_node_sees_the_output_of_what_succeeded_before_it_and_the_failure_of_what_failed(stage: Stage) -> None:
    stage.play(
        document(
            START,
            action("a"),
            action("broken", "failed"),
            action("b"),
            edges=("start.next>a", "a.next>broken", "broken.failed>b"),
        ),
        a={"x": 1},
        broken=Failed("out of stock", code="NO_STOCK", retryable=False),
    )
    [work] = stage.calls("b")
    assert {"x": 1} == given(work)["nodes"]["a"]
    assert "broken" not in given(work)["nodes"]
    assert {"broken": {"kind": "Error", "code": "NO_STOCK", "reason": "out of stock"}} == given(work)["failures"]


def fan(*body: dict[str, Any], edges: tuple[str, ...], **more: Any) -> dict[str, Any]:
    return document(START, for_each(configuration={"maxParallelism": 5}), *body, join(), edges=edges, **more)


@pytest.mark.behaviour("B30")
@pytest.mark.behaviour("B35")
def test_a_branch_sees_its_own_outputs_and_item_and_never_those_of_another(stored: Stage) -> None:
    stored.play(
        fan(
            action("x"),
            action("y"),
            edges=("start.next>fan", "fan.each>x", "x.next>y", "y.next>gather"),
        ),
        LINES,
        x=lambda call: {"of": call.input["item"]["key"]},
    )
    seen = {given(work)["item"]["key"]: given(work)["nodes"]["x"] for work in stored.calls("y")}
    assert {"k1": {"of": "k1"}, "k2": {"of": "k2"}} == seen
    assert [{"key": "k1", "n": 1}, {"key": "k2", "n": 2}] == [given(work)["item"] for work in stored.calls("x")]


@pytest.mark.behaviour("B31")
def test_a_branch_sees_what_ran_in_root_and_its_own_first(stage: Stage) -> None:
    # `x` is reached in root before the fan-out and again in each branch.
    stage.play(
        document(
            START,
            action("x"),
            node("pick", "decision", "fan-out", "end"),
            for_each(),
            action("y"),
            join(),
            edges=("start.next>x", "x.next>pick", "pick.fan-out>fan", "fan.each>y", "y.next>gather"),
        ),
        LINES,
        x={"from": "root"},
        pick=Succeeded("fan-out"),
    )
    assert [{"from": "root"}] * 2 == [given(work)["nodes"]["x"] for work in stage.calls("y")]


@pytest.mark.behaviour("B31")
def test_a_branch_sees_its_own_output_of_a_node_that_ran_in_root_too(stage: Stage) -> None:
    # With a bound of 1 the older path of a branch, `x`, is performed before `y` is scheduled and its input pinned.
    stage.play(
        document(
            START,
            for_each(),
            action("x"),
            action("y"),
            join(),
            edges=("start.next>x", "start.next>fan", "fan.each>x", "fan.each>y", "y.next>gather"),
        ),
        LINES,
        x=lambda call: {"of": call.input["item"] and call.input["item"]["key"]},
    )
    seen = {given(work)["item"]["key"]: given(work)["nodes"]["x"]["of"] for work in stage.calls("y")}
    assert {"k1": "k1", "k2": "k2"} == seen


@pytest.mark.behaviour("B32")
def test_after_the_join_its_output_is_seen_and_the_branches_are_not(stage: Stage) -> None:
    stage.play(
        fan(
            action("x"),
            action("after"),
            edges=("start.next>fan", "fan.each>x", "x.next>gather", "gather.completed>after"),
        ),
        LINES,
        x={"n": 1},
    )
    [work] = stage.calls("after")
    assert {"start", "fan", "gather"} == set(given(work)["nodes"])
    assert {"n": 1} == given(work)["nodes"]["gather"]["k1"]["output"]


@pytest.mark.behaviour("B33")
def test_of_two_visits_the_later_output_is_seen(stage: Stage) -> None:
    stage.play(
        document(
            START,
            action("x", policy=visits(2)),
            node("again", "decision", "yes", "no", policy=visits(2)),
            action("after"),
            edges=("start.next>x", "x.next>again", "again.yes>x", "again.no>after"),
        ),
        x=[{"n": 1}, {"n": 2}],
        again=[Succeeded("yes"), Succeeded("no")],
    )
    assert {"n": 2} == given(stage.calls("after")[0])["nodes"]["x"]


@pytest.mark.behaviour("B34")
def test_a_retry_gets_the_same_bytes_though_another_path_went_on(stored: Stage) -> None:
    stored.begin(
        document(
            START,
            action("slow", policy={"maxAttempts": 2}),
            action("other"),
            action("last"),
            edges=("start.next>slow", "start.next>other", "slow.next>last"),
        ),
        other={"big": "x" * 2_000},
    )
    first = stored.claim("slow")
    stored.simulation.settle()
    stored.answer(first, Failed("not yet"))
    stored.pass_time(minutes=1)
    [second] = [work for work in stored.calls("slow") if work.attempt == 2]
    assert first.input == second.input
    assert "other" not in given(second)["nodes"]
    assert {"big": "x" * 2_000} == given(stored.calls("last")[0])["nodes"]["other"]


def test_large_outputs_and_payloads_are_seen_whole(stored: Stage) -> None:
    payload = {"text": "ü" * 5_000, "number": 10**63, "fraction": 1.0}
    output = {"text": "x" * 30_000, "__type__": "tuple", "__value__": [1]}
    stored.play(document(START, action("a"), action("b"), edges=("start.next>a", "a.next>b")), payload, a=output)
    seen = given(stored.calls("b")[0])
    assert payload == seen["trigger"]["payload"] == seen["nodes"]["start"]
    assert output == seen["nodes"]["a"]
    assert output == stored.execution("a").output


def test_an_input_above_the_limit_fails_for_good_without_an_attempt(stage: Stage) -> None:
    names = [f"n{number}" for number in range(40)]
    chain = ["start", *names]
    edges = tuple(f"{a}.next>{b}" for a, b in zip(chain, names, strict=False))
    stage.play(
        document(START, *(action(name) for name in names), edges=edges),
        **{name: {"x": "y" * 32_000} for name in names},
    )
    failed = next(e for e in stage.run.executions if e.status == "Failed")
    assert (0, "Error") == (failed.attempts, failed.failure.kind if failed.failure else None)
    assert "Failed" == stage.status
