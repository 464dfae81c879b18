"""The testing kit for users: what its page says it does."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Literal

import pytest

from orchestrator.core.outcomes import Ambiguous, Failed, Succeeded, Suspended
from orchestrator.errors import Rejected
from orchestrator.graph import Workflow, workflow
from orchestrator.performers.invocation import AttemptOver, Invocation
from orchestrator.performers.performer import performer
from orchestrator.store.memory import MemoryStore
from orchestrator.store.migrate import upgrade_store
from orchestrator.store.sql.transaction import open_sql_store
from orchestrator.testing.clock import MovableClock
from orchestrator.testing.crash import CrashingStore, SimulatedCrash
from orchestrator.testing.simulation import Simulation

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def reminder() -> Workflow:
    """Send, wait thirty days, send a last notice."""
    flow = workflow("billing.remind", version=1, area="billing")
    start = flow.trigger("start")
    send = flow.action("send", "billing.send@1", max_attempts=3, retry_delay=timedelta(seconds=10))
    month = flow.wait_timer("month", after=timedelta(days=30))
    final = flow.action("final", "billing.final-notice@1")
    start >> send >> month >> final
    return flow


def single(*outlets: str, **policy: object) -> Workflow:
    """One action."""
    flow = workflow("one", version=1, area="tests")
    work = flow.action("work", "one.work@1", outlets=("next", *outlets), **policy)  # type: ignore[arg-type]
    flow.trigger("start").next(work)
    return flow


def simulated(flow: Workflow, **scripts: object) -> tuple[Simulation, str]:
    """Published and started, with a script for each capability (`one.work@1` is written `one_work`)."""
    simulation = Simulation(scripts={f"{name.replace('_', '.')}@1": answers for name, answers in scripts.items()})
    simulation.orchestrator.publish(flow)
    return simulation, simulation.orchestrator.start(flow.id).id


# --- time ------------------------------------------------------------------------------------------------------------


def test_a_workflow_of_thirty_days_takes_milliseconds() -> None:
    simulation = Simulation(scripts={"billing.send@1": [Failed("busy"), {"sent": True}], "billing.final-notice@1": {}})
    simulation.orchestrator.publish(reminder())
    run = simulation.orchestrator.start("billing.remind")
    began = time.perf_counter()
    ended = simulation.run_to_end(run.id)
    assert time.perf_counter() - began < 1
    assert "Succeeded" == ended.status
    assert timedelta(days=30, seconds=10) == simulation.clock.now() - ended.started_at
    assert ["send", "send", "final"] == [work.node_id for work in simulation.performed]
    assert [] == simulation.verify()


def test_passing_time_stops_wherever_something_is_due() -> None:
    """Things happen at their own time, not all at the end of the jump."""
    simulation = Simulation(scripts={"billing.send@1": [Failed("busy"), {}], "billing.final-notice@1": {}})
    simulation.orchestrator.publish(reminder())
    run = simulation.orchestrator.start("billing.remind").id
    started = simulation.clock.now()
    simulation.pass_time(timedelta(days=365))
    facts = simulation.orchestrator.facts(run)
    [sent_again] = [f.at for f in facts if f.type == "WorkflowNodeScheduled" and f.data["attempt"] == 2]
    [elapsed] = [f.at for f in facts if f.type == "WorkflowWaitResolved"]
    assert timedelta(seconds=10) == sent_again - started
    assert timedelta(days=30, seconds=10) == elapsed - started
    assert timedelta(days=365) == simulation.clock.now() - started


def test_a_run_to_the_end_stops_where_only_a_person_can_go_on() -> None:
    flow = workflow("ask", version=1, area="tests")
    flow.trigger("start").next(flow.approval("review"))
    simulation, run = simulated(flow)
    assert "Waiting" == simulation.run_to_end(run).status
    [wait] = simulation.orchestrator.waits()
    simulation.orchestrator.approve(wait.wait_id, actor="ada")
    assert "Succeeded" == simulation.run_to_end(run).status


def test_a_run_to_the_end_goes_no_further_than_it_is_told() -> None:
    simulation = Simulation(scripts={"billing.send@1": {}, "billing.final-notice@1": {}})
    simulation.orchestrator.publish(reminder())
    run = simulation.orchestrator.start("billing.remind").id
    assert "Waiting" == simulation.run_to_end(run, within=timedelta(days=29)).status
    assert "Succeeded" == simulation.run_to_end(run, within=timedelta(days=31)).status


def test_the_clock_stands_still_until_it_is_moved_and_never_goes_back() -> None:
    clock = MovableClock(NOON)
    assert clock.now() == clock.now() == NOON
    assert NOON + timedelta(hours=1) == clock.move(timedelta(hours=1))
    assert NOON + timedelta(hours=1) == clock.move_to(NOON), "what is past changes nothing"
    with pytest.raises(ValueError, match="forward"):
        clock.move(timedelta(seconds=-1))


def test_next_due_tells_when_time_alone_will_move_something() -> None:
    simulation, _ = simulated(single(max_attempts=2, retry_delay=timedelta(minutes=5)), one_work=Failed("no"))
    simulation.settle()
    assert simulation.clock.now() + timedelta(minutes=5) == simulation.next_due()
    simulation.pass_time(timedelta(minutes=5))
    assert simulation.next_due() is None


# --- performers ------------------------------------------------------------------------------------------------------


def test_performers_of_your_own_are_performed_as_they_are() -> None:
    @performer("one.work", version=1)
    def work(call: Invocation) -> object:
        return {"hello": call.input["trigger"]["payload"]["name"], "key": call.idempotency_key}

    simulation = Simulation(work)
    simulation.orchestrator.publish(single())
    run = simulation.orchestrator.start("one", {"name": "ada"})
    [_, done] = simulation.run_to_end(run.id).executions
    assert {"hello": "ada", "key": done.id} == done.output


def test_a_script_answers_one_after_the_other_and_repeats_the_last() -> None:
    simulation, run = simulated(single("failed", max_attempts=5, retry_delay=timedelta(seconds=1)))
    script = simulation.script("one.work@1", Failed("1"), ValueError("2"), lambda call: Failed(str(call.attempt)))
    simulation.run_to_end(run)
    assert [1, 2, 3, 4, 5] == [call.attempt for call in script.calls]
    facts = simulation.orchestrator.facts(run)
    assert ["1", "ValueError: 2", "3", "4", "5"] == [
        fact.data["reason"] for fact in facts if fact.type == "WorkflowNodeAttemptFailed"
    ]


def test_what_a_performer_raised_is_kept_for_the_test() -> None:
    simulation, _ = simulated(single(), one_work=KeyError("total"))
    simulation.settle()
    [raised] = simulation.raised
    with pytest.raises(KeyError, match="total"):
        raise raised


def test_a_capability_may_have_no_performer_at_all() -> None:
    simulation, run = simulated(single("failed"), one_work={})
    simulation.forget("one.work@1")
    [failure] = simulation.run_to_end(run).failures
    assert ("PerformerMissing", None) == (failure.kind, failure.outlet)


def test_a_performer_sees_the_clock_of_the_simulation() -> None:
    simulation, run = simulated(single(attempt_timeout=timedelta(minutes=1)))

    def slow(call: Invocation) -> object:
        call.heartbeat()
        simulation.clock.move(timedelta(minutes=1))
        call.heartbeat()
        return {}

    simulation.script("one.work@1", slow)
    simulation.settle()
    assert ["TimedOut"] == [failure.kind for failure in simulation.orchestrator.run(run).failures]
    assert [AttemptOver] == [type(error) for error in simulation.raised]


def test_a_performer_that_is_called_off_notices_at_its_heartbeat_and_records_nothing() -> None:
    simulation, run = simulated(single())

    def cancelling(call: Invocation) -> object:
        simulation.orchestrator.cancel(run)
        call.heartbeat()
        return {}

    simulation.script("one.work@1", cancelling)
    simulation.settle()
    assert "Cancelled" == simulation.orchestrator.run(run).status
    [told] = simulation.raised
    assert isinstance(told, AttemptOver)
    assert told.called_off


def test_a_workflow_that_never_comes_to_rest_is_noticed() -> None:
    flow = workflow("round", version=1, area="tests")
    step = flow.action("step", "one.work@1", max_visits=1_000)
    flow.trigger("start").next(step)
    step.next(step)
    simulation, _ = simulated(flow, one_work={})
    with pytest.raises(AssertionError, match="does not come to rest: 50 attempts"):
        simulation.settle(most=50)


# --- one step at a time ----------------------------------------------------------------------------------------------


def test_a_worker_that_vanishes_is_one_that_claims_and_never_answers() -> None:
    simulation, run = simulated(single(), one_work={"by": "the second"})
    held = simulation.claim_next()
    assert held is not None
    ended = simulation.run_to_end(run)
    assert "Succeeded" == ended.status
    assert timedelta(seconds=30) == simulation.clock.now() - ended.started_at, "the lease ran out"
    assert not simulation.perform(held), "an answer under an old claim is late"


def test_a_doorbell_that_is_lost_is_rung_again() -> None:
    simulation, run = simulated(single(), one_work={})
    simulation.doorbells.rung.clear()
    assert "Succeeded" == simulation.run_to_end(run).status
    assert 1 == len(simulation.performed)


def test_a_doorbell_that_rings_for_nothing_claims_nothing() -> None:
    simulation, _ = simulated(single(), one_work={})
    bell = simulation.doorbells.rung[0]
    simulation.settle()
    simulation.doorbells.rung.append(bell)
    assert simulation.claim_next() is None


def test_people_and_systems_act_through_the_handle_of_a_producer() -> None:
    flow = workflow("long", version=1, area="tests")
    start, job, pay = flow.trigger("start"), flow.action("job", "one.job@1"), flow.action("pay", "one.pay@1")
    paid = flow.wait_signal("paid", signal="paid@1")
    start >> job >> pay >> paid
    simulation, run = simulated(flow, one_job=Suspended("job 1"), one_pay=Ambiguous("?"))
    act = simulation.orchestrator
    simulation.settle()
    act.complete("job 1", {"done": True})
    simulation.settle()
    [doubtful] = act.run(run).executions_of("pay")
    act.reconcile(run, doubtful.id, Succeeded(), actor="ada")
    assert 1 == act.signal(run, "paid@1", {"n": 1})
    assert "Succeeded" == act.run(run).status
    assert [] == simulation.verify()


# --- crashes ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("when", ("before", "after"))
def test_a_process_may_end_at_any_append_and_another_goes_on(when: Literal["before", "after"]) -> None:
    appends = 0
    while True:
        appends += 1
        store = CrashingStore(MemoryStore(), at=appends, when=when)
        simulation = Simulation(
            store=store, scripts={"billing.send@1": [Failed("busy"), {}], "billing.final-notice@1": {}}
        )
        simulation.orchestrator.publish(reminder())
        try:
            run = simulation.orchestrator.start("billing.remind", key="one").id
            simulation.run_to_end(run)
        except SimulatedCrash:
            simulation = simulation.restarted()
            run = simulation.orchestrator.start("billing.remind", key="one").id
            assert "Succeeded" == simulation.run_to_end(run).status
            assert [] == simulation.verify()
        else:
            break
    assert 6 == appends - 1


@pytest.mark.parametrize(("of", "at"), (("append", 2), ("commit", 3)))
def test_a_crash_comes_once_at_the_append_or_the_commit_that_was_named(
    of: Literal["append", "commit"], at: int
) -> None:
    """The second append is the answer of the work; the third commit, after publishing and starting, is its claim."""
    store = CrashingStore(MemoryStore(), at=at, when="after", of=of)
    simulation = Simulation(store=store, scripts={"one.work@1": {}})
    simulation.orchestrator.publish(single())
    run = simulation.orchestrator.start("one").id
    with pytest.raises(SimulatedCrash):
        simulation.settle()
    assert at == (store.appends if of == "append" else store.commits)
    assert ("Succeeded" if of == "append" else "Running") == simulation.orchestrator.run(run).status
    assert "Succeeded" == simulation.restarted().run_to_end(run).status


def test_a_crash_is_told_when_and_of_what() -> None:
    with pytest.raises(ValueError, match="before"):
        CrashingStore(MemoryStore(), at=1, when="during")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="commit"):
        CrashingStore(MemoryStore(), at=1, when="after", of="fact")  # type: ignore[arg-type]


def test_a_performer_may_take_its_process_with_it() -> None:
    simulation, run = simulated(single(), one_work=[SimulatedCrash(), {"by": "another"}])
    with pytest.raises(SimulatedCrash):
        simulation.settle()
    simulation = simulation.restarted()
    ended = simulation.run_to_end(run)
    assert {"by": "another"} == ended.executions_of("work")[0].output
    assert [] == simulation.verify()


def test_no_user_code_can_catch_a_crash_by_accident() -> None:
    assert not issubclass(SimulatedCrash, Exception)


# --- surroundings ----------------------------------------------------------------------------------------------------


def test_the_same_simulation_runs_on_a_database(tmp_path: Path) -> None:
    store = open_sql_store(f"sqlite:///{tmp_path}/test.db")
    upgrade_store(store)
    simulation = Simulation(store=store, scripts={"billing.send@1": {}, "billing.final-notice@1": {}})
    simulation.orchestrator.publish(reminder())
    run = simulation.orchestrator.start("billing.remind").id
    assert "Succeeded" == simulation.run_to_end(run).status
    assert [] == simulation.verify()
    store.close()


def test_a_workflow_that_nobody_published_is_refused_as_everywhere() -> None:
    with pytest.raises(Rejected):
        Simulation().orchestrator.start("nobody.published-this")
