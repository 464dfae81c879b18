"""Signal waits, timers and approvals: how they open, who may close them, and that the first recorded wins (1.11)."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from orchestrator.core.data import EMPTY, canonical
from orchestrator.core.decide.commands import CompleteWait, ResolveWait
from orchestrator.core.facts import WorkflowNodeSucceeded, WorkflowWaitOpened, WorkflowWaitResolved
from orchestrator.core.outcomes import Failed, Skipped, receipt_of
from orchestrator.core.state import ExecutionStatus
from orchestrator.errors import NotFound, Refused, WaitClosed
from tests.core.graphs import approval, chain, gathered, lines, signal_wait, single, timer
from tests.core.world import DAWN, World
from tests.definitions import START, action, document, visits


def waiting(given: dict[str, Any], *outlets: str) -> dict[str, Any]:
    """The wait, with an action named after each of these outlets behind it."""
    return single(given, *map(action, outlets), edges=[f"{given['id']}.{outlet}>{outlet}" for outlet in outlets])


# --- timers -----------------------------------------------------------------------------------------------------------


@pytest.mark.behaviour("B57")
def test_a_timer_elapses_when_its_time_has_come_and_never_earlier() -> None:
    world = World.start(waiting(timer("t", "00:01:30"), "elapsed"))
    assert ("timer", DAWN + timedelta(seconds=90)) == (world.wait("t").kind, world.wait("t").deadline)
    world.wake(seconds=89, microseconds=999_999)
    assert [] == world.scheduled()
    world.wake(microseconds=1)
    assert [("elapsed", None)] == world.scheduled()
    assert {} == world.output("t")


@pytest.mark.behaviour("B58")
def test_a_timer_whose_time_passed_while_nobody_looked_elapses_at_the_next_look() -> None:
    world = World.start(waiting(timer("t", "00:01:30"), "elapsed"))
    world.wake(days=400)
    assert [("elapsed", None)] == world.scheduled()


def test_a_timer_of_zero_elapses_at_the_first_look() -> None:
    world = World.start(waiting(timer("t", "00:00:00"), "elapsed"))
    assert DAWN == world.wait("t").deadline
    world.wake()
    assert [("elapsed", None)] == world.scheduled()


def test_timers_one_after_another_all_elapse_in_one_look_when_none_takes_time() -> None:
    world = World.start(chain(timer("t1", "00:00:00"), timer("t2", "00:00:00"), timer("t3", "00:00:01"), action("a")))
    world.wake()
    assert "t3" == next(e.ref.node for e in world.state.executions.values() if e.wait)
    world.wake(seconds=1)
    assert [("a", None)] == world.scheduled()


def test_the_next_timer_counts_from_when_the_one_before_was_seen_to_elapse() -> None:
    world = World.start(chain(timer("t1", "00:01:00"), timer("t2", "00:01:00")))
    world.wake(minutes=5)
    assert DAWN + timedelta(minutes=6) == world.wait("t2").deadline


def test_expires_after_means_nothing_to_a_timer() -> None:
    given = {
        **timer("t", "00:05:00"),
        "configuration": {"kind": "timer", "after": "00:05:00", "expiresAfter": "00:01:00"},
    }
    world = World.start(waiting(given, "elapsed"))
    world.wake(minutes=1)
    assert [] == world.scheduled()


@pytest.mark.parametrize("outlet", ("elapsed", "resumed", "cancelled", "expired"))
def test_only_time_closes_a_timer(outlet: str) -> None:
    world = World.start(waiting(timer("t"), "elapsed"))
    with pytest.raises(Refused, match="only time closes a timer"):
        world.resolve("t", outlet)
    assert 0 == world.signal("paid@1")


def test_due_waits_close_in_the_order_of_their_time() -> None:
    given = document(
        START,
        timer("late", "00:02:00"),
        timer("soon", "00:01:00"),
        action("a"),
        action("b"),
        edges=("start.next>late", "start.next>soon", "late.elapsed>a", "soon.elapsed>b"),
    )
    world = World.start(given)
    world.wake(hours=1)
    assert ["soon", "late"] == [fact.execution.node for fact in world.facts(WorkflowWaitResolved)]


# --- signals ----------------------------------------------------------------------------------------------------------


@pytest.mark.behaviour("B59")
def test_a_signal_that_matches_resumes_and_its_payload_is_seen_downstream() -> None:
    world = World.start(waiting(signal_wait("w", signal="orders.paid@2"), "resumed"))
    assert "orders.paid@2" == world.wait("w").signal
    assert 1 == world.signal("orders.paid@2", {"amount": 3}, actor="bank")
    assert [("resumed", None)] == world.scheduled()
    assert {"amount": 3} == world.input("resumed")["nodes"]["w"]
    [closed] = world.facts(WorkflowWaitResolved)
    assert ("resumed", "bank", None) == (closed.outlet, closed.actor, closed.outcome)


@pytest.mark.behaviour("B60")
@pytest.mark.parametrize("contract", ("orders.paid@1", "orders.paid@3", "orders.paid@22", "orders.pai@2", "paid@2"))
def test_another_version_or_another_name_resumes_nothing_and_nothing_is_kept(contract: str) -> None:
    world = World.start(waiting(signal_wait("w", signal={"id": "orders.paid", "version": 2}), "resumed"))
    tail = world.state.tail
    assert 0 == world.signal(contract)
    assert tail == world.state.tail
    assert "Waiting" == world.status
    assert 1 == world.signal("orders.paid@2")


@pytest.mark.behaviour("B61")
@pytest.mark.parametrize("contract", ("anything@1", "else@99"))
def test_without_a_contract_any_signal_resumes(contract: str) -> None:
    world = World.start(waiting(signal_wait("w"), "resumed"))
    assert 1 == world.signal(contract)


def test_a_signal_resumes_every_open_wait_that_accepts_it_and_says_how_many() -> None:
    given = document(
        START,
        signal_wait("any"),
        signal_wait("paid", signal="paid@1"),
        signal_wait("sent", signal="sent@1"),
        approval("ok"),
        timer("t"),
        edges=[f"start.next>{target}" for target in ("any", "paid", "sent", "ok", "t")],
    )
    world = World.start(given)
    assert 2 == world.signal("paid@1", {"n": 1})
    assert {"sent", "ok", "t"} == {world.state.executions[id].ref.node for id in world.state.waits.values()}
    assert [{"n": 1}, {"n": 1}] == [world.output("any"), world.output("paid")]
    assert 0 == world.signal("paid@1")


def test_a_signal_that_comes_before_its_wait_is_not_kept() -> None:
    world = World.start(chain(action("a"), signal_wait("w"), action("b")))
    assert 0 == world.signal("paid@1")
    world.answer("a")
    assert "Waiting" == world.status


def test_a_wait_that_a_signal_leads_to_is_not_resumed_by_the_same_signal() -> None:
    world = World.start(chain(signal_wait("w1"), signal_wait("w2"), action("a")))
    assert 1 == world.signal("paid@1")
    assert [] == world.scheduled()
    assert 1 == world.signal("paid@1")
    assert [("a", None)] == world.scheduled()


@pytest.mark.behaviour("B62")
def test_a_signal_wait_that_is_called_off_leaves_through_cancelled() -> None:
    world = World.start(waiting(signal_wait("w"), "resumed", "cancelled"))
    world.resolve("w", "cancelled", {"why": "late"}, actor="anna")
    assert [("cancelled", None)] == world.scheduled()
    assert ({"why": "late"}, ExecutionStatus.SUCCEEDED) == (world.output("w"), world.execution("w").status)


def test_a_signal_wait_can_be_resumed_by_its_id() -> None:
    world = World.start(waiting(signal_wait("w", signal="paid@1"), "resumed"))
    world.resolve("w", "resumed", [1, 2])
    assert [1, 2] == world.input("resumed")["nodes"]["w"]


def test_a_null_payload_is_null_and_not_empty() -> None:
    world = World.start(waiting(signal_wait("w"), "resumed"))
    world.tell(ResolveWait(world.wait("w").id, "resumed", canonical(None)))
    assert None is world.input("resumed")["nodes"]["w"]
    [shown] = [entry.data for entry in world.entries() if entry.type == "WorkflowWaitResolved"]
    assert None is shown["output"]


# --- approvals --------------------------------------------------------------------------------------------------------


@pytest.mark.behaviour("B63")
@pytest.mark.parametrize("outlet", ("approved", "rejected"))
def test_an_approval_leaves_as_the_person_said(outlet: str) -> None:
    world = World.start(waiting(approval("ok"), "approved", "rejected"))
    assert ("approval", None, None) == (world.wait("ok").kind, world.wait("ok").deadline, world.wait("ok").signal)
    world.resolve("ok", outlet, {"note": "fine"}, actor="anna")
    assert [(outlet, None)] == world.scheduled()
    assert {"note": "fine"} == world.input(outlet)["nodes"]["ok"]
    [closed] = world.facts(WorkflowWaitResolved)
    assert ("anna", outlet) == (closed.actor, closed.outlet)


@pytest.mark.behaviour("B68")
@pytest.mark.parametrize(
    ("given", "outlet"),
    (
        (signal_wait("w"), "approved"),
        (signal_wait("w"), "rejected"),
        (signal_wait("w"), "expired"),
        (signal_wait("w"), "elapsed"),
        (approval("w"), "resumed"),
        (approval("w"), "cancelled"),
        (approval("w"), "expired"),
        (approval("w", "approved", "mine"), "mine"),
    ),
)
def test_a_wait_takes_only_what_its_kind_can_be_told(given: dict[str, Any], outlet: str) -> None:
    world = World.start(waiting(given))
    with pytest.raises(Refused, match="it can be closed through"):
        world.resolve("w", outlet)
    assert "Waiting" == world.status


@pytest.mark.parametrize("given", (signal_wait("w"), approval("w"), timer("w")))
def test_only_a_suspended_node_is_completed(given: dict[str, Any]) -> None:
    world = World.start(waiting(given))
    with pytest.raises(Refused, match="only a suspended node is completed"):
        world.complete("w", Skipped("no"))
    assert "Waiting" == world.status


# --- expiry -----------------------------------------------------------------------------------------------------------


@pytest.mark.behaviour("B64")
@pytest.mark.parametrize("kind", (approval, signal_wait))
def test_a_wait_expires_after_its_time(kind: Any) -> None:
    world = World.start(waiting(kind("w", expiresAfter="2.00:00:00"), "expired"))
    world.wake(days=1, hours=23, minutes=59)
    assert [] == world.scheduled()
    world.wake(minutes=1)
    assert [("expired", None)] == world.scheduled()
    assert {} == world.output("w")


@pytest.mark.behaviour("B64")
@pytest.mark.parametrize("kind", (approval, signal_wait))
@pytest.mark.parametrize("configuration", ({}, {"expiresAfter": "00:00:00"}, {"expiresAfter": None}))
def test_absent_or_zero_is_for_ever(kind: Any, configuration: dict[str, Any]) -> None:
    world = World.start(waiting(kind("w", **configuration), "expired"))
    assert None is world.wait("w").deadline
    world.wake(days=100_000)
    assert "Waiting" == world.status


@pytest.mark.behaviour("B70")
@pytest.mark.parametrize("given", (approval("w", expiresAfter="00:01:00"), signal_wait("w", expiresAfter="00:01:00")))
def test_expired_and_not_connected_ends_the_path_without_failure(given: dict[str, Any]) -> None:
    world = World.start(waiting(given, given["outlets"][0]))
    world.wake(minutes=1)
    assert "Succeeded" == world.status
    assert "expired" == world.execution("w").outlet


# --- the first that is recorded wins ----------------------------------------------------------------------------------


@pytest.mark.behaviour("B65")
def test_the_second_to_decide_learns_that_it_is_closed_through_what_by_whom_and_when() -> None:
    world = World.start(waiting(approval("ok"), "approved", "rejected"))
    wait = world.wait("ok").id
    world.resolve("ok", "approved", actor="anna")
    world.now += timedelta(minutes=1)
    with pytest.raises(WaitClosed) as told:
        world.tell(ResolveWait(wait, "rejected", EMPTY, "bob"))
    assert ("approved", "anna", DAWN) == (told.value.outlet, told.value.actor, told.value.at)
    assert 1 == len(world.facts(WorkflowWaitResolved))


@pytest.mark.behaviour("B66")
def test_a_resolution_before_the_expiry_wins() -> None:
    world = World.start(waiting(approval("ok", expiresAfter="00:01:00"), "approved", "expired"))
    world.resolve("ok", "approved")
    world.wake(hours=1)
    assert [("approved", None)] == world.scheduled()
    assert 1 == len(world.facts(WorkflowWaitResolved))


@pytest.mark.behaviour("B66")
def test_an_expiry_before_the_resolution_wins_and_the_person_is_told() -> None:
    world = World.start(waiting(approval("ok", expiresAfter="00:01:00"), "approved", "expired"))
    wait = world.wait("ok").id
    world.wake(minutes=1)
    with pytest.raises(WaitClosed, match="by time through 'expired'"):
        world.tell(ResolveWait(wait, "approved", EMPTY, "anna"))
    assert [("expired", None)] == world.scheduled()


@pytest.mark.behaviour("B67")
@pytest.mark.parametrize("late", (timedelta(0), timedelta(microseconds=1), timedelta(days=30)))
def test_after_the_deadline_and_before_the_expiry_is_recorded_a_resolution_is_accepted(late: timedelta) -> None:
    world = World.start(waiting(approval("ok", expiresAfter="00:01:00"), "approved", "expired"))
    world.now += timedelta(minutes=1) + late
    world.resolve("ok", "approved")
    assert [("approved", None)] == world.scheduled()


def test_of_a_wait_that_never_was_nobody_knows() -> None:
    world = World.start(waiting(approval("ok")))
    for id in ("no-such-wait", world.execution("start").ref.id, f"{world.wait('ok').id}.7"):
        with pytest.raises(NotFound):
            world.tell(ResolveWait(id, "approved", EMPTY))


def test_a_wait_is_still_told_how_it_was_closed_when_the_run_is_over() -> None:
    world = World.start(waiting(approval("ok")))
    wait = world.wait("ok").id
    world.resolve("ok", "approved", actor="anna")
    assert "Succeeded" == world.status
    with pytest.raises(WaitClosed, match="by anna through 'approved'"):
        world.tell(ResolveWait(wait, "approved", EMPTY))
    with pytest.raises(NotFound):
        world.tell(ResolveWait(world.execution("start").ref.id, "approved", EMPTY))
    with pytest.raises(WaitClosed):
        world.tell(CompleteWait(wait, receipt_of({})))


# --- statuses, facts --------------------------------------------------------------------------------------------------


@pytest.mark.behaviour("B69")
def test_with_only_open_waits_a_run_is_waiting_and_after_the_resolution_it_runs() -> None:
    world = World.start(chain(signal_wait("w"), action("a")))
    assert "Waiting" == world.status
    world.signal("paid@1")
    assert "Running" == world.status


@pytest.mark.behaviour("B69")
def test_with_work_beside_the_open_wait_a_run_is_running() -> None:
    given = document(
        START,
        signal_wait("w"),
        action("a", policy={"maxAttempts": 2}),
        edges=("start.next>w", "start.next>a"),
    )
    world = World.start(given)
    assert "Running" == world.status
    world.answer("a", Failed("no"))
    assert (1, "Running") == (world.state.retrying, world.status)
    world.wake(seconds=30)
    world.answer("a")
    assert "Waiting" == world.status


def test_what_follows_a_closed_wait_is_its_success_after_the_fact_that_caused_it() -> None:
    world = World.start(chain(signal_wait("w"), action("a")))
    opened = world.state.tail
    world.signal("paid@1", {"n": 1})
    assert ["WaitResolved", "NodeSucceeded", "NodeInputPinned", "NodeScheduled"] == world.types(opened)
    success = world.facts(WorkflowNodeSucceeded)[-1]
    assert ("resumed", opened + 1) == (success.outlet, success.output_at)


def test_each_visit_opens_a_wait_of_its_own() -> None:
    world = World.start(single({**signal_wait("w"), "policy": visits(2)}, edges=("w.resumed>w",)))
    first = world.wait("w").id
    world.signal("paid@1")
    assert first != world.wait("w").id
    assert 2 == len({fact.wait_id for fact in world.facts(WorkflowWaitOpened)})
    with pytest.raises(WaitClosed):
        world.tell(ResolveWait(first, "resumed", EMPTY))


def test_a_signal_reaches_the_waits_of_all_branches() -> None:
    world = World.start(gathered(signal_wait("w"), action("x")), lines("a", "b", "c"))
    assert 3 == world.signal("paid@1", {"n": 1})
    assert [("x", "a"), ("x", "b"), ("x", "c")] == world.scheduled()
    assert {"n": 1} == world.input("x", "b")["nodes"]["w"]


def test_a_wait_of_a_branch_is_resolved_alone() -> None:
    world = World.start(gathered(approval("ok"), action("x")), lines("a", "b"))
    world.resolve("ok", "approved", key="b")
    assert [("x", "b")] == world.scheduled()
    assert {"a": "Waiting", "b": "Succeeded"} == world.statuses("ok")
