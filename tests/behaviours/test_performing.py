"""Attempts: retries, timeouts, answers that are none, routes, visits (B20, B21, B36–B56, B97)."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest

from orchestrator.core.instants import parse_instant
from orchestrator.core.journal import JournalEntry
from orchestrator.core.outcomes import Ambiguous, Failed, Outcome, Skipped, Succeeded
from orchestrator.ports.dispatch import Doorbell
from orchestrator.ports.store import ClaimRequest
from tests.behaviours.stage import Stage
from tests.definitions import START, action, document, for_each, join, node, visits


def one(*outlets: str, edges: tuple[str, ...] = (), **policy: Any) -> dict[str, Any]:
    """A graph of one action `work`, and an action for each edge's end."""
    ends = sorted({edge.split(">")[1] for edge in edges})
    return document(
        START,
        action("work", *outlets, policy=policy),
        *(action(end) for end in ends),
        edges=("start.next>work", *edges),
    )


@pytest.mark.behaviour("B20")
def test_the_capability_of_an_engine_kind_is_never_looked_up(stage: Stage) -> None:
    stage.play(
        document(
            START, for_each(capability="x@99"), action("ship"), join(capability="x@99"),
            edges=("start.next>fan", "fan.each>ship", "ship.next>gather"),
        ),
        {"lines": [{"key": "1"}]},
    )  # fmt: skip
    assert "Succeeded" == stage.status


@pytest.mark.behaviour("B21")
def test_a_performer_of_another_version_is_none(stored: Stage) -> None:
    stored.begin(
        document(START, action("work", "failed", capability="only@2", policy={"maxAttempts": 3}), action("after"),
                 edges=("start.next>work", "work.failed>after")),
    )  # fmt: skip
    stored.simulation.forget("only@2")
    stored.simulation.script("only@1", {})
    stored.simulation.settle()
    failed = stored.execution("work")
    assert ("Failed", 1, "failed") == (failed.status, failed.attempts, failed.outlet)
    assert "PerformerMissing" == (failed.failure and failed.failure.kind)
    assert "Succeeded" == stored.execution("after").status


@pytest.mark.behaviour("B36")
@pytest.mark.behaviour("B37")
def test_two_errors_and_a_success_are_three_calls_under_one_key_each_after_its_delay(stored: Stage) -> None:
    stored.play(one(maxAttempts=3, retryDelay="00:00:10"), work=[Failed("1"), ValueError("2"), {}])
    assert "RetryPending" == stored.execution("work").status
    stored.pass_time(seconds=9.999)
    assert 1 == len(stored.calls("work"))
    stored.pass_time(seconds=0.001)
    assert 2 == len(stored.calls("work"))
    stored.pass_time(seconds=10)
    assert [1, 2, 3] == [work.attempt for work in stored.calls("work")]
    assert 1 == len({work.execution_id for work in stored.calls("work")})
    assert 1 == len({work.input for work in stored.calls("work")})
    assert "Succeeded" == stored.status
    failed = stored.facts("NodeAttemptFailed")
    assert [timedelta(seconds=10)] * 2 == [stored_due(fact) - fact.at for fact in failed]


def stored_due(fact: JournalEntry) -> datetime:
    return parse_instant(fact.data["retryDue"])


@pytest.mark.behaviour("B38")
def test_without_a_policy_one_error_is_the_end(stage: Stage) -> None:
    stage.play(one("failed", edges=("work.failed>after",)), work=Failed("no"))
    assert 1 == len(stage.calls("work"))
    assert "failed" == stage.execution("work").outlet
    assert "Succeeded" == stage.execution("after").status == stage.status


@pytest.mark.behaviour("B39")
def test_what_a_performer_raises_is_an_error_with_its_words(stage: Stage) -> None:
    stage.play(one(), work=LookupError("no such order"))
    [failure] = stage.run.failures
    assert ("Error", "LookupError: no such order") == (failure.kind, failure.reason)


@pytest.mark.behaviour("B40")
@pytest.mark.behaviour("B41")
def test_an_attempt_past_its_time_is_tried_again_and_its_late_answer_is_nothing(stored: Stage) -> None:
    stored.begin(one(maxAttempts=2, attemptTimeout="00:01:00", retryDelay="00:00:05"))
    stored.pass_time(minutes=10)
    assert "Succeeded" == stored.status, "time in the queue is not counted"

    stored.publish(one(maxAttempts=2, attemptTimeout="00:01:00", retryDelay="00:00:05") | {"workflow": "second"})
    stored.run_id = stored.orchestrator.start("second").id
    work = stored.claim("work")
    stored.simulation.clock.move(timedelta(seconds=59))
    assert "Scheduled" == stored.execution("work").status
    stored.simulation.engine.renew([(work.attempt_id, work.fence)])
    stored.simulation.tick()
    assert "Scheduled" == stored.execution("work").status
    stored.simulation.clock.move(timedelta(seconds=1))
    stored.simulation.tick()
    assert "RetryPending" == stored.execution("work").status
    before = len(stored.facts())
    assert not stored.answer(work, {"late": True})
    assert before == len(stored.facts())
    stored.pass_time(seconds=5)
    assert ("Succeeded", 2) == (stored.status, stored.execution("work").attempts)
    assert ["TimedOut"] == [fact.data["kind"] for fact in stored.facts("NodeAttemptFailed")]


@pytest.mark.behaviour("B42")
def test_an_undeclared_outlet_is_never_tried_again(stage: Stage) -> None:
    stage.play(one(maxAttempts=5), work=Succeeded("nowhere"))
    assert 1 == len(stage.calls("work"))
    assert ["InvalidOutlet"] == [failure.kind for failure in stage.run.failures]


UNUSABLE: tuple[tuple[str, Outcome], ...] = (
    ("InvalidOutlet", Succeeded("nowhere")),
    ("InvalidOutput", Succeeded(output={"a": float("nan")})),
    ("InvalidOutput", Succeeded(output="x" * 32_767)),
    ("InvalidOutput", Succeeded(output={"a": object()})),
)


@pytest.mark.behaviour("B43")
@pytest.mark.behaviour("B44")
@pytest.mark.parametrize(("kind", "answer"), UNUSABLE)
@pytest.mark.parametrize(
    ("edges", "taken"),
    (
        (("work.fallback>a", "work.failed>b"), "fallback"),
        (("work.failed>b",), "failed"),
        ((), None),
    ),
)
def test_an_answer_that_is_none_prefers_fallback_then_failed(
    stage: Stage, kind: str, answer: Outcome, edges: tuple[str, ...], taken: str | None
) -> None:
    stage.play(one("failed", "fallback", edges=edges, maxAttempts=3), work=answer)
    found = stage.execution("work")
    assert (kind, taken) == (found.failure and found.failure.kind, found.outlet)
    assert 1 == len(stage.calls("work"))
    assert ("Failed" if taken is None else "Succeeded") == stage.status


@pytest.mark.behaviour("B45")
def test_fallback_is_not_for_errors(stage: Stage) -> None:
    stage.play(one("fallback", edges=("work.fallback>a",)), work=Failed("no"))
    assert stage.execution("work").outlet is None
    assert "Failed" == stage.status


@pytest.mark.behaviour("B46")
def test_a_worker_that_vanishes_is_followed_by_another_with_the_same_key_and_number(stored: Stage) -> None:
    stored.begin(one())
    work = stored.claim("work")
    stored.simulation.clock.move(timedelta(seconds=31))
    stored.simulation.tick()
    again = stored.claim("work")
    assert (work.execution_id, work.attempt, work.input) == (again.execution_id, again.attempt, again.input)
    assert work.fence < again.fence
    assert not stored.answer(work, {"from": "the dead"})
    assert stored.answer(again, {"from": "the living"})
    assert {"from": "the living"} == stored.execution("work").output
    assert [1] == [fact.data["attempt"] for fact in stored.facts("NodeScheduled")]


def test_the_third_loss_fails_the_attempt(stored: Stage) -> None:
    stored.begin(one(maxAttempts=2, retryDelay="00:00:01"))
    for _ in range(3):
        stored.claim("work")
        stored.simulation.clock.move(timedelta(seconds=31))
        stored.simulation.tick()
    [failed] = stored.facts("NodeAttemptFailed")
    assert ("Error", "worker lost 3 times") == (failed.data["kind"], failed.data["reason"])
    stored.pass_time(seconds=1)
    assert ("Succeeded", 2) == (stored.status, stored.execution("work").attempts)


@pytest.mark.parametrize("end", ("lost", "timed out", "stopped"))
def test_an_effect_that_may_happen_once_is_ambiguous_when_nobody_knows(stored: Stage, end: str) -> None:
    stored.begin(one(maxAttempts=5))
    work = stored.claim("work", effect="once")
    claim = [(work.attempt_id, work.fence)]
    engine = stored.simulation.engine
    {"lost": engine.lost, "timed out": engine.timed_out, "stopped": engine.stopped}[end](claim)
    assert "ReconciliationRequired" == stored.execution("work").status == stored.status
    assert [] == stored.facts("NodeAttemptFailed", "JobStopped")
    assert not stored.answer(work, {})


@pytest.mark.behaviour("B47")
@pytest.mark.behaviour("B48")
def test_a_message_that_comes_again_after_the_answer_does_nothing(stored: Stage) -> None:
    stored.begin(one())
    bells = list(stored.simulation.doorbells.rung)
    stored.simulation.settle()
    facts = stored.types()
    stored.simulation.doorbells.rung.extend(bells * 3)
    assert 0 == stored.simulation.settle()
    assert facts == stored.types()
    assert 1 == facts.count("NodeOperationCompleted")


def test_a_message_that_comes_again_during_the_attempt_does_nothing(stored: Stage) -> None:
    stored.begin(one())
    bells = list(stored.simulation.doorbells.rung)
    work = stored.claim("work")
    stored.simulation.doorbells.rung.extend(bells)
    assert 0 == stored.simulation.settle()
    assert stored.answer(work, {})


@pytest.mark.behaviour("B49")
def test_what_was_scheduled_and_never_sent_is_rung_by_beat(stored: Stage) -> None:
    stored.begin(one())
    stored.simulation.doorbells.rung.clear()
    gaps = []
    kept: list[Doorbell] = []
    for _ in range(5):
        before = stored.simulation.clock.now()
        while not stored.simulation.doorbells.rung:
            stored.simulation.clock.move(timedelta(seconds=1))
            stored.simulation.tick()
        gaps.append((stored.simulation.clock.now() - before).total_seconds())
        kept = list(stored.simulation.doorbells.rung)
        stored.simulation.doorbells.rung.clear()
    assert sorted(gaps) == gaps
    assert gaps[0] < gaps[-1]
    stored.simulation.doorbells.rung.extend(kept)
    stored.simulation.settle()
    assert "Succeeded" == stored.status
    assert 1 == stored.types().count("NodeScheduled")


@pytest.mark.behaviour("B50")
def test_the_key_differs_between_visits_and_between_branches(stage: Stage) -> None:
    stage.play(
        document(
            START,
            action("x", policy=visits(2)),
            node("again", "decision", "yes", "no", policy=visits(2)),
            for_each(),
            action("y"),
            join(),
            edges=("start.next>x", "x.next>again", "again.yes>x", "again.no>fan", "fan.each>y", "y.next>gather"),
        ),
        {"lines": [{"key": "1"}, {"key": "2"}]},
        again=[Succeeded("yes"), Succeeded("no")],
    )
    assert 2 == len({work.execution_id for work in stage.calls("x")})
    assert 2 == len({work.execution_id for work in stage.calls("y")})


@pytest.mark.behaviour("B51")
def test_only_the_edges_of_the_outlet_that_was_picked_are_followed(stage: Stage) -> None:
    stage.play(
        document(START, node("pick", "decision", "approve", "refuse"), action("a"), action("b"), action("c"),
                 edges=("start.next>pick", "pick.approve>a", "pick.approve>b", "pick.refuse>c")),
        pick=Succeeded("approve"),
    )  # fmt: skip
    assert {"a", "b"} == {e.node for e in stage.run.executions} - {"start", "pick"}
    assert ("c",) == stage.run.unreachable


@pytest.mark.behaviour("B52")
def test_skipped_ends_the_path_and_is_no_failure(stage: Stage) -> None:
    stage.play(one(edges=("work.next>after",)), work=Skipped("nothing to do"))
    assert ("Skipped", "Succeeded") == (stage.execution("work").status, stage.status)
    assert ("after",) == stage.run.unreachable
    assert ["nothing to do"] == [fact.data["reason"] for fact in stage.facts("NodeSkipped")]


@pytest.mark.behaviour("B53")
@pytest.mark.behaviour("B54")
def test_the_second_of_two_arrivals_fails_and_nothing_routes_that(stage: Stage) -> None:
    stage.play(
        document(START, action("a"), action("n", "failed"), action("after"), action("caught"),
                 edges=("start.next>a", "start.next>n", "a.next>n", "n.next>after", "n.failed>caught")),
    )  # fmt: skip
    first, second = stage.run.executions_of("n")
    assert ("Succeeded", "Failed") == (first.status, second.status)
    assert ("VisitLimitExceeded", None) == (second.failure and second.failure.kind, second.outlet)
    assert () == stage.run.executions_of("caught")
    assert "Succeeded" == stage.execution("after").status
    assert "Failed" == stage.status


@pytest.mark.behaviour("B55")
def test_a_loop_that_never_leaves_ends_at_its_limit(stage: Stage) -> None:
    stage.play(
        document(START, action("x", policy=visits(3)), action("y", policy=visits(3)),
                 edges=("start.next>x", "x.next>y", "y.next>x")),
    )  # fmt: skip
    assert 3 == len(stage.calls("x"))
    assert ["Succeeded"] * 3 + ["Failed"] == [e.status for e in stage.run.executions_of("x")]
    assert "Failed" == stage.status


@pytest.mark.behaviour("B56")
def test_every_branch_counts_its_own_visits(stage: Stage) -> None:
    stage.play(
        document(
            START, for_each(), action("ship"), join(), edges=("start.next>fan", "fan.each>ship", "ship.next>gather")
        ),
        {"lines": [{"key": str(number)} for number in range(5)]},
    )
    assert [1] * 5 == [e.execution.visit for e in stage.run.executions_of("ship")]
    assert "Succeeded" == stage.status


@pytest.mark.behaviour("B97")
def test_a_job_that_was_stopped_runs_again_and_no_attempt_is_used(stored: Stage) -> None:
    stored.begin(one(maxAttempts=1, retryDelay="00:00:07"))
    work = stored.claim("work")
    stored.simulation.engine.stopped([(work.attempt_id, work.fence)])
    assert "RetryPending" == stored.execution("work").status
    assert not stored.answer(work, {})
    stored.pass_time(seconds=7)
    assert ("Succeeded", 1) == (stored.status, stored.execution("work").attempts)
    assert [1, 1] == [fact.data["attempt"] for fact in stored.facts("NodeScheduled")]
    assert 1 == len(stored.facts("JobStopped"))


def test_a_planned_stop_of_a_worker_records_nothing(stored: Stage) -> None:
    stored.begin(one())
    facts = stored.types()
    work = stored.claim("work")
    stored.simulation.engine.hand_back([(work.attempt_id, work.fence)])
    assert facts == stored.types()
    assert 1 == len(stored.simulation.doorbells.rung)
    stored.simulation.settle()
    assert ("Succeeded", 1) == (stored.status, stored.execution("work").attempts)


def test_of_two_workers_that_claim_one_attempt_one_gets_it(stored: Stage) -> None:
    stored.begin(one())
    found = stored.execution("work")
    request = [ClaimRequest(f"{found.id}.1", "safe")]
    assert 1 == len(stored.simulation.engine.claim(request, "a"))
    assert [] == stored.simulation.engine.claim(request, "b")


def test_an_ambiguous_answer_is_never_tried_again(stage: Stage) -> None:
    stage.play(one(maxAttempts=3), work=Ambiguous("the line went dead"))
    stage.pass_time(hours=1)
    assert 1 == len(stage.calls("work"))
    assert "ReconciliationRequired" == stage.status
