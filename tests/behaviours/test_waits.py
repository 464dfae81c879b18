"""Waits, approvals and suspended nodes (B19, B57–B70, B112, B113)."""

from __future__ import annotations

import threading
from datetime import timedelta
from typing import Any

import pytest

from orchestrator.core.outcomes import Ambiguous, Failed, Outcome, Skipped, Succeeded, Suspended
from orchestrator.errors import NotFound, Refused, WaitClosed
from tests.behaviours.stage import Stage
from tests.definitions import START, action, document, node


def waiting(node_kind: str, /, *outlets: str, edges: tuple[str, ...] = (), **configuration: Any) -> dict[str, Any]:
    """A graph of one wait or approval `w`, and an action for each edge's end."""
    ends = sorted({edge.split(">")[1] for edge in edges})
    return document(
        START,
        node("w", node_kind, *outlets, configuration=configuration),
        *(action(end) for end in ends),
        edges=("start.next>w", *edges),
    )


APPROVAL = waiting("approval", "approved", "rejected", "expired", edges=("w.approved>yes", "w.rejected>no"))
SIGNAL = waiting("wait", "resumed", "cancelled", "expired", edges=("w.resumed>on", "w.cancelled>off"),
                 signal={"id": "paid", "version": 1})  # fmt: skip


@pytest.mark.behaviour("B19")
def test_an_approval_is_an_approval_whatever_its_kind_says(stage: Stage) -> None:
    stage.begin(waiting("approval", "approved", "rejected", kind="timer", after="00:00:01"))
    assert "approval" == stage.wait("w").kind
    stage.pass_time(days=1)
    assert "Waiting" == stage.status


@pytest.mark.behaviour("B57")
def test_a_timer_elapses_when_its_time_comes_and_never_earlier(stored: Stage) -> None:
    stored.begin(waiting("wait", "elapsed", edges=("w.elapsed>on",), kind="timer", after="00:10:00"))
    stored.simulation.clock.move(timedelta(minutes=10) - timedelta(microseconds=1))
    stored.simulation.tick()
    assert "Waiting" == stored.status
    stored.simulation.clock.move(timedelta(microseconds=1))
    stored.simulation.tick()
    stored.simulation.settle()
    assert ("elapsed", "Succeeded") == (stored.execution("w").outlet, stored.status)
    assert {} == stored.execution("w").output


def test_a_timer_of_zero_elapses_at_once(stage: Stage) -> None:
    stage.begin(waiting("wait", "elapsed", kind="timer", after="00:00:00"))
    stage.simulation.tick()
    assert "Succeeded" == stage.status


@pytest.mark.behaviour("B58")
def test_a_timer_that_came_while_nothing_ran_elapses_afterwards(stored: Stage) -> None:
    stored.begin(waiting("wait", "elapsed", kind="timer", after="00:10:00"))
    stored.simulation.clock.move(timedelta(days=3))
    stored.simulation.tick()
    assert "Succeeded" == stored.status


@pytest.mark.behaviour("B59")
@pytest.mark.behaviour("B60")
def test_only_a_signal_of_the_contract_resumes_and_what_it_brings_is_seen(stored: Stage) -> None:
    stored.begin(SIGNAL)
    assert 0 == stored.orchestrator.signal(stored.run_id, "paid@2", {"n": 1})
    assert 0 == stored.orchestrator.signal(stored.run_id, "shipped@1")
    assert "Waiting" == stored.status
    assert 1 == stored.orchestrator.signal(stored.run_id, "paid@1", {"n": 2}, actor="bank")
    stored.simulation.settle()
    assert {"n": 2} == stored.execution("w").output
    assert '"w":{"n":2}' in stored.calls("on")[0].input
    [resolved] = stored.facts("WaitResolved")
    assert ("bank", "resumed") == (resolved.data["actor"], resolved.data["outlet"])
    assert 0 == stored.orchestrator.signal(stored.run_id, "paid@1"), "a final run answers 0"


@pytest.mark.behaviour("B61")
def test_without_a_contract_any_signal_resumes(stage: Stage) -> None:
    stage.begin(waiting("wait", "resumed"))
    assert 1 == stage.orchestrator.signal(stage.run_id, "whatever@7")
    assert "Succeeded" == stage.status


def test_one_signal_resumes_every_wait_that_accepts_it(stage: Stage) -> None:
    contract = {"signal": {"id": "go", "version": 1}}
    stage.begin(
        document(
            START,
            node("a", "wait", "resumed", configuration=contract),
            node("b", "wait", "resumed"),
            node("c", "wait", "resumed", configuration={"signal": {"id": "other", "version": 1}}),
            node("later", "wait", "resumed", configuration=contract),
            edges=("start.next>a", "start.next>b", "start.next>c", "a.resumed>later"),
        )
    )
    assert 2 == stage.orchestrator.signal(stage.run_id, "go@1")
    assert {"c", "later"} == {wait.node for wait in stage.run.waits}, "what opens by a signal is not resumed by it"


@pytest.mark.behaviour("B62")
def test_a_signal_wait_can_be_called_off(stored: Stage) -> None:
    stored.begin(SIGNAL)
    stored.orchestrator.cancel_wait(stored.wait("w").id, actor="ada")
    stored.simulation.settle()
    assert "cancelled" == stored.execution("w").outlet
    assert "Succeeded" == stored.execution("off").status


@pytest.mark.behaviour("B63")
@pytest.mark.parametrize(("verb", "outlet", "after"), (("approve", "approved", "yes"), ("reject", "rejected", "no")))
def test_a_person_approves_or_rejects(stored: Stage, verb: str, outlet: str, after: str) -> None:
    stored.begin(APPROVAL)
    [row] = stored.orchestrator.waits(kind="approval")
    getattr(stored.orchestrator, verb)(row.wait_id, {"note": "ok"}, actor="ada")
    stored.simulation.settle()
    found = stored.execution("w")
    assert ("Succeeded", outlet, {"note": "ok"}) == (found.status, found.outlet, found.output)
    assert "Succeeded" == stored.execution(after).status
    assert [] == stored.orchestrator.waits()


@pytest.mark.behaviour("B64")
def test_an_approval_expires_after_its_time_and_zero_is_never(stored: Stage) -> None:
    stored.begin(waiting("approval", "approved", "expired", edges=("w.expired>late",), expiresAfter="2.00:00:00"))
    stored.pass_time(days=1.999)
    assert "Waiting" == stored.status
    stored.pass_time(days=0.001)
    assert ("expired", "Succeeded") == (stored.execution("w").outlet, stored.execution("late").status)

    for_ever = waiting("approval", "approved", "expired", expiresAfter="00:00:00") | {"workflow": "patient"}
    stored.publish(for_ever)
    stored.run_id = stored.orchestrator.start("patient").id
    stored.pass_time(days=3_000)
    assert "Waiting" == stored.status
    assert stored.wait("w").deadline is None
    stored.orchestrator.cancel(stored.run_id)


@pytest.mark.behaviour("B65")
def test_of_two_who_decide_at_once_one_is_told_who_was_first(stored: Stage) -> None:
    stored.begin(APPROVAL)
    wait = stored.wait("w").id
    barrier = threading.Barrier(2)
    refused: list[WaitClosed] = []

    def decide(actor: str) -> None:
        barrier.wait()
        try:
            stored.orchestrator.approve(wait, actor=actor)
        except WaitClosed as error:
            refused.append(error)

    threads = [threading.Thread(target=decide, args=(actor,)) for actor in ("ada", "ben")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    [fact] = stored.facts("WaitResolved")
    [error] = refused
    assert fact.data["actor"] == error.actor
    assert ("approved", fact.at) == (error.outlet, error.at)
    assert str(error.actor) in error.message
    stored.simulation.settle()


@pytest.mark.behaviour("B66")
def test_what_expired_first_cannot_be_approved(stored: Stage) -> None:
    stored.begin(waiting("approval", "approved", "expired", expiresAfter="00:01:00"))
    wait = stored.wait("w").id
    stored.pass_time(minutes=1)
    with pytest.raises(WaitClosed) as closed:
        stored.orchestrator.approve(wait, actor="ada")
    assert "expired" == closed.value.outlet
    assert 1 == len(stored.facts("WaitResolved"))


@pytest.mark.behaviour("B67")
def test_what_is_approved_after_the_deadline_and_before_the_expiry_is_recorded_counts(stored: Stage) -> None:
    stored.begin(waiting("approval", "approved", "expired", expiresAfter="00:01:00"))
    stored.simulation.clock.move(timedelta(minutes=5))
    stored.orchestrator.approve(stored.wait("w").id)
    stored.simulation.tick()
    assert "approved" == stored.execution("w").outlet


@pytest.mark.behaviour("B68")
def test_a_wait_is_closed_only_as_its_kind_can_be(stage: Stage) -> None:
    stage.begin(SIGNAL)
    wait = stage.wait("w").id
    for verb in (stage.orchestrator.approve, stage.orchestrator.reject):
        with pytest.raises(Refused, match="'resumed' or 'cancelled'"):
            verb(wait)
    assert "Waiting" == stage.status
    stage.orchestrator.resume(wait)

    stage.publish(APPROVAL | {"workflow": "second"})
    stage.run_id = stage.orchestrator.start("second").id
    for verb in (stage.orchestrator.resume, stage.orchestrator.cancel_wait):
        with pytest.raises(Refused, match="'approved' or 'rejected'"):
            verb(stage.wait("w").id)
    assert 0 == stage.orchestrator.signal(stage.run_id, "paid@1"), "a signal is for signal waits"


def test_nobody_closes_a_timer(stage: Stage) -> None:
    stage.begin(waiting("wait", "elapsed", kind="timer", after="01:00:00"))
    with pytest.raises(Refused, match="only time"):
        stage.orchestrator.cancel_wait(stage.wait("w").id)
    with pytest.raises(NotFound):
        stage.orchestrator.approve("no such wait")


@pytest.mark.behaviour("B69")
def test_a_run_with_nothing_but_open_waits_is_waiting(stage: Stage) -> None:
    stage.begin(
        document(START, node("w", "approval", "approved"), action("work"), action("after"),
                 edges=("start.next>w", "start.next>work", "w.approved>after")),
    )  # fmt: skip
    assert "Running" == stage.status
    stage.simulation.settle()
    assert "Waiting" == stage.status
    stage.orchestrator.approve(stage.wait("w").id)
    assert "Running" == stage.status
    stage.simulation.settle()
    assert "Succeeded" == stage.status


@pytest.mark.behaviour("B70")
def test_an_outlet_that_is_declared_and_not_connected_ends_the_path(stage: Stage) -> None:
    stage.begin(waiting("approval", "approved", "expired", expiresAfter="00:01:00"))
    stage.pass_time(minutes=1)
    assert ("Succeeded", "expired") == (stage.status, stage.execution("w").outlet)


def test_an_engine_outlet_that_is_not_declared_is_an_invalid_outlet(stage: Stage) -> None:
    stage.begin(waiting("approval", "approved", "failed", edges=("w.failed>late",), expiresAfter="00:01:00"))
    stage.pass_time(minutes=1)
    found = stage.execution("w")
    assert ("InvalidOutlet", "failed") == (found.failure and found.failure.kind, found.outlet)
    assert "Succeeded" == stage.execution("late").status


def test_approving_where_that_is_not_declared_is_accepted_and_an_invalid_outlet(stage: Stage) -> None:
    stage.begin(waiting("approval", "rejected"))
    stage.orchestrator.approve(stage.wait("w").id)
    assert "Failed" == stage.status
    assert ["InvalidOutlet"] == [failure.kind for failure in stage.run.failures]


# --- suspended nodes -----------------------------------------------------------------------------------------------


def suspended(*outlets: str, edges: tuple[str, ...] = (), **policy: Any) -> dict[str, Any]:
    ends = sorted({edge.split(">")[1] for edge in edges})
    work = action("w", *outlets, policy=policy)
    return document(START, work, *(action(end) for end in ends), edges=("start.next>w", *edges))


@pytest.mark.behaviour("B112")
@pytest.mark.behaviour("B113")
def test_a_suspended_node_holds_no_worker_and_goes_on_when_its_key_is_completed(stored: Stage) -> None:
    stored.play(suspended(edges=("w.next>after",)), w=Suspended("job/1"))
    assert ("Waiting", "Waiting") == (stored.status, stored.execution("w").status)
    with stored.simulation.store.reading() as tx:
        assert [] == tx.attempts_of([stored.run_id])
    stored.orchestrator.complete("job/1", {"done": 1}, actor="the job")
    stored.simulation.settle()
    assert ({"done": 1}, "Succeeded") == (stored.execution("w").output, stored.status)
    with pytest.raises(WaitClosed) as closed:
        stored.orchestrator.complete("job/1", {})
    assert ("next", "the job") == (closed.value.outlet, closed.value.actor)
    receipts = [fact.data["execution"]["node"] for fact in stored.facts("NodeOperationCompleted")]
    assert ["w", "after"] == receipts, "a completion is no second receipt"


@pytest.mark.behaviour("B113")
def test_a_suspended_node_expires_through_its_outlet(stored: Stage) -> None:
    stored.play(suspended("expired", edges=("w.expired>late",)), w=Suspended("k", timedelta(hours=1)))
    stored.pass_time(minutes=59)
    assert "Waiting" == stored.status
    stored.pass_time(minutes=1)
    assert ("expired", "Succeeded") == (stored.execution("w").outlet, stored.execution("late").status)


def test_a_completion_that_failed_is_tried_again_while_attempts_remain(stored: Stage) -> None:
    stored.play(suspended(maxAttempts=2, retryDelay="00:00:05"), w=[Suspended("k"), Suspended("k")])
    stored.orchestrator.complete("k", Failed("not today"))
    assert "RetryPending" == stored.execution("w").status
    with pytest.raises(WaitClosed):
        stored.orchestrator.complete("k", {})
    stored.pass_time(seconds=5)
    assert "Waiting" == stored.status
    stored.orchestrator.complete("k", Failed("never"))
    assert ("Failed", 2) == (stored.status, stored.execution("w").attempts)


@pytest.mark.parametrize(
    "outcome",
    (Succeeded("nowhere"), Succeeded(output={"a": float("nan")}), Ambiguous("?"), Suspended("other"), "x" * 40_000),
)
def test_a_completion_that_cannot_be_is_refused_and_the_wait_stays_open(stage: Stage, outcome: Outcome | str) -> None:
    stage.play(suspended(), w=Suspended("k"))
    before = stage.types()
    with pytest.raises(Refused):
        stage.orchestrator.complete("k", outcome)
    assert before == stage.types()
    stage.orchestrator.complete("k", Skipped("not needed"))
    assert ("Skipped", "Succeeded") == (stage.execution("w").status, stage.status)


def test_a_key_that_is_open_already_fails_the_second_suspension(stored: Stage) -> None:
    stored.play(
        document(START, action("a"), action("b"), edges=("start.next>a", "start.next>b")),
        a=Suspended("same"),
        b=Suspended("same"),
    )
    assert "Waiting" == stored.execution("a").status
    failed = stored.execution("b")
    assert "Error" == (failed.failure and failed.failure.kind)
    stored.orchestrator.complete("same", {})
    assert "Failed" == stored.status


def test_a_completion_before_its_suspension_is_refused(stage: Stage) -> None:
    stage.begin(suspended(), w=Suspended("k"))
    with pytest.raises(NotFound):
        stage.orchestrator.complete("k", {})


def test_a_payload_that_is_no_json_is_refused_and_the_wait_stays_open(stage: Stage) -> None:
    stage.begin(SIGNAL)
    with pytest.raises(Refused, match="is nan"):
        stage.orchestrator.signal(stage.run_id, "paid@1", {"a": float("nan")})
    with pytest.raises(Refused, match="32,768"):
        stage.orchestrator.resume(stage.wait("w").id, "x" * 40_000)
    assert "Waiting" == stage.status
