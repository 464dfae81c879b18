"""The crash enumerator: a process is stopped before and after every commit, so also between an append and its doorbell;
another goes on from the store alone. The outcome is the one without the crash, and no completed attempt is performed
again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any, Literal, TypeAlias

import pytest

from orchestrator.core.ids import run_id
from orchestrator.core.journal import JournalEntry
from orchestrator.core.outcomes import Ambiguous, Failed, Succeeded, Suspended
from orchestrator.core.snapshot import RunSnapshot
from orchestrator.errors import CeleriacError
from orchestrator.ports.store import Store
from orchestrator.store.memory import MemoryStore
from orchestrator.testing.clock import MovableClock
from orchestrator.testing.crash import CrashingStore, SimulatedCrash
from orchestrator.testing.simulation import Simulation
from tests.definitions import START, action, document, for_each, join, node, visits

LINES = {"lines": [{"key": f"k{n}"} for n in range(4)]}

#: What people and systems do from outside: told when the run stands still, and told again when nobody heard them.
Outside = Callable[[Simulation, RunSnapshot], None]
When: TypeAlias = Literal["before", "after"]
Of: TypeAlias = Literal["append", "commit"]
WHEN: tuple[When, ...] = ("before", "after")


@dataclass(frozen=True)
class Case:
    """One workflow with what its performers answer by (node, key, attempt) and what happens from outside."""

    name: str
    document: dict[str, Any]
    answers: Callable[[str, str | None, int], Any] = lambda node, key, attempt: {}
    outside: Sequence[Outside] = field(default_factory=tuple)
    key: str = "crash"


def approve(simulation: Simulation, run: RunSnapshot) -> None:
    for wait in run.waits:
        if wait.kind == "approval":
            simulation.orchestrator.approve(wait.id, {"by": "ada"}, actor="ada")


def approve_one(simulation: Simulation, run: RunSnapshot) -> None:
    """Approve for the second item: its branch is the first that ends well."""
    for wait in run.waits:
        if wait.execution.branch and wait.execution.branch[-1].key == "k1":
            simulation.orchestrator.approve(wait.id, actor="ada")


def pay(simulation: Simulation, run: RunSnapshot) -> None:
    simulation.orchestrator.signal(run.id, "paid@1", {"n": 1})


def complete(simulation: Simulation, run: RunSnapshot) -> None:
    for wait in run.waits:
        if wait.key is not None:
            simulation.orchestrator.complete(wait.key, {"done": True})


def reconcile(simulation: Simulation, run: RunSnapshot) -> None:
    for execution in run.executions:
        if execution.status == "ReconciliationRequired":
            simulation.orchestrator.reconcile(run.id, execution.id, Succeeded(output={"paid": 1}), actor="ada")


CASES = (
    Case(
        "chain with retries",
        document(
            START,
            action("a", policy={"maxAttempts": 3, "retryDelay": "00:00:05"}),
            action("b", policy={"maxAttempts": 2}),
            action("c"),
            edges=("start.next>a", "a.next>b", "b.next>c"),
        ),
        lambda node, key, attempt: Failed("again") if (node, attempt) in {("a", 1), ("a", 2), ("b", 1)} else {"n": 1},
    ),
    Case(
        "fork",
        document(
            START, action("a"), action("b"), action("bad", "failed"), action("caught"), action("x", policy=visits(2)),
            edges=("start.next>a", "start.next>b", "start.next>bad", "a.next>x", "b.next>x", "bad.failed>caught"),
        ),
        lambda node, key, attempt: Failed("no") if node == "bad" else {"of": node},
    ),
    Case(
        "loop",
        document(
            START, action("x", policy=visits(4)), node("more", "decision", "yes", "no", policy=visits(4)),
            action("end"),
            edges=("start.next>x", "x.next>more", "more.yes>x", "more.no>end"),
        ),
        lambda node, key, attempt: Succeeded("no" if key == "3" else "yes") if node == "more" else {},
    ),
    Case(
        # One at a time: with more, who wins depends on time, and time is what a crash costs.
        "fan-out with early join",
        document(
            START, for_each(configuration={"maxParallelism": 1}), action("ship", "failed"),
            node("hold", "approval", "approved"), join(configuration={"mode": "any"}), action("after"),
            edges=("start.next>fan", "fan.each>ship", "fan.each>hold", "hold.approved>gather", "ship.next>gather",
                   "gather.completed>after"),
        ),
        lambda node, key, attempt: Failed("no") if key == "k0" else {"of": key},
        outside=(approve_one,),
    ),
    Case(
        "fan-out of all",
        document(
            START, for_each(configuration={"maxParallelism": 2}), action("ship", "failed"), action("pack"), join(),
            action("all"), action("some"),
            edges=("start.next>fan", "fan.each>ship", "ship.next>pack", "pack.next>gather", "gather.completed>all",
                   "gather.partial>some"),
        ),
        lambda node, key, attempt: Failed("no stock") if (node, key) == ("ship", "k2") else {"text": "y" * 900},
    ),
    Case(
        "waits and approvals",
        document(
            START, node("t", "wait", "elapsed", configuration={"kind": "timer", "after": "1.00:00:00"}),
            node("ok", "approval", "approved", "expired", configuration={"expiresAfter": "30.00:00:00"}),
            node("paid", "wait", "resumed", configuration={"signal": {"id": "paid", "version": 1}}), action("end"),
            edges=("start.next>t", "t.elapsed>ok", "ok.approved>paid", "paid.resumed>end"),
        ),
        outside=(approve, pay),
    ),
    Case(
        "suspended node",
        document(
            START, action("job", policy={"maxAttempts": 2}), action("end"),
            edges=("start.next>job", "job.next>end"),
        ),
        lambda node, key, attempt: Suspended(f"key-{attempt}", timedelta(days=9)) if node == "job" else {},
        outside=(complete,),
    ),
    Case(
        "stopped for a person",
        document(
            START, action("pay"), action("other", policy={"maxAttempts": 2, "retryDelay": "00:00:01"}), action("end"),
            edges=("start.next>pay", "start.next>other", "pay.next>end"),
        ),
        lambda node, key, attempt: Ambiguous("?") if node == "pay" else Failed("no") if (node, attempt) == ("other", 1)
        else {},
        outside=(reconcile,),
    ),
)  # fmt: skip


class Attempted:
    """Effects in the world outside, by attempt: what no crash takes back."""

    def __init__(self) -> None:
        self.performed: Counter[tuple[str, int]] = Counter()
        #: Attempts whose answer was stored when a process ended.
        self.stored: set[tuple[str, int]] = set()
        self.again: list[tuple[str, int]] = []


class World:
    """One run driven to its end by processes that may be stopped; only store, clock and the outside outlive them."""

    def __init__(self, case: Case, store: Store) -> None:
        self.case = case
        self.store = store
        self.clock = MovableClock()
        self.attempted = Attempted()

    def process(self, store: Store) -> Simulation:
        """A new process with nothing in its memory."""
        simulation = Simulation(store=store, clock=self.clock)
        for each in self.case.document["graph"]["nodes"]:
            if "capability" in each:
                simulation.script(each["capability"], self._performer(each["id"]))
        return simulation

    def _performer(self, name: str) -> Callable[[Any], Any]:
        def perform(call: Any) -> Any:
            attempt = (call.execution_id, call.attempt)
            if attempt in self.attempted.stored:
                self.attempted.again.append(attempt)
            self.attempted.performed[attempt] += 1
            key = call.branch[-1].key if call.branch else str(call.visit)
            return self.case.answers(name, key, call.attempt)

        return perform

    def drive(self, simulation: Simulation) -> RunSnapshot:
        """From wherever the store stands to the end; a start and an outside act that went unheard are told again."""
        simulation.orchestrator.publish(self.case.document)
        run = simulation.orchestrator.start("test", LINES, key=self.case.key)
        found = simulation.orchestrator.run(run.id)
        for _ in range(200):
            found = simulation.run_to_end(run.id, within=timedelta(hours=36))
            if found.status.final:
                return found
            if any(execution.status == "Scheduled" for execution in found.executions):
                self.clock.move(timedelta(seconds=31))
                simulation.tick()
            else:
                for act in self.case.outside:
                    act(simulation, simulation.orchestrator.run(run.id))
        raise AssertionError(f"{self.case.name}: the run does not end: {found.document()}")

    def note_stored(self) -> None:
        """Which attempts are answered for, as of now."""
        simulation = self.process(self.store)
        try:
            for fact in journal(simulation, self.case.key):
                if fact.type == "WorkflowNodeOperationCompleted":
                    self.attempted.stored.add((fact.data["execution"]["id"], fact.data["attempt"]))
        except CeleriacError:
            pass  # the run is not stored yet


def journal(simulation: Simulation, key: str) -> list[JournalEntry]:
    return simulation.orchestrator.facts(run_id("default", "test", key))


def outcome_of(run: RunSnapshot) -> list[Any]:
    """What must not depend on crashes: the end, and each execution's end."""
    ends = [(e.id, e.status.value, e.outlet, e.output, e.attempts) for e in run.executions]
    return [run.status.value, sorted(ends, key=lambda end: end[0]), run.unreachable]


def crashed_and_recovered(case: Case, store: Store, *, at: int, when: When, of: Of) -> tuple[World, RunSnapshot, bool]:
    world = World(case, store)
    crashing = CrashingStore(store, at=at, when=when, of=of)
    try:
        return world, world.drive(world.process(crashing)), False
    except SimulatedCrash:
        world.note_stored()
    return world, world.drive(world.process(store)), True


def reference(case: Case) -> tuple[list[Any], CrashingStore]:
    """The outcome without a crash, and how many appends and commits it took."""
    counting = CrashingStore(MemoryStore(), at=10**9, when="before")
    world = World(case, counting)
    run = world.drive(world.process(counting))
    return outcome_of(run), counting


def check(case: Case, store: Store, expected: list[Any], *, at: int, when: When, of: Of) -> None:
    world, run, crashed = crashed_and_recovered(case, store, at=at, when=when, of=of)
    assert crashed
    assert expected == outcome_of(run)
    assert [] == world.attempted.again, "a completed attempt was performed again"
    assert max(world.attempted.performed.values()) <= 2, "one crash repeats an attempt once at most"
    assert [] == world.process(store).verify()


@pytest.mark.behaviour("B99")
@pytest.mark.parametrize("when", WHEN)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_crash_at_any_append_changes_nothing_but_time(case: Case, when: When) -> None:
    expected, seen = reference(case)
    assert 4 <= seen.appends
    for at in range(1, seen.appends + 1):
        check(case, MemoryStore(), expected, at=at, when=when, of="append")


@pytest.mark.behaviour("B46")
@pytest.mark.behaviour("B47")
@pytest.mark.parametrize("when", WHEN)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_crash_at_any_commit_changes_nothing_but_time(case: Case, when: When) -> None:
    """Claims and what beat takes are commits without an append."""
    expected, seen = reference(case)
    assert seen.appends < seen.commits
    for at in range(1, seen.commits + 1):
        check(case, MemoryStore(), expected, at=at, when=when, of="commit")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_crash_on_a_database_changes_nothing_but_time(case: Case, store: Store) -> None:
    """A sample, on every store in turn: the first append, one in the middle, and the last."""
    _, seen = reference(case)
    samples: tuple[tuple[int, When], ...] = (
        (1, "after"), (seen.appends // 2, "before"), (seen.appends // 2, "after"), (seen.appends, "before"),
    )  # fmt: skip
    for number, (at, when) in enumerate(samples):
        own = replace(case, key=f"crash-{number}")
        check(own, store, reference(own)[0], at=at, when=when, of="append")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_doorbells_that_are_all_lost_change_nothing_but_time(case: Case) -> None:
    expected, _ = reference(case)
    world = World(case, MemoryStore())
    simulation = world.process(world.store)
    simulation.orchestrator.publish(case.document)
    run = simulation.orchestrator.start("test", LINES, key=case.key)
    for _ in range(500):
        simulation.doorbells.rung.clear()
        found = simulation.orchestrator.run(run.id)
        if found.status.final:
            break
        due = simulation.next_due()
        if any(execution.status == "Scheduled" for execution in found.executions):
            world.clock.move(timedelta(seconds=11))
        elif due is not None and due < world.clock.now() + timedelta(hours=36):
            world.clock.move_to(due)
        else:
            for act in case.outside:
                act(simulation, simulation.orchestrator.run(run.id))
            simulation.doorbells.rung.clear()
        simulation.tick()
        while simulation.doorbells.rung:
            bell = simulation.claim_next()
            simulation.doorbells.rung.clear()
            if bell is not None:
                simulation.perform(bell)
                simulation.doorbells.rung.clear()
    assert expected == outcome_of(simulation.orchestrator.run(run.id))
    assert {1} == set(world.attempted.performed.values())
    assert [] == simulation.verify()
