"""Fan-outs and joins (B71–B86)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from orchestrator.core.outcomes import Ambiguous, Failed, Skipped, Succeeded, Suspended
from tests.behaviours.stage import Stage
from tests.definitions import START, action, document, for_each, join, node


def lines(number: int) -> dict[str, Any]:
    return {"lines": [{"key": f"k{n}"} for n in range(1, number + 1)]}


def fan(
    *body: dict[str, Any], edges: tuple[str, ...] = (), parallel: int | None = 10, outlets: tuple[str, ...] = ("each",),
    more: tuple[dict[str, Any], ...] = (), **joining: Any,
) -> dict[str, Any]:  # fmt: skip
    """A fan-out over the payload's lines; its body is `ship` alone unless another is given."""
    return document(
        START,
        for_each(outlets=outlets, configuration={} if parallel is None else {"maxParallelism": parallel}),
        *(body or (action("ship", "failed"),)),
        join(configuration=joining),
        *more,
        edges=("start.next>fan", *(edges or ("fan.each>ship", "ship.next>gather"))),
    )


def by_key(**answers: Any) -> Any:
    """A performer that answers by the item's key; `{}` for others."""
    return lambda call: answers.get(call.input["item"]["key"], {})


@pytest.mark.behaviour("B71")
def test_never_more_than_the_bound_are_scheduled_at_once(stored: Stage) -> None:
    stored.begin(fan(parallel=4), lines(10))
    seen = []
    while scheduled := [e for e in stored.run.executions_of("ship") if e.status == "Scheduled"]:
        seen.append(len(scheduled))
        stored.answer(stored.claim("ship", scheduled[-1].key), {})
    assert 4 == max(seen)
    assert [4] * 7 + [3, 2, 1] == seen
    assert "Succeeded" == stored.status


@pytest.mark.behaviour("B72")
@pytest.mark.parametrize("parallel", (0, -1, None))
def test_a_bound_below_one_counts_as_one_and_items_go_one_after_another(stage: Stage, parallel: int | None) -> None:
    stage.play(
        fan(action("a"), action("b"), parallel=parallel, edges=("fan.each>a", "a.next>b", "b.next>gather")), lines(3)
    )
    order = [(work.node_id, work.branch[-1].key) for work in stage.simulation.performed]
    assert [(node, f"k{n}") for n in (1, 2, 3) for node in ("a", "b")] == order


@pytest.mark.behaviour("B73")
@pytest.mark.parametrize(
    "items",
    (
        [{"n": 1}],
        [{"key": ""}],
        [{"key": 1}],
        [{"key": "a"}, {"key": "a"}],
        ["a"],
        [{"key": "x" * 256}],
        [{"key": None}],
    ),
)
def test_items_without_a_key_of_their_own_are_refused(stage: Stage, items: list[Any]) -> None:
    stage.play(fan(), {"lines": items})
    found = stage.execution("fan")
    assert ("Failed", "InvalidOutput") == (found.status, found.failure and found.failure.kind)
    assert "Failed" == stage.status


@pytest.mark.behaviour("B74")
@pytest.mark.parametrize("payload", ({}, {"lines": None}, {"lines": {"key": "a"}}, [1], "text", 7))
def test_a_property_that_is_missing_or_no_list_is_refused_and_routed(stage: Stage, payload: object) -> None:
    document_ = fan(
        outlets=("each", "failed", "fallback"),
        more=(action("caught"),),
        edges=("fan.each>ship", "ship.next>gather", "fan.fallback>caught"),
    )
    stage.play(document_, payload)
    assert "fallback" == stage.execution("fan").outlet
    assert "Succeeded" == stage.execution("caught").status == stage.status


def test_items_of_a_node_that_has_not_succeeded_are_none(stage: Stage) -> None:
    graph = fan()
    graph["graph"]["nodes"].append(action("later"))
    graph["graph"]["nodes"][1]["configuration"]["itemsFrom"] = "later"
    stage.play(graph, lines(1))
    found = stage.execution("fan")
    assert "InvalidOutput" == (found.failure and found.failure.kind)


AFTER = (action("all-done"), action("some-done"))
AFTER_EDGES = ("fan.each>ship", "ship.next>gather", "gather.completed>all-done", "gather.partial>some-done")


@pytest.mark.behaviour("B75")
@pytest.mark.behaviour("B80")
def test_when_all_succeed_the_join_completes_and_tells_of_each(stored: Stage) -> None:
    stored.play(fan(more=AFTER, edges=AFTER_EDGES), lines(2), ship=by_key(k1={"n": 1}, k2={"text": "y" * 3_000}))
    gathered = stored.execution("gather")
    assert "completed" == gathered.outlet
    assert {
        "k1": {"key": "k1", "status": "succeeded", "outlet": "next", "output": {"n": 1}},
        "k2": {"key": "k2", "status": "succeeded", "outlet": "next", "output": {"text": "y" * 3_000}},
    } == gathered.output
    assert "Succeeded" == stored.execution("all-done").status
    assert ("some-done",) == stored.run.unreachable


@pytest.mark.behaviour("B76")
@pytest.mark.behaviour("B81")
def test_one_failure_under_all_is_partial_once_the_last_has_ended_and_fails_no_run(stored: Stage) -> None:
    stored.begin(fan(more=AFTER, edges=AFTER_EDGES), lines(3))
    stored.answer(stored.claim("ship", "k2"), Failed("no stock", code="NO_STOCK"))
    stored.answer(stored.claim("ship", "k1"), {})
    assert [] == stored.facts("BranchesJoined")
    stored.answer(stored.claim("ship", "k3"), {})
    stored.simulation.settle()
    gathered = stored.execution("gather")
    assert ("partial", "failed") == (gathered.outlet, gathered.output["k2"]["status"])
    assert (None, None) == (gathered.output["k2"]["outlet"], gathered.output["k2"]["output"])
    assert "Succeeded" == stored.status


@pytest.mark.behaviour("B77")
@pytest.mark.behaviour("B83")
@pytest.mark.behaviour("B84")
def test_any_fires_at_the_first_success_and_takes_back_what_the_others_hold(stored: Stage) -> None:
    stored.begin(
        fan(
            action("ship"), node("hold", "approval", "approved"), parallel=3, mode="any",
            edges=("fan.each>ship", "fan.each>hold", "ship.next>gather"), more=(action("after"),),
        ),
        lines(5),
    )  # fmt: skip
    # k1 runs at a worker, k2 is scheduled and unclaimed, k3 answers, k4 and k5 have not begun; each holds a wait.
    running = stored.claim("ship", "k1")
    stored.orchestrator.approve(stored.wait("hold", "k3").id)
    assert [] == stored.facts("BranchesJoined")
    stored.answer(stored.claim("ship", "k3"), {"won": True})
    assert {"k1": "Scheduled", "k2": "Cancelled", "k3": "Succeeded", "k4": "Cancelled", "k5": "Cancelled"} == (
        stored.statuses("ship")
    )
    assert {"Cancelled", "Succeeded"} == set(stored.statuses("hold").values())
    assert (4, ()) == (len(stored.facts("WaitCancelled")), stored.run.waits)
    told = stored.execution("gather").output
    assert {"key": "k1", "status": "cancelled", "outlet": None, "output": None} == told["k1"]
    assert "Running" == stored.status, "the attempt at the worker is still in flight"
    stored.answer(running, {"late": True})
    assert ("Succeeded", {"late": True}) == (stored.statuses("ship")["k1"], stored.execution("ship", "k1").output)
    assert (1, "Succeeded") == (len(stored.facts("BranchesJoined")), stored.status)
    assert [] == stored.simulation.doorbells.called_off
    assert 0 == len(stored.calls("ship"))


@pytest.mark.parametrize(
    ("answer", "status"),
    ((Failed("no"), "Failed"), (Suspended("k"), "Cancelled"), (Skipped("no"), "Skipped"), (Succeeded("x"), "Failed")),
)
def test_what_an_abandoned_attempt_answers_is_recorded_and_moves_nothing(
    stored: Stage, answer: Any, status: str
) -> None:
    graph = fan(action("ship", "failed", policy={"maxAttempts": 3}), mode="any",
                edges=("fan.each>ship", "ship.next>gather"))  # fmt: skip
    stored.begin(graph, lines(2))
    running = stored.claim("ship", "k1")
    stored.answer(stored.claim("ship", "k2"), {})
    stored.answer(running, answer)
    assert (status, "Succeeded") == (stored.statuses("ship")["k1"], stored.status)


def test_an_ambiguous_answer_of_an_abandoned_branch_still_stops_the_run(stored: Stage) -> None:
    stored.begin(fan(mode="any"), lines(2))
    running = stored.claim("ship", "k1")
    stored.answer(stored.claim("ship", "k2"), {})
    stored.answer(running, Ambiguous("?"))
    assert "ReconciliationRequired" == stored.status
    stored.orchestrator.reconcile(stored.run_id, running.execution_id, Succeeded(), actor="ada")
    assert "Succeeded" == stored.status


def test_an_abandoned_attempt_whose_worker_vanishes_is_not_handed_out_again(stored: Stage) -> None:
    stored.begin(fan(mode="any"), lines(2))
    running = stored.claim("ship", "k1")
    stored.answer(stored.claim("ship", "k2"), {})
    stored.simulation.engine.lost([(running.attempt_id, running.fence)])
    assert ("Cancelled", "Succeeded") == (stored.statuses("ship")["k1"], stored.status)


@pytest.mark.behaviour("B78")
def test_at_least_three_fires_at_the_third_success_or_is_partial_at_the_end(stage: Stage) -> None:
    enough = fan(mode="atLeast", threshold=3, parallel=1)
    stage.play(enough, lines(5), ship=by_key(k1=Failed("no")))
    assert "completed" == stage.execution("gather").outlet
    assert ["k1", "k2", "k3", "k4"] == [work.branch[-1].key for work in stage.calls("ship")]

    stage.publish(enough | {"workflow": "second"}, ship=by_key(k1=Failed("no"), k2=Failed("no"), k3=Failed("no")))
    stage.run_id = stage.orchestrator.start("second", lines(5)).id
    stage.simulation.settle()
    assert "partial" == stage.execution("gather").outlet
    told = stage.execution("gather").output
    assert ["failed"] * 3 + ["succeeded"] * 2 == [each["status"] for each in told.values()]


def test_a_threshold_above_the_number_of_branches_is_partial_at_the_end(stage: Stage) -> None:
    stage.play(fan(mode="atLeast", threshold=9), lines(2))
    assert "partial" == stage.execution("gather").outlet


@pytest.mark.behaviour("B79")
def test_a_skipped_branch_counts_as_a_success(stage: Stage) -> None:
    stage.play(fan(), lines(2), ship=by_key(k1=Skipped("nothing")))
    gathered = stage.execution("gather")
    assert ("completed", "skipped") == (gathered.outlet, gathered.output["k1"]["status"])


@pytest.mark.behaviour("B82")
def test_a_failure_that_the_branch_handles_leaves_it_a_success(stage: Stage) -> None:
    stage.play(
        fan(action("ship", "failed"), action("fix"),
            edges=("fan.each>ship", "ship.next>gather", "ship.failed>fix", "fix.next>gather")),
        lines(2), ship=by_key(k1=Failed("no")), fix={"fixed": True},
    )  # fmt: skip
    told = stage.execution("gather").output
    assert "completed" == stage.execution("gather").outlet
    assert {"key": "k1", "status": "succeeded", "outlet": "next", "output": {"fixed": True}} == told["k1"]


def test_a_failure_routed_to_the_join_is_a_success_without_output(stage: Stage) -> None:
    stage.play(fan(edges=("fan.each>ship", "ship.next>gather", "ship.failed>gather")), lines(1), ship=Failed("no"))
    assert {"key": "k1", "status": "succeeded", "outlet": "failed", "output": None} == (
        stage.execution("gather").output["k1"]
    )


def test_an_edge_straight_into_the_join_ends_the_branch_without_output(stage: Stage) -> None:
    stage.play(fan(edges=("fan.each>gather",)), lines(2))
    assert [("succeeded", None, None)] * 2 == [
        (told["status"], told["outlet"], told["output"]) for told in stage.execution("gather").output.values()
    ]
    assert ("ship",) == stage.run.unreachable


@pytest.mark.behaviour("B85")
@pytest.mark.parametrize(
    ("joining", "outlet"),
    (({"mode": "all"}, "completed"), ({"mode": "any"}, "partial"), ({"mode": "atLeast", "threshold": 1}, "partial")),
)
def test_an_empty_list_joins_at_once(stage: Stage, joining: dict[str, Any], outlet: str) -> None:
    stage.play(fan(**joining), {"lines": []})
    assert (outlet, {}, "Succeeded") == (
        stage.execution("gather").outlet, stage.execution("gather").output, stage.status
    )  # fmt: skip


@pytest.mark.behaviour("B86")
def test_a_branch_that_waits_holds_no_slot(stored: Stage) -> None:
    stored.begin(
        fan(action("a"), node("w", "approval", "approved"), action("b"), parallel=1,
            edges=("fan.each>a", "a.next>w", "w.approved>b", "b.next>gather")),
        lines(3),
    )  # fmt: skip
    stored.simulation.settle()
    assert ["k1", "k2", "k3"] == [work.branch[-1].key for work in stored.calls("a")]
    for key in ("k2", "k1", "k3"):
        stored.orchestrator.approve(stored.wait("w", key).id)
    stored.simulation.settle()
    assert "Succeeded" == stored.status


def test_a_retry_that_is_due_while_no_slot_is_free_takes_the_next_one_before_later_items(stored: Stage) -> None:
    graph = fan(action("ship", policy={"maxAttempts": 2, "retryDelay": "00:00:10"}), parallel=1)
    stored.begin(graph, lines(3))
    stored.answer(stored.claim("ship", "k1"), Failed("once"))
    second = stored.claim("ship", "k2")
    stored.simulation.clock.move_to(stored.simulation.clock.now() + (second.deadline - second.claimed_at) / 60)
    stored.simulation.tick()
    assert "RetryPending" == stored.statuses("ship")["k1"]
    stored.answer(second, {})
    assert {"k1": "Scheduled", "k2": "Succeeded", "k3": "Pending"} == stored.statuses("ship")
    stored.simulation.settle()
    assert "Succeeded" == stored.status


def test_a_join_above_its_visits_fails_and_the_fan_out_is_over(stage: Stage) -> None:
    twice = {"maxVisits": 2}
    stage.play(
        document(
            START,
            action("again", policy=twice),
            for_each(policy=twice),
            action("ship"),
            join(),
            node("more", "decision", "yes", "no", policy=twice),
            edges=("start.next>again", "again.next>fan", "fan.each>ship", "ship.next>gather", "again.next>more",
                   "more.yes>again"),
        ),
        lines(2),
        more=[Succeeded("yes"), Succeeded("no")],
    )  # fmt: skip
    assert ["Succeeded", "Failed"] == [e.status for e in stage.run.executions_of("gather")]
    assert ["VisitLimitExceeded"] == [failure.kind for failure in stage.run.failures]
    assert "Failed" == stage.status


def test_items_travel_unchanged(stored: Stage) -> None:
    items: list[dict[str, Any]] = [
        {"key": "ключ/1 \"'", "__type__": "set", "__value__": [1]},
        {"key": "k" * 255, "n": 10**63, "f": 1.0},
    ]
    stored.play(fan(), {"lines": items})
    assert items == [json.loads(work.input)["item"] for work in stored.calls("ship")]
    assert [item["key"] for item in items] == list(stored.execution("gather").output)
