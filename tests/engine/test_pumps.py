"""Beat's pumps, a batch at a time: doorbells, leases, deadlines, timers; and what an ended beat leaves to the next."""

from __future__ import annotations

from collections import Counter
from datetime import datetime, timedelta

import pytest

from orchestrator.core.outcomes import Ambiguous, Failed, Succeeded
from orchestrator.ports.records import TimerRow
from orchestrator.ports.store import ClaimRequest
from orchestrator.pumps.attempts import LONGEST_RING_GAP, due_attempts
from orchestrator.pumps.timers import due_timers
from orchestrator.store.memory import MemoryStore
from orchestrator.testing.crash import CrashingStore, SimulatedCrash
from orchestrator.testing.simulation import Simulation
from tests.behaviours.stage import Stage
from tests.definitions import START, action, document, for_each, join, node

ONE = document(START, action("work"), edges=("start.next>work",))


def wait_for_bell(stage: Stage) -> float:
    """Seconds until beat rings."""
    before = stage.simulation.clock.now()
    while not stage.simulation.doorbells.rung:
        due = stage.simulation.next_due()
        assert due is not None
        stage.simulation.clock.move_to(due)
        stage.simulation.tick()
    stage.simulation.doorbells.rung.clear()
    return (stage.simulation.clock.now() - before).total_seconds()


# --- doorbells -------------------------------------------------------------------------------------------------------


@pytest.mark.behaviour("B49")
def test_the_gap_between_rings_doubles_up_to_a_longest_one(stored: Stage) -> None:
    stored.begin(ONE)
    stored.simulation.doorbells.rung.clear()
    gaps = [wait_for_bell(stored) for _ in range(10)]
    longest = LONGEST_RING_GAP.total_seconds()
    assert [5, 10, 20, 40, 80, 160, 320, longest, longest, longest] == gaps
    assert 1 == stored.types().count("NodeScheduled")


def test_a_queue_of_many_is_not_flooded(stored: Stage) -> None:
    """In ten minutes of waiting each attempt is rung for six times, however often beat ticks."""
    stored.publish(ONE)
    for number in range(30):
        stored.run_id = stored.orchestrator.start("test", key=str(number)).id
    stored.simulation.doorbells.rung.clear()
    for _ in range(120):
        stored.simulation.clock.move(timedelta(seconds=5))
        stored.simulation.tick()
    rings = Counter(bell.attempt_id for bell in stored.simulation.doorbells.rung)
    assert (30, {6}) == (len(rings), set(rings.values()))


def test_one_batch_takes_no_more_than_it_is_told_and_the_rest_follows(stored: Stage) -> None:
    stored.publish(ONE)
    for number in range(5):
        stored.run_id = stored.orchestrator.start("test", key=str(number)).id
    stored.simulation.doorbells.rung.clear()
    now = stored.simulation.clock.move(timedelta(seconds=5))
    assert [2, 2, 1, 0] == [due_attempts(stored.simulation.engine, now, 2) for _ in range(4)]
    assert 5 == len({bell.attempt_id for bell in stored.simulation.doorbells.rung})


def test_an_attempt_that_is_claimed_is_not_rung_for(stored: Stage) -> None:
    stored.begin(ONE)
    work = stored.claim("work")
    for _ in range(10):
        stored.simulation.clock.move(timedelta(seconds=20))
        assert {work.attempt_id} == stored.simulation.engine.renew([(work.attempt_id, work.fence)])
        stored.simulation.tick()
    assert [] == list(stored.simulation.doorbells.rung)
    assert stored.answer(work, {})


# --- leases ----------------------------------------------------------------------------------------------------------


@pytest.mark.behaviour("B46")
def test_a_worker_may_vanish_twice_and_the_third_time_is_a_failed_attempt(stored: Stage) -> None:
    stored.begin(document(START, action("work", "failed", policy={"maxAttempts": 2, "retryDelay": "00:00:00"}),
                          action("caught"), edges=("start.next>work", "work.failed>caught")))  # fmt: skip
    fences = []
    for _ in range(6):
        fences.append(stored.claim("work").fence)
        stored.simulation.clock.move(timedelta(seconds=30))
        stored.simulation.tick()
    assert sorted(set(fences)) == fences, "no claim is like an earlier one"
    assert ["worker lost 3 times"] * 2 == [fact.data["reason"] for fact in stored.facts("NodeAttemptFailed")]
    assert ("Failed", 2) == (stored.execution("work").status, stored.execution("work").attempts)
    stored.simulation.settle()
    assert "Succeeded" == stored.execution("caught").status


def test_an_effect_that_may_happen_once_is_never_handed_out_a_second_time(stored: Stage) -> None:
    stored.begin(document(START, action("work", policy={"maxAttempts": 5}), edges=("start.next>work",)))
    work = stored.claim("work", effect="once")
    stored.simulation.clock.move(timedelta(seconds=30))
    stored.simulation.tick()
    assert "ReconciliationRequired" == stored.status
    assert [] == list(stored.simulation.doorbells.rung)
    assert [] == stored.simulation.engine.claim([ClaimRequest(work.attempt_id, "once")], "other")
    stored.orchestrator.reconcile(stored.run_id, work.execution_id, Succeeded(), actor="ada")
    assert "Succeeded" == stored.status


def test_a_lease_that_was_renewed_while_beat_was_slow_is_no_loss(stored: Stage) -> None:
    stored.begin(ONE)
    work = stored.claim("work")
    claim = [(work.attempt_id, work.fence)]
    stored.simulation.clock.move(timedelta(seconds=30))
    assert {work.attempt_id} == stored.simulation.engine.renew(claim)
    stored.simulation.engine.lost(claim, unless_renewed=True)
    assert stored.answer(work, {})
    assert "Succeeded" == stored.status


@pytest.mark.behaviour("B40")
def test_a_worker_that_is_past_the_deadline_is_called_off(stored: Stage) -> None:
    stored.begin(document(START, action("work", policy={"attemptTimeout": "00:00:20"}), edges=("start.next>work",)))
    work = stored.claim("work")
    stored.simulation.clock.move(timedelta(seconds=20))
    stored.simulation.tick()
    assert [work.attempt_id] == stored.simulation.doorbells.called_off
    assert ["TimedOut"] == [failure.kind for failure in stored.run.failures]


def test_what_is_handed_back_is_handed_out_at_once_and_counts_for_nothing(stored: Stage) -> None:
    stored.begin(ONE)
    fences = []
    for _ in range(5):
        work = stored.claim("work")
        fences.append(work.fence)
        stored.simulation.engine.hand_back([(work.attempt_id, work.fence)])
        assert [work.attempt_id] == [bell.attempt_id for bell in stored.simulation.doorbells.rung]
        assert not stored.answer(work, {"late": True})
    with stored.simulation.store.reading() as tx:
        [row] = tx.attempts_of([stored.run_id])
    assert (0, None) == (row.losses, row.worker)
    assert sorted(set(fences)) == fences
    stored.simulation.settle()
    assert ("Succeeded", 1) == (stored.status, stored.execution("work").attempts)


def test_handing_back_under_an_old_fence_takes_nothing_from_the_present_worker(stored: Stage) -> None:
    stored.begin(ONE)
    old = stored.claim("work")
    stored.simulation.engine.lost([(old.attempt_id, old.fence)])
    new = stored.claim("work")
    for tell in (stored.simulation.engine.hand_back, stored.simulation.engine.lost, stored.simulation.engine.stopped):
        tell([(old.attempt_id, old.fence)])
    assert stored.answer(new, {})


# --- timers ----------------------------------------------------------------------------------------------------------

RETRIED = document(
    START, for_each(configuration={"maxParallelism": 1}),
    action("ship", policy={"maxAttempts": 2, "retryDelay": "00:00:10"}), join(),
    edges=("start.next>fan", "fan.each>ship", "ship.next>gather"),
)  # fmt: skip


def timer_of(stage: Stage, execution: str) -> TimerRow:
    with stage.simulation.store.reading() as tx:
        [timer] = [timer for timer in tx.timers_of(stage.run_id) if timer.execution_id == execution]
    return timer


def test_a_retry_that_is_due_while_no_slot_is_free_is_handed_out_when_one_is(stored: Stage) -> None:
    stored.begin(RETRIED, {"lines": [{"key": "a"}, {"key": "b"}]})
    stored.answer(stored.claim("ship", "a"), Failed("at first"))
    slow = stored.claim("ship", "b")
    stored.simulation.doorbells.rung.clear()
    for _ in range(3):
        stored.simulation.clock.move(timedelta(seconds=10))
        stored.simulation.engine.renew([(slow.attempt_id, slow.fence)])
        stored.simulation.tick()
    assert "RetryPending" == stored.execution("ship", "a").status
    assert timer_of(stored, stored.execution("ship", "a").id).parked
    assert 0 == due_timers(stored.simulation.engine, stored.simulation.clock.now(), 10), "it is not looked at again"
    assert stored.answer(slow, {})
    assert ("Scheduled", 2) == (stored.execution("ship", "a").status, stored.execution("ship", "a").attempts)
    stored.simulation.settle()
    assert "Succeeded" == stored.status


def test_a_timer_is_parked_only_when_it_is_due_for_slower_clocks_too(stored: Stage) -> None:
    """Whoever frees the slot may have a clock that is behind beat's: until it is due there too, beat looks again."""
    stored.begin(RETRIED, {"lines": [{"key": "a"}, {"key": "b"}]})
    stored.answer(stored.claim("ship", "a"), Failed("at first"))
    stored.claim("ship", "b")
    stored.simulation.clock.move(timedelta(seconds=10))
    stored.simulation.tick()
    assert not timer_of(stored, stored.execution("ship", "a").id).parked


@pytest.mark.behaviour("B96")
def test_a_wait_that_expires_and_a_retry_that_is_due_while_the_run_is_stopped_follow_afterwards(stored: Stage) -> None:
    stored.begin(
        document(
            START, action("pay"), action("retried", policy={"maxAttempts": 2, "retryDelay": "00:01:00"}),
            node("ok", "approval", "approved", "expired", configuration={"expiresAfter": "00:02:00"}),
            node("t", "wait", "elapsed", configuration={"kind": "timer", "after": "00:03:00"}),
            edges=("start.next>pay", "start.next>retried", "start.next>ok", "start.next>t"),
        )
    )  # fmt: skip
    stored.answer(stored.claim("retried"), Failed("at first"))
    stored.answer(stored.claim("pay"), Ambiguous("?"))
    for _ in range(10):
        stored.simulation.clock.move(timedelta(minutes=1))
        stored.simulation.tick()
    assert 0 == due_timers(stored.simulation.engine, stored.simulation.clock.now(), 10)
    assert ("RetryPending", "Waiting", "Waiting") == tuple(
        stored.execution(name).status.value for name in ("retried", "ok", "t")
    )
    stored.orchestrator.reconcile(stored.run_id, stored.execution("pay").id, Succeeded(), actor="ada")
    assert ("expired", "elapsed") == (stored.execution("ok").outlet, stored.execution("t").outlet)
    stored.simulation.settle()
    assert "Succeeded" == stored.status


def test_many_timers_of_many_runs_come_in_batches_and_each_once(stored: Stage) -> None:
    stored.publish(
        document(START, node("t", "wait", "elapsed", configuration={"kind": "timer", "after": "00:01:00"}),
                 edges=("start.next>t",))
    )  # fmt: skip
    runs = [stored.orchestrator.start("test", key=str(number)).id for number in range(25)]
    now = stored.simulation.clock.move(timedelta(minutes=1))
    assert [10, 10, 5, 0] == [due_timers(stored.simulation.engine, now, 10) for _ in range(4)]
    for run in runs:
        facts = stored.orchestrator.facts(run)
        assert 1 == sum(fact.type == "WorkflowWaitResolved" for fact in facts)
        assert "WorkflowRunSucceeded" == facts[-1].type


# --- a beat that ends ------------------------------------------------------------------------------------------------


def took(at: datetime, simulation: Simulation) -> None:
    """One tick of both pumps."""
    for pump in (due_timers, due_attempts):
        pump(simulation.engine, at, 10)


@pytest.mark.parametrize("commit", (1, 2))
def test_what_a_beat_took_and_did_not_do_comes_up_again_for_the_next(commit: int) -> None:
    store = MemoryStore()
    stage = Stage(store)
    stage.begin(
        document(START, node("t", "wait", "elapsed", configuration={"kind": "timer", "after": "00:01:00"}),
                 action("after"), edges=("start.next>t", "t.elapsed>after"))
    )  # fmt: skip
    now = stage.simulation.clock.move(timedelta(minutes=1))
    dying = Simulation(store=CrashingStore(store, at=commit, when="after", of="commit"), clock=stage.simulation.clock)
    with pytest.raises(SimulatedCrash):
        took(now, dying)
    stage.simulation.pass_time(timedelta(seconds=6))
    assert "Succeeded" == stage.status
    assert 1 == len(stage.facts("WaitResolved"))
    assert [] == stage.simulation.verify()
