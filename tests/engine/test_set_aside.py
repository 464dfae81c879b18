"""A run that cannot be read or stored is set aside: it is named, nothing of it changes, and its neighbours go on."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from structlog.testing import capture_logs

from orchestrator.core.data import JsonText
from orchestrator.core.outcomes import receipt_of
from orchestrator.engine.auditing import audit, mend
from orchestrator.engine.work import Work
from orchestrator.errors import CeleriacError, Rejected, UnknownFact
from orchestrator.ports.records import Change, StoredFact
from orchestrator.ports.store import ClaimRequest, Store, Transaction
from orchestrator.store.memory import MemoryStore
from orchestrator.testing.simulation import Simulation
from tests.definitions import START, action, document, node

FLOW = document(START, action("x"), node("t", "wait", "elapsed", configuration={"kind": "timer", "after": "00:01:00"}),
                action("y"), edges=("start.next>x", "start.next>t", "x.next>y"))  # fmt: skip


def from_a_newer_release(store: Store, run_id: str) -> None:
    """A fact of a type that is not known here."""
    with store.transaction() as tx:
        row = tx.run(run_id)
        assert row is not None
        [last] = tx.facts(run_id, after=row.tail - 1)
        fact = StoredFact(row.tail + 1, "WorkflowNodeTeleported", last.at, JsonText("{}"))
        tx.append([Change(replace(row, tail=row.tail + 1), row.tail, (fact,))])


def with_a_field_missing(store: Store, run_id: str) -> None:
    """A fact of a known type without what it must have."""
    with store.transaction() as tx:
        row = tx.run(run_id)
        assert row is not None
        [last] = tx.facts(run_id, after=row.tail - 1)
        fact = StoredFact(row.tail + 1, "WorkflowNodeScheduled", last.at, JsonText("{}"))
        tx.append([Change(replace(row, tail=row.tail + 1), row.tail, (fact,))])


def with_a_row_that_lags(store: Store, run_id: str) -> None:
    """The row of the run ends before its journal does."""
    with store.transaction() as tx:
        row = tx.run(run_id)
        assert row is not None
        tx.append([Change(replace(row, tail=row.tail - 1), row.tail, ())])


def with_a_definition_that_no_longer_loads(store: Store, run_id: str) -> None:
    """A journal whose first fact cannot be understood: the same run under another id."""
    with store.transaction() as tx:
        row, facts = tx.run(run_id), tx.facts(run_id)
        attempts = tx.attempts_of([run_id])
        timers = tx.timers_of(run_id)
        assert row is not None
        bad = run_id[::-1]
        first = replace(facts[0], data=JsonText(facts[0].data.replace('"kind":"trigger"', '"kind":"oracle"')))
        assert first != facts[0]
        tx.append(
            [
                Change(
                    replace(row, run_id=bad, key="bad"),
                    0,
                    (first, *facts[1:]),
                    owed=tuple(replace(a, run_id=bad, attempt_id=a.attempt_id[::-1]) for a in attempts),
                    timers=tuple(replace(timer, run_id=bad) for timer in timers),
                )
            ]
        )


FAULTS: tuple[Callable[[Store, str], None], ...] = (
    from_a_newer_release,
    with_a_field_missing,
    with_a_row_that_lags,
    with_a_definition_that_no_longer_loads,
)


def running(store: Store, *keys: str) -> tuple[Simulation, list[str]]:
    simulation = Simulation(store=store, scripts={"test.x@1": {}, "test.y@1": {}})
    simulation.orchestrator.publish(FLOW)
    return simulation, [simulation.orchestrator.start("test", key=key).id for key in keys]


def claimed(simulation: Simulation) -> list[Work]:
    """Everything that is owed, claimed in one batch."""
    bells = list(simulation.doorbells.rung)
    simulation.doorbells.rung.clear()
    return simulation.engine.claim([ClaimRequest(bell.attempt_id, "safe") for bell in bells], "worker")


def statuses(simulation: Simulation, *runs: str) -> list[str]:
    with simulation.store.reading() as tx:
        return [row.status for row in map(tx.run, runs) if row is not None]


@pytest.mark.parametrize("fault", FAULTS)
def test_the_answers_of_one_batch_count_though_one_run_cannot_be_decided_for(
    store: Store, fault: Callable[[Store, str], None]
) -> None:
    simulation, runs = running(store, "a", "b", "c")
    works = claimed(simulation)
    fault(store, runs[1])
    simulation = simulation.restarted()
    with capture_logs() as logs:
        counted = simulation.engine.advance([work.answer(receipt_of({"n": 1})) for work in works])
    good = [work for work in works if work.run_id != runs[1]]
    assert {work.attempt_id for work in good} <= counted
    assert [False, False] == [simulation.engine.state(work.run_id).pending > 0 for work in good]
    if fault is not with_a_definition_that_no_longer_loads:
        assert [runs[1]] == [line["run"] for line in logs if line["event"] == "run_set_aside"]
        assert runs[1] in {difference.run_id for difference in audit(store)}
        with store.reading() as tx:
            [kept] = tx.attempts_of([runs[1]])
        assert kept.receipt is not None, "the answer is kept until somebody has mended the run"
    simulation.settle()
    simulation.pass_time(timedelta(minutes=1))
    assert ["Succeeded", "Succeeded"] == statuses(simulation, runs[0], runs[2])


@pytest.mark.parametrize("fault", FAULTS)
def test_timers_leases_and_doorbells_of_the_neighbours_are_looked_after(
    store: Store, fault: Callable[[Store, str], None]
) -> None:
    simulation, runs = running(store, "a", "b", "c")
    claimed(simulation)  # by a worker that vanishes
    fault(store, runs[1])
    simulation = simulation.restarted()
    for _ in range(12):
        simulation.clock.move(timedelta(seconds=10))
        simulation.tick()
        simulation.settle()
    assert ["Succeeded", "Succeeded"] == statuses(simulation, runs[0], runs[2])


def test_a_run_of_a_newer_release_goes_on_in_a_newer_release_as_if_nothing_had_been(store: Store) -> None:
    """What is set aside changes nothing: what was answered meanwhile is taken up by whoever can read the run."""
    simulation, [run] = running(store, "a")
    [work] = claimed(simulation)
    with_a_row_that_lags(store, run)
    old = simulation.restarted()
    assert {work.attempt_id} == old.engine.advance([work.answer(receipt_of({"n": 1}))])
    for difference in list(audit(store)):
        assert mend(store, difference)
    old.clock.move(timedelta(minutes=2))
    old.tick()
    old.settle()
    assert ["Succeeded"] == statuses(old, run)
    assert [] == old.verify()


@pytest.mark.parametrize("fault", FAULTS[:3])
def test_whoever_asks_for_a_run_that_cannot_be_read_is_told_which_and_why(
    store: Store, fault: Callable[[Store, str], None]
) -> None:
    simulation, runs = running(store, "a")
    fault(store, runs[0])
    orchestrator = simulation.restarted().orchestrator
    asked: tuple[Callable[[], Any], ...] = (
        lambda: orchestrator.cancel(runs[0]),
        lambda: orchestrator.signal(runs[0], "go@1"),
    )
    for ask in asked:
        with pytest.raises(CeleriacError) as told:
            ask()
        assert isinstance(told.value, UnknownFact) or runs[0] in told.value.message
        assert type(told.value) in (CeleriacError, UnknownFact)


def test_a_stored_definition_that_no_longer_loads_stops_only_its_own_workflow(store: Store) -> None:
    simulation, _ = running(store)
    with store.transaction() as tx:
        good = tx.definition("default", "test")
        assert good is not None
        bad = replace(good, workflow="old", document=JsonText('{"workflow":"old"}'))
        assert tx.add_definition(bad)
        tx.activate("default", "old", 1)
    with pytest.raises(Rejected) as rejected:
        simulation.orchestrator.start("old", {"a": float("nan")})
    assert ["InvalidPayload", "UnreadableDefinition"] == [reason.kind for reason in rejected.value.reasons]
    with pytest.raises(CeleriacError, match="version 1 of 'old'"):
        simulation.orchestrator.definition("old")
    assert simulation.orchestrator.start("test").created
    assert ["old", "test"] == [row.workflow for row in simulation.orchestrator.definitions()]


class AfterFailover:
    """A store that was replaced by one that had not seen the last commits."""

    def __init__(self, store: Store) -> None:
        self.now = store

    def transaction(self) -> AbstractContextManager[Transaction]:
        return self.now.transaction()

    def reading(self) -> AbstractContextManager[Transaction]:
        return self.now.reading()

    def close(self) -> None:
        self.now.close()


def test_a_process_that_knows_commits_which_a_failover_lost_goes_on_from_what_is_stored() -> None:
    behind = MemoryStore()
    running(behind, "a")
    failing = AfterFailover(MemoryStore())
    simulation, [run] = running(failing, "a")
    simulation.settle()
    assert "x" in {work.node_id for work in simulation.performed}
    failing.now = behind
    simulation.clock.move(timedelta(seconds=10))
    simulation.tick()
    simulation.settle()
    simulation.pass_time(timedelta(minutes=1))
    assert "Succeeded" == simulation.orchestrator.run(run).status
    assert [] == simulation.verify()
