"""Several at once on PostgreSQL: threads that answer the branches of one run, people, signals, beats."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from functools import partial
from itertools import count
from typing import Any

import pytest

from orchestrator.core.data import DataLimits
from orchestrator.core.outcomes import Failed, Succeeded, Suspended, receipt_of
from orchestrator.engine.engine import Engine
from orchestrator.engine.work import Work
from orchestrator.errors import WaitClosed
from orchestrator.ports.records import AttemptState
from orchestrator.ports.store import ClaimRequest
from orchestrator.pumps.metronome import PUMPS
from orchestrator.store.sql.transaction import SqlStore, open_sql_store
from orchestrator.testing.simulation import Simulation
from tests.behaviours.stage import Stage
from tests.definitions import START, action, document, for_each, join, node
from tests.engine.meddling import Meddled
from tests.engine.threads import at_once

THREADS = 8
BRANCHES = 200


def closed_already(act: Callable[[], None]) -> WaitClosed | None:
    """Act; what one is told who comes too late."""
    try:
        act()
    except WaitClosed as closed:
        return closed
    return None


def engines(stage: Stage, number: int) -> list[Engine]:
    """As many processes on the same store, each with nothing in its memory; they share the doorbells."""
    simulation = stage.simulation
    return [
        Engine(simulation.store, simulation.doorbells, simulation.clock, limits=simulation.engine.limits)
        for _ in range(number)
    ]


def chunks(works: Sequence[Work], number: int) -> list[list[Work]]:
    return [list(works[at::number]) for at in range(number)]


def claim_all(stage: Stage, engine: Engine | None = None) -> list[Work]:
    """Claim everything that has been rung for."""
    bells = list(stage.simulation.doorbells.rung)
    stage.simulation.doorbells.rung.clear()
    requests = [ClaimRequest(bell.attempt_id, "idempotent") for bell in bells]
    return (engine or stage.simulation.engine).claim(requests, "worker")


def fan(*, parallel: int, **joining: Any) -> dict[str, Any]:
    return document(
        START, for_each(configuration={"maxParallelism": parallel}), action("ship", "failed"),
        join(configuration=joining), action("after"),
        edges=("start.next>fan", "fan.each>ship", "ship.next>gather", "gather.completed>after", "gather.partial>after"),
    )  # fmt: skip


def lines(number: int) -> dict[str, Any]:
    return {"lines": [{"key": f"k{n:03}"} for n in range(number)]}


@pytest.fixture
def holder(postgres_url: str) -> Iterator[SqlStore]:
    """The store of another process, which holds a run for a while."""
    store = open_sql_store(postgres_url)
    yield store
    store.close()


@pytest.fixture
def crowded(postgres: SqlStore) -> Iterator[Stage]:
    """For fan-outs of hundreds."""
    stage = Stage(postgres, limits=DataLimits(max_bytes=2**20, max_input_bytes=2**22))
    yield stage
    assert [] == stage.simulation.verify()


def test_hundreds_of_branches_answered_by_many_at_once_lose_nothing_and_join_once(crowded: Stage) -> None:
    """Each thread is a process of its own; one bad answer in ten fails its branch."""
    crowded.begin(fan(parallel=BRANCHES, mode="atLeast", threshold=BRANCHES * 9 // 10), lines(BRANCHES))
    works = claim_all(crowded)
    assert BRANCHES == len(works)

    def answer(told: tuple[Engine, list[Work]]) -> int:
        engine, mine = told
        counted = 0
        for work in mine:
            bad = str(work.branch[-1].key).endswith("7")
            outcome = Failed("no", retryable=False) if bad else Succeeded(output={"of": work.branch[-1].key})
            counted += len(engine.advance([work.answer(receipt_of(outcome))]))
        return counted

    counted = at_once(answer, list(zip(engines(crowded, THREADS), chunks(works, THREADS), strict=True)))
    assert BRANCHES == sum(counted), "every answer counted"
    crowded.simulation.pass_time(timedelta(seconds=5))
    assert BRANCHES == sum(fact.data["execution"]["node"] == "ship" for fact in crowded.facts("NodeOperationCompleted"))
    assert 1 == len(crowded.facts("BranchesJoined"))
    assert 1 == len(crowded.calls("after"))
    assert "Succeeded" == crowded.status


def test_batches_of_answers_from_many_processes_never_exceed_the_bound(crowded: Stage) -> None:
    crowded.begin(fan(parallel=16), lines(96))
    rounds = count()
    while (works := claim_all(crowded)) and next(rounds) < 100:
        assert len(works) <= 16
        at_once(
            lambda told: told[0].advance([work.answer(receipt_of({})) for work in told[1]]),
            list(zip(engines(crowded, 4), chunks(works, 4), strict=True)),
        )
        crowded.simulation.tick()
        with crowded.simulation.store.reading() as tx:
            assert len([row for row in tx.attempts_of([crowded.run_id]) if row.node == "ship"]) <= 16
    assert 96 == sum(fact.data["execution"]["node"] == "ship" for fact in crowded.facts("NodeSucceeded"))
    assert "Succeeded" == crowded.status


def test_batches_with_answers_for_several_runs_in_demand_lose_nothing(crowded: Stage) -> None:
    """Each batch holds answers for both runs, so that everybody always holds what another wants."""
    crowded.publish(fan(parallel=60))
    runs = [crowded.orchestrator.start("test", lines(60), key=key).id for key in ("one", "two")]
    works = sorted(claim_all(crowded), key=lambda work: work.branch[-1].key)
    batches = [works[at : at + 4] for at in range(0, len(works), 4)]

    def answer(told: tuple[Engine, list[list[Work]]]) -> int:
        engine, mine = told
        return sum(len(engine.advance([work.answer(receipt_of({})) for work in batch])) for batch in mine)

    own = engines(crowded, 6)
    assert 120 == sum(at_once(answer, [(engine, batches[at::6]) for at, engine in enumerate(own)]))
    crowded.simulation.pass_time(timedelta(seconds=5))
    assert ["Succeeded", "Succeeded"] == [crowded.orchestrator.run(run).status.value for run in runs]


def test_the_answer_for_a_run_that_somebody_holds_is_stored_and_taken_up_by_the_holder(
    hot: Stage, holder: SqlStore
) -> None:
    hot.begin(document(START, action("a"), action("b"), edges=("start.next>a", "start.next>b")))
    first, second = claim_all(hot)
    other = engines(hot, 1)[0]
    with holder.transaction() as held:
        held.lock([hot.run_id], wait=True)
        assert {first.attempt_id} == other.advance([first.answer(receipt_of({"n": 1}))]), "nobody waits"
        [row] = held.attempts([first.attempt_id])
        assert row.state is AttemptState.ANSWERED
        assert not other.advance([first.answer(receipt_of({"n": 2}))]), "the second answer is late"
    assert "Scheduled" == hot.execution(first.node_id).status
    assert {second.attempt_id} == hot.simulation.engine.advance([second.answer(receipt_of({}))])
    assert "Succeeded" == hot.status
    assert {"n": 1} == hot.execution(first.node_id).output


def test_whoever_holds_a_run_looks_again_after_its_commit(hot: Stage) -> None:
    """The second answer is stored while the first is being appended: nobody else will ever take it up."""
    hot.begin(document(START, action("a"), action("b"), edges=("start.next>a", "start.next>b")))
    first, second = claim_all(hot)
    other = engines(hot, 1)[0]
    meddled = Meddled(hot.simulation.store, "append", lambda: other.advance([second.answer(receipt_of({"n": 2}))]))
    simulation = Simulation(store=meddled, clock=hot.simulation.clock)
    assert {first.attempt_id} == simulation.engine.advance([first.answer(receipt_of({"n": 1}))])
    assert ("Succeeded", {"n": 2}) == (hot.status, hot.execution(second.node_id).output)


def test_a_stored_answer_that_its_holder_never_saw_is_taken_up_by_beat(hot: Stage, holder: SqlStore) -> None:
    hot.begin(document(START, action("a"), edges=("start.next>a",)))
    [work] = claim_all(hot)
    with holder.transaction() as held:
        held.lock([hot.run_id], wait=True)
        engines(hot, 1)[0].advance([work.answer(receipt_of({"n": 1}))])
        # and here the holder ends
    assert 0 == hot.simulation.tick()
    hot.simulation.clock.move(timedelta(seconds=2))
    hot.simulation.tick()
    assert ("Succeeded", 1) == (hot.status, hot.execution("a").attempts)


@pytest.mark.parametrize("end", ("timed_out", "lost", "stopped"))
def test_an_answer_that_was_stored_first_counts_and_not_the_end_that_is_told_later(
    hot: Stage, holder: SqlStore, end: str
) -> None:
    hot.begin(document(START, action("a", policy={"maxAttempts": 3}), edges=("start.next>a",)))
    [work] = claim_all(hot)
    with holder.transaction() as held:
        held.lock([hot.run_id], wait=True)
        assert engines(hot, 1)[0].advance([work.answer(receipt_of({"n": 1}))])
    getattr(hot.simulation.engine, end)([(work.attempt_id, work.fence)])
    hot.simulation.pass_time(timedelta(minutes=1))
    assert ("Succeeded", {"n": 1}, 1) == (hot.status, hot.execution("a").output, hot.execution("a").attempts)
    assert [] == hot.facts("NodeAttemptFailed", "JobStopped")


def test_whoever_acts_on_a_run_takes_up_what_was_answered_meanwhile(hot: Stage, holder: SqlStore) -> None:
    hot.begin(
        document(START, action("a"), node("w", "wait", "resumed"), edges=("start.next>a", "start.next>w"))
    )  # fmt: skip
    [work] = claim_all(hot)
    with holder.transaction() as held:
        held.lock([hot.run_id], wait=True)
        engines(hot, 1)[0].advance([work.answer(receipt_of({}))])
    hot.orchestrator.signal(hot.run_id, "go@1")
    assert "Succeeded" == hot.status


@pytest.mark.behaviour("B65")
def test_of_many_who_decide_at_once_exactly_one_is_not_told_that_it_is_closed(hot: Stage) -> None:
    approval = node("w", "approval", "approved", "rejected")
    for round_ in range(5):
        hot.begin(document(START, approval, edges=("start.next>w",)) | {"workflow": f"w{round_}"})
        wait = hot.wait("w").id

        acts = [
            partial(hot.orchestrator.approve, wait, actor="ada"),
            partial(hot.orchestrator.reject, wait, actor="ben"),
        ]
        told = at_once(closed_already, acts * 3)
        [resolved] = hot.facts("WaitResolved")
        assert 1 == told.count(None)
        assert {resolved.data["actor"]} == {closed.actor for closed in told if closed is not None}
        assert {resolved.data["outlet"]} == {closed.outlet for closed in told if closed is not None}


@pytest.mark.behaviour("B66")
def test_a_person_and_time_at_once_make_one_resolution(hot: Stage) -> None:
    approval = node("w", "approval", "approved", "expired", configuration={"expiresAfter": "00:01:00"})
    for round_ in range(5):
        hot.begin(document(START, approval, edges=("start.next>w",)) | {"workflow": f"w{round_}"})
        wait = hot.wait("w").id
        hot.simulation.clock.move(timedelta(minutes=1))

        acts: list[Callable[[], None]] = [
            partial(hot.orchestrator.approve, wait, actor="ada"),
            partial(hot.simulation.engine.wake, [hot.run_id], hot.simulation.clock.now()),
        ]
        [closed, _] = at_once(closed_already, acts)
        [resolved] = hot.facts("WaitResolved")
        assert ("approved" if closed is None else "expired") == resolved.data["outlet"]
        assert "Succeeded" == hot.status


@pytest.mark.behaviour("B112")
def test_of_two_runs_that_suspend_on_one_key_at_once_one_gets_it(hot: Stage) -> None:
    flow = document(START, action("job"), edges=("start.next>job",))
    hot.publish(flow)
    runs = [hot.orchestrator.start("test", key=str(number)).id for number in range(4)]
    works = claim_all(hot)
    at_once(
        lambda told: told[0].advance([told[1].answer(receipt_of(Suspended("the key")))]),
        list(zip(engines(hot, 4), works, strict=True)),
    )
    hot.simulation.tick()
    assert ["Failed"] * 3 + ["Waiting"] == sorted(hot.orchestrator.run(run).status.value for run in runs)
    hot.orchestrator.complete("the key", {})
    assert 1 == sum(hot.orchestrator.run(run).status == "Succeeded" for run in runs)


def test_two_beats_on_one_store_do_no_harm(hot: Stage) -> None:
    """Timers, retries, vanished workers and lost doorbells of many runs, looked after by two beats at once."""
    flow = document(
        START, action("a", policy={"maxAttempts": 3, "retryDelay": "00:00:07"}), action("b"),
        node("t", "wait", "elapsed", configuration={"kind": "timer", "after": "00:00:20"}), action("c"),
        edges=("start.next>a", "start.next>t", "a.next>b", "t.elapsed>c"),
    )  # fmt: skip
    hot.publish(flow)
    runs = [hot.orchestrator.start("test", key=str(number)).id for number in range(12)]
    for work in claim_all(hot)[:8]:
        hot.answer(work, Failed("at first")) if work.run_id in runs[:4] else None  # the others vanish
    beats = engines(hot, 2)
    for _ in range(40):
        hot.simulation.clock.move(timedelta(seconds=4))
        at_once(lambda beat: [pump.run(beat, hot.simulation.clock.now(), 3) for pump in PUMPS for _ in range(4)], beats)
        for work in claim_all(hot):
            hot.answer(work, {})
    assert {"Succeeded"} == {hot.orchestrator.run(run).status.value for run in runs}
    for run in runs:
        facts = hot.orchestrator.facts(run)
        handed = [(f.data["execution"]["id"], f.data["attempt"]) for f in facts if f.type == "WorkflowNodeScheduled"]
        assert len(handed) == len(set(handed)), "one fact for each attempt"
        assert 1 == sum(fact.type == "WorkflowWaitResolved" for fact in facts)


def test_cancelling_while_branches_answer_leaves_nothing_behind(crowded: Stage) -> None:
    crowded.begin(fan(parallel=40), lines(40))
    works = claim_all(crowded)
    own = engines(crowded, 5)

    def act(number: int) -> None:
        if number == 0:
            crowded.orchestrator.cancel(crowded.run_id, actor="ada")
        else:
            for work in chunks(works, 4)[number - 1]:
                own[number].advance([work.answer(receipt_of({}))])

    at_once(act, list(range(5)))
    assert "Cancelled" == crowded.status
    assert "RunCancelled" == crowded.types()[-1]
    with crowded.simulation.store.reading() as tx:
        assert [] == tx.attempts_of([crowded.run_id])
