"""Finish, cancel, reconciliation (B87–B96)."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from orchestrator.core.outcomes import Ambiguous, Failed, Outcome, Skipped, Succeeded
from orchestrator.errors import NotFound, Refused, WaitClosed
from orchestrator.ports.store import ClaimRequest
from tests.behaviours.stage import Stage
from tests.definitions import START, action, document, node

FINAL = {"WorkflowRunSucceeded", "WorkflowRunFailed", "WorkflowRunCancelled"}


@pytest.mark.behaviour("B87")
def test_what_no_path_reached_is_unreachable_at_the_end(stage: Stage) -> None:
    stage.play(
        document(START, node("pick", "decision", "a", "b"), action("x"), action("y"), action("z"),
                 edges=("start.next>pick", "pick.a>x", "pick.b>y", "y.next>z")),
        pick=Succeeded("a"),
    )  # fmt: skip
    assert ("y", "z") == stage.run.unreachable
    assert "NodesUnreachable" == stage.types()[-2]


def test_with_everything_reached_nothing_is_said_of_unreachable_nodes(stage: Stage) -> None:
    stage.play(document(START, action("x"), edges=("start.next>x",)))
    assert [] == stage.facts("NodesUnreachable")


@pytest.mark.behaviour("B88")
def test_a_failure_that_nothing_routes_fails_the_run_once_other_paths_have_ended(stored: Stage) -> None:
    stored.begin(
        document(START, action("bad"), action("good"), action("after"),
                 edges=("start.next>bad", "start.next>good", "good.next>after")),
    )  # fmt: skip
    stored.answer(stored.claim("bad"), Failed("no", code="X"))
    assert "Running" == stored.status
    stored.simulation.settle()
    assert ("Succeeded", "Failed") == (stored.execution("after").status, stored.status)
    [failed] = stored.facts("RunFailed")
    assert ("bad", "Error", "X") == (failed.data["execution"]["node"], failed.data["kind"], failed.data["code"])


@pytest.mark.behaviour("B89")
def test_a_run_ends_once_and_nothing_follows(stored: Stage) -> None:
    stored.play(document(START, action("x"), edges=("start.next>x",)))
    assert ("Succeeded", "RunSucceeded") == (stored.status, stored.types()[-1])
    assert 1 == sum(fact.type in FINAL for fact in stored.facts())
    stored.pass_time(days=100)
    assert "RunSucceeded" == stored.types()[-1]
    with stored.simulation.store.reading() as tx:
        assert ([], []) == (tx.attempts_of([stored.run_id]), tx.timers_of(stored.run_id))


def test_a_trigger_without_next_ends_the_run_at_once(stage: Stage) -> None:
    stage.begin(document(node("start", "trigger"), action("x")))
    assert ("Succeeded", ("x",)) == (stage.status, stage.run.unreachable)


BUSY = document(
    START, action("running"), action("queued"), action("retrying", policy={"maxAttempts": 2}),
    node("w", "approval", "approved"),
    edges=("start.next>running", "start.next>queued", "start.next>retrying", "start.next>w"),
)  # fmt: skip


@pytest.mark.behaviour("B90")
@pytest.mark.behaviour("B91")
def test_cancel_ends_everything_and_what_answers_later_is_late(stored: Stage) -> None:
    stored.begin(BUSY)
    running = stored.claim("running")
    stored.answer(stored.claim("retrying"), Failed("once"))
    wait = stored.wait("w").id
    stored.orchestrator.cancel(stored.run_id, actor="ada", reason="changed my mind")
    assert "Cancelled" == stored.status
    assert {"Cancelled"} == {e.status for e in stored.run.executions if e.node != "start"}
    assert ["WaitCancelled", "RunCancelled"] == stored.types()[-2:]
    [cancelled] = stored.facts("RunCancelled")
    assert ("ada", "changed my mind") == (cancelled.data["actor"], cancelled.data["reason"])
    assert running.attempt_id in stored.simulation.doorbells.called_off
    before = stored.types()
    assert not stored.answer(running, {})
    stored.simulation.settle()
    stored.pass_time(days=1)
    stored.orchestrator.cancel(stored.run_id, actor="ben")
    with pytest.raises(WaitClosed, match="withdrawn"):
        stored.orchestrator.approve(wait)
    assert before == stored.types()
    assert () == stored.run.unreachable


@pytest.mark.behaviour("B91")
def test_cancel_after_the_end_adds_nothing(stored: Stage) -> None:
    stored.play(document(START, action("x"), edges=("start.next>x",)))
    before = stored.types()
    stored.orchestrator.cancel(stored.run_id)
    assert before == stored.types()


def doubtful(**policy: Any) -> dict[str, Any]:
    return document(
        START,
        action("pay", "failed", policy=policy),
        action("after"),
        action("caught"),
        edges=("start.next>pay", "pay.next>after", "pay.failed>caught"),
    )


@pytest.mark.behaviour("B92")
def test_an_ambiguous_outcome_stops_the_run_and_is_never_tried_again(stored: Stage) -> None:
    stored.play(doubtful(maxAttempts=5), pay=Ambiguous("the line went dead"))
    stored.pass_time(days=1)
    assert ("ReconciliationRequired", "ReconciliationRequired") == (stored.status, stored.execution("pay").status)
    assert 1 == len(stored.calls("pay"))
    assert ["NodeOperationCompleted", "NodeOutcomeAmbiguous", "RunNeedsReconciliation"] == stored.types()[-3:]


@pytest.mark.parametrize(
    ("outcome", "status", "outlet", "reached"),
    (
        pytest.param(Succeeded(output={"paid": 1}), "Succeeded", "next", "after", marks=pytest.mark.behaviour("B93")),
        pytest.param(Failed("not paid"), "Failed", "failed", "caught", marks=pytest.mark.behaviour("B94")),
        pytest.param(Skipped("free of charge"), "Skipped", None, None, marks=pytest.mark.behaviour("B95")),
    ),
)
def test_a_person_says_what_happened_and_the_run_goes_on(
    stored: Stage, outcome: Outcome, status: str, outlet: str | None, reached: str | None
) -> None:
    stored.play(doubtful(maxAttempts=5), pay=Ambiguous("?"))
    stored.orchestrator.reconcile(stored.run_id, stored.execution("pay").id, outcome, actor="ada")
    stored.simulation.settle()
    found = stored.execution("pay")
    assert (status, outlet, 1) == (found.status, found.outlet, found.attempts)
    assert {reached} - {None} == {e.node for e in stored.run.executions} - {"start", "pay"}
    assert ["ada"] == [fact.data["actor"] for fact in stored.facts("NodeReconciled")]
    assert ("Succeeded", []) == (stored.status, stored.facts("NodeAttemptFailed"))


@pytest.mark.behaviour("B94")
def test_a_failure_that_a_person_states_and_nothing_routes_fails_the_run(stage: Stage) -> None:
    stage.play(document(START, action("pay"), edges=("start.next>pay",)), pay=Ambiguous("?"))
    stage.orchestrator.reconcile(stage.run_id, stage.execution("pay").id, Failed("no"), actor="ada")
    assert "Failed" == stage.status


def test_what_a_person_states_must_be_possible(stage: Stage) -> None:
    stage.play(doubtful(), pay=Ambiguous("?"))
    pay = stage.execution("pay").id
    for outcome in (Succeeded("nowhere"), Ambiguous("still"), Succeeded(output={1, 2})):
        with pytest.raises(Refused):
            stage.orchestrator.reconcile(stage.run_id, pay, outcome)
    with pytest.raises(NotFound):
        stage.orchestrator.reconcile(stage.run_id, "no such execution", Succeeded())
    with pytest.raises(Refused, match="Succeeded"):
        stage.orchestrator.reconcile(stage.run_id, stage.execution("start").id, Succeeded())
    assert "ReconciliationRequired" == stage.status
    stage.orchestrator.reconcile(stage.run_id, pay, Succeeded())
    with pytest.raises(Refused):
        stage.orchestrator.reconcile(stage.run_id, pay, Succeeded())


@pytest.mark.behaviour("B96")
def test_while_stopped_answers_and_waits_go_on_and_nothing_is_handed_out(stored: Stage) -> None:
    stored.begin(
        document(
            START, action("pay"), action("work"), action("after"), node("w", "approval", "approved", "expired",
                 configuration={"expiresAfter": "00:10:00"}), node("next-wait", "wait", "resumed"),
            action("retrying", policy={"maxAttempts": 2, "retryDelay": "00:00:10"}), action("lost"),
            edges=("start.next>pay", "start.next>work", "start.next>w", "start.next>retrying", "start.next>lost",
                   "work.next>after", "work.next>next-wait"),
        )
    )  # fmt: skip
    work, lost = stored.claim("work"), stored.claim("lost")
    stored.answer(stored.claim("retrying"), Failed("once"))
    stored.answer(stored.claim("pay"), Ambiguous("?"))
    assert stored.answer(work, {}), "an answer in flight is recorded and routed"
    assert ("Pending", "Waiting") == (stored.execution("after").status, stored.execution("next-wait").status)
    stored.simulation.engine.lost([(lost.attempt_id, lost.fence)])
    stored.simulation.doorbells.rung.clear()
    stored.simulation.clock.move(timedelta(hours=1))
    stored.simulation.tick()
    stored.simulation.tick()
    assert "RetryPending" == stored.execution("retrying").status, "no retry is due"
    assert "Waiting" == stored.execution("w").status, "no wait expires"
    request = ClaimRequest(f"{lost.execution_id}.1", "safe")
    assert [] == stored.simulation.engine.claim([request], "w"), "nothing is handed out again"
    assert 1 == stored.orchestrator.signal(stored.run_id, "go@1"), "resolving a wait is allowed"
    assert "ReconciliationRequired" == stored.status

    stored.orchestrator.reconcile(stored.run_id, stored.execution("pay").id, Succeeded(), actor="ada")
    assert "expired" == stored.execution("w").outlet, "what was due meanwhile is due now"
    assert {"Scheduled"} == {stored.execution(name).status for name in ("after", "retrying", "lost")}
    stored.simulation.settle()
    assert "Succeeded" == stored.status


def test_a_run_stopped_twice_goes_on_when_the_last_doubt_is_settled(stage: Stage) -> None:
    stage.begin(
        document(START, action("a"), action("b"), action("c"), edges=("start.next>a", "start.next>b", "a.next>c"))
    )
    claimed = [stage.claim("a"), stage.claim("b")]
    for work in claimed:
        stage.answer(work, Ambiguous("?"))
    assert 1 == len(stage.facts("RunNeedsReconciliation")), "it stands once per stop"
    stage.orchestrator.reconcile(stage.run_id, claimed[0].execution_id, Succeeded())
    assert ("ReconciliationRequired", "Pending") == (stage.status, stage.execution("c").status)
    stage.orchestrator.reconcile(stage.run_id, claimed[1].execution_id, Succeeded())
    stage.simulation.settle()
    assert "Succeeded" == stage.status
