"""A run that cannot be read or stored is set aside: it is named, nothing of it changes, and its neighbours go on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from structlog.testing import capture_logs

from orchestrator.core.data import JsonText
from orchestrator.core.ids import attempt_id, execution_id
from orchestrator.core.outcomes import receipt_of
from orchestrator.engine.auditing import audit, mend
from orchestrator.engine.work import Work
from orchestrator.errors import CeleriacError, Rejected, UnknownFact
from orchestrator.ports.records import AttemptState, Change, StoredFact
from orchestrator.ports.store import ClaimRequest, Store, Transaction
from orchestrator.store.memory import MemoryStore
from orchestrator.testing.simulation import Simulation
from tests.definitions import START, action, document, node

FLOW = document(
    START, action("x"), node("t", "wait", "elapsed", configuration={"kind": "timer", "after": "00:01:00"}), action("y"),
    node("late", "wait", "elapsed", configuration={"kind": "timer", "after": "00:00:07"}),
    edges=("start.next>x", "start.next>t", "x.next>y", "x.next>late"),
)  # fmt: skip

#: Starts a run with the key `bad`, claims its work and does something bad to it: the work, of a run that is bad now.
Fault = Callable[[Store], Work]


def started(store: Store) -> Work:
    """A run that is good so far."""
    simulation, _ = running(store, "bad")
    [work] = claimed(simulation)
    return work


def appended(store: Store, run_id: str, type_: str) -> None:
    """One more fact without anything in it."""
    with store.transaction() as tx:
        row = tx.run(run_id)
        assert row is not None
        fact = StoredFact(row.tail + 1, type_, row.updated_at, JsonText("{}"))
        tx.append([Change(replace(row, tail=row.tail + 1), row.tail, (fact,))])


def from_a_newer_release(store: Store) -> Work:
    """A fact of a type that is not known here."""
    work = started(store)
    appended(store, work.run_id, "WorkflowNodeTeleported")
    return work


def with_a_field_missing(store: Store) -> Work:
    """A fact of a known type without what it must have."""
    work = started(store)
    appended(store, work.run_id, "WorkflowNodeScheduled")
    return work


def with_a_row_that_lags(store: Store) -> Work:
    """The row of the run ends before its journal does."""
    work = started(store)
    with store.transaction() as tx:
        row = tx.run(work.run_id)
        assert row is not None
        tx.append([Change(replace(row, tail=row.tail - 1), row.tail, ())])
    return work


def with_an_attempt_that_is_in_the_way(store: Store) -> Work:
    """A row of an attempt that the journal does not know yet: what follows can be decided and never stored."""
    work = started(store)
    with store.transaction() as tx:
        row, [attempt] = tx.run(work.run_id), tx.attempts_of([work.run_id])
        assert row is not None
        following = attempt_id(execution_id(work.run_id, (), "y", 1), 1)
        owed = replace(attempt, attempt_id=following, state=AttemptState.OWED, node="y")
        tx.append([Change(row, row.tail, (), owed=(owed,))])
    return work


def with_a_definition_that_no_longer_loads(store: Store) -> Work:
    """A journal that cannot be folded from its first fact on."""
    return started(Rewriting(store, '"kind":"trigger"', '"kind":"oracle"'))


def with_a_configuration_that_no_longer_fits(store: Store) -> Work:
    """A journal that folds, and a decision that stumbles over a node."""
    return started(Rewriting(store, '"after":"00:00:07"', '"after":"some day"'))


class Rewriting:
    """A store that writes something else into first facts than it was given."""

    def __init__(self, store: Store, was: str, becomes: str) -> None:
        self._store = store
        self._was = was
        self._becomes = becomes

    @contextmanager
    def transaction(self) -> Iterator[Transaction]:
        with self._store.transaction() as tx:
            write = tx.append

            def append(changes: Sequence[Change]) -> None:
                write([replace(change, facts=tuple(map(self._rewritten, change.facts))) for change in changes])

            tx.append = append  # type: ignore[method-assign]
            yield tx

    def _rewritten(self, fact: StoredFact) -> StoredFact:
        if fact.number != 1:
            return fact
        assert self._was in fact.data
        return replace(fact, data=JsonText(fact.data.replace(self._was, self._becomes)))

    def reading(self) -> AbstractContextManager[Transaction]:
        return self._store.reading()

    def close(self) -> None:
        self._store.close()


FAULTS: tuple[Fault, ...] = (
    from_a_newer_release,
    with_a_field_missing,
    with_a_row_that_lags,
    with_an_attempt_that_is_in_the_way,
    with_a_definition_that_no_longer_loads,
    with_a_configuration_that_no_longer_fits,
)


@pytest.fixture
def logs() -> Iterator[list[Any]]:
    """What is logged meanwhile."""
    with capture_logs() as captured:
        yield captured


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
    store: Store, logs: list[Any], fault: Fault
) -> None:
    simulation, runs = running(store, "a", "c")
    works = claimed(simulation)
    bad = fault(store)
    simulation = simulation.restarted()
    answers = [work.answer(receipt_of({"n": 1})) for work in (works[0], bad, works[1])]
    counted = simulation.engine.advance(answers)
    assert {works[0].attempt_id, bad.attempt_id, works[1].attempt_id} == counted
    assert [bad.run_id] == [line["run"] for line in logs if line["event"] == "run_set_aside"]
    with store.reading() as tx:
        [kept] = tx.attempts([bad.attempt_id])
    assert kept.receipt is not None, "the answer is kept until somebody has mended the run"
    assert ["Succeeded"] * 2 == [simulation.orchestrator.run(run).executions_of("x")[0].status for run in runs]
    simulation.settle()
    simulation.pass_time(timedelta(minutes=1))
    assert ["Succeeded"] * 2 == statuses(simulation, *runs)
    if fault is not with_a_configuration_that_no_longer_fits:
        assert {bad.run_id} == {difference.run_id for difference in audit(store)}


@pytest.mark.usefixtures("logs")
@pytest.mark.parametrize("fault", FAULTS)
def test_timers_leases_and_doorbells_of_the_neighbours_are_looked_after(store: Store, fault: Fault) -> None:
    simulation, runs = running(store, "a", "c")
    claimed(simulation)  # by a worker that vanishes
    fault(store)
    simulation = simulation.restarted()
    for _ in range(12):
        simulation.clock.move(timedelta(seconds=10))
        simulation.tick()
        simulation.settle()
    assert ["Succeeded"] * 2 == statuses(simulation, *runs)


@pytest.mark.usefixtures("logs")
def test_a_run_that_was_mended_goes_on_with_what_was_answered_meanwhile(store: Store) -> None:
    work = with_a_row_that_lags(store)
    old, [run] = running(store, "bad")
    assert {work.attempt_id} == old.engine.advance([work.answer(receipt_of({"n": 1}))])
    for difference in list(audit(store)):
        assert mend(store, difference)
    old.pass_time(timedelta(minutes=2))
    assert ["Succeeded"] == statuses(old, run)
    assert [] == old.verify()


@pytest.mark.parametrize("fault", FAULTS[:3])
def test_whoever_asks_for_a_run_that_cannot_be_read_is_told_which_and_why(store: Store, fault: Fault) -> None:
    run = fault(store).run_id
    orchestrator = running(store)[0].orchestrator
    asked: tuple[Callable[[], Any], ...] = (
        lambda: orchestrator.cancel(run),
        lambda: orchestrator.signal(run, "go@1"),
    )
    for ask in asked:
        with pytest.raises(CeleriacError) as told:
            ask()
        assert isinstance(told.value, UnknownFact) or run in told.value.message
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
