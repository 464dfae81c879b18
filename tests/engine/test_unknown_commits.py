"""The line to the database breaks at a commit and nobody knows whether it took place: the process lives on with all it
remembers, does again what it was about to do, and nothing is lost or done twice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any, Literal, TypeVar

import pytest

from orchestrator.core.outcomes import Failed
from orchestrator.engine.work import Work
from orchestrator.errors import CommitUnknown, WaitClosed
from orchestrator.performers.performing import perform
from orchestrator.ports.store import Transaction
from orchestrator.store.memory import MemoryStore
from orchestrator.testing.crash import CrashingStore, SimulatedCrash
from orchestrator.testing.simulation import Simulation
from tests.definitions import START, action, document, for_each, join, node

T = TypeVar("T")

FLOW = document(
    START, action("load", policy={"maxAttempts": 2, "retryDelay": "00:00:05"}),
    for_each(configuration={"maxParallelism": 2}), action("ship", "failed"), join(),
    node("ok", "approval", "approved", "expired", configuration={"expiresAfter": "1.00:00:00"}),
    node("t", "wait", "elapsed", configuration={"kind": "timer", "after": "00:01:00"}), action("end"),
    edges=("start.next>load", "load.next>fan", "fan.each>ship", "ship.next>gather", "gather.partial>ok",
           "ok.approved>t", "t.elapsed>end"),
)  # fmt: skip
LINES = {"lines": [{"key": f"k{n}"} for n in range(3)]}


class BreakingLine(CrashingStore):
    """Breaks once, before or after a commit; the process hears that nobody knows."""

    @contextmanager
    def transaction(self) -> Iterator[Transaction]:
        try:
            with super().transaction() as tx:
                yield tx
        except SimulatedCrash:
            raise CommitUnknown from None


class Stubborn(Simulation):
    """A worker that keeps its answer until it is recorded, as the desk does."""

    def perform(self, work: Work) -> bool:
        self.performed.append(work)
        answer = work.answer(perform(self.table, work))
        return bool(insisting(lambda: self.engine.advance([answer])))


def insisting(act: Callable[[], T]) -> T:
    """Do it, and do it again when nobody knows whether it was done."""
    try:
        return act()
    except CommitUnknown:
        return act()


def played(store: CrashingStore) -> tuple[Stubborn, list[Any]]:
    """One run from its publication to its end, in one process."""
    simulation = Stubborn(store=store)
    orchestrator = simulation.orchestrator
    simulation.script("test.load@1", lambda call: Failed("busy") if call.attempt == 1 else {"n": 1})
    simulation.script(
        "test.ship@1", lambda call: Failed("no stock") if call.branch[-1].key == "k1" else {"text": "y" * 900}
    )
    simulation.script("test.end@1", {})
    insisting(lambda: orchestrator.publish(FLOW))
    started = insisting(lambda: orchestrator.start("test", LINES, key="the run"))
    assert started.created, "whoever started it is told so, though the line broke"
    while not (found := insisting(lambda: simulation.run_to_end(started.id, within=timedelta(hours=2)))).status.final:
        for wait in found.waits:
            if wait.kind == "approval":
                try:
                    insisting(lambda: orchestrator.approve(wait.id, {"by": "ada"}, actor="ada"))  # noqa: B023
                except WaitClosed as closed:
                    assert closed.actor == "ada", "it is one's own approval that is in the way"  # noqa: PT017
    ends = [(e.id, e.status.value, e.outlet, e.output, e.attempts) for e in found.executions]
    return simulation, [found.status.value, sorted(ends), found.unreachable]


@pytest.mark.parametrize("when", ("before", "after"))
def test_a_commit_that_nobody_knows_of_changes_nothing_but_time(when: Literal["before", "after"]) -> None:
    counting = BreakingLine(MemoryStore(), at=10**9, when="before", of="commit")
    expected = played(counting)[1]
    assert "Succeeded" == expected[0]
    for at in range(1, counting.commits + 1):
        breaking = BreakingLine(MemoryStore(), at=at, when=when, of="commit")
        simulation, outcome = played(breaking)
        assert breaking.crashed
        assert expected == outcome
        assert max(Counter(work.attempt_id for work in simulation.performed).values()) <= 1
        assert [] == simulation.verify()
