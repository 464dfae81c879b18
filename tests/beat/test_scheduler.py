"""The metronome: which pump runs when, what a flood and a failure do, and that entries of the application go on."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from celery import Celery

from beat.scheduler import BATCH, LONGEST_REST, TURNS, Metronome, Pumping
from orchestrator.engine.engine import Engine
from orchestrator.errors import StoreUnavailable
from orchestrator.pumps.pump import Pump
from orchestrator.store.memory import MemoryStore
from orchestrator.testing.clock import MovableClock
from orchestrator.testing.simulation import Doorbells, Simulation

NOW = datetime(2026, 1, 1, tzinfo=UTC)


class Counted:
    """A pump that answers what it is told and remembers its turns."""

    def __init__(self, *answers: int | Exception) -> None:
        self.answers = list(answers)
        self.turns: list[datetime] = []

    def __call__(self, engine: Engine, now: datetime, limit: int) -> int:
        self.turns.append(now)
        answer = self.answers.pop(0) if self.answers else 0
        if isinstance(answer, Exception):
            raise answer
        return answer

    def pump(self, every: float = 1.0) -> Pump:
        return Pump("counted", timedelta(seconds=every), self)


@pytest.fixture
def engine() -> Engine:
    return Engine(MemoryStore(), Doorbells(), MovableClock(NOW))


def test_a_pump_runs_once_a_tick_and_is_told_the_time(engine: Engine) -> None:
    counted = Counted()
    pumping = Pumping(engine, [counted.pump()], 1.0)
    assert 1.0 == pumping.run(100.0, NOW)
    assert 0.5 == pumping.run(100.5, NOW)
    assert 1.0 == pumping.run(101.0, NOW + timedelta(seconds=1))
    assert [NOW, NOW + timedelta(seconds=1)] == counted.turns


def test_a_flood_is_drained_in_bounded_turns_and_goes_on_at_once(engine: Engine) -> None:
    flooded, other = Counted(*[BATCH] * 7), Counted()
    pumping = Pumping(engine, [flooded.pump(), other.pump()], 1.0)
    assert 0.0 == pumping.run(0.0, NOW)
    assert TURNS == len(flooded.turns)
    assert 1 == len(other.turns)
    pumping.run(0.1, NOW)
    assert 8 == len(flooded.turns)
    assert 1 == len(other.turns)


@pytest.mark.parametrize("problem", (StoreUnavailable(), RuntimeError("a bug")))
def test_a_pump_that_fails_rests_longer_each_time_and_stops_no_other(engine: Engine, problem: Exception) -> None:
    broken, other = Counted(*[problem] * 10), Counted()
    pumping = Pumping(engine, [broken.pump(), other.pump()], 1.0)
    times = []
    for second in range(200):
        before = len(broken.turns)
        pumping.run(float(second), NOW)
        if len(broken.turns) > before:
            times.append(second)
    assert [0, 2, 6, 14, 30, 60, 90, 120, 150, 180] == times
    assert LONGEST_REST == times[-1] - times[-2]
    assert 200 == len(other.turns)


def test_the_ticks_of_beat_wake_what_is_due_and_run_the_entries_of_the_application() -> None:
    simulation = Simulation(scripts={"work@1": {"done": True}})
    simulation.orchestrator.publish(_timer())
    run = simulation.orchestrator.start("waiting")
    app = Celery("beat-test", set_as_current=False)
    app.conf.update(broker_url="memory://", beat_schedule={"own": {"task": "own.task", "schedule": 3600.0}})
    metronome = Metronome(app, engine=simulation.engine, schedule={}, max_interval=1)
    assert {"own"} == set(metronome.schedule)
    simulation.clock.move(timedelta(minutes=5))
    assert 1.0 >= metronome.tick()
    simulation.settle()
    assert "Succeeded" == simulation.orchestrator.run(run.id).status
    assert [] == simulation.verify()


def _timer() -> dict[str, object]:
    nodes = [
        {"id": "start", "kind": "trigger", "outlets": ["next"]},
        {
            "id": "pause",
            "kind": "wait",
            "outlets": ["elapsed"],
            "configuration": {"kind": "timer", "after": "00:05:00"},
        },
        {"id": "work", "kind": "action", "capability": "work@1", "outlets": ["next"]},
    ]
    edges = [
        {"from": "start", "outlet": "next", "to": "pause"},
        {"from": "pause", "outlet": "elapsed", "to": "work"},
    ]
    return {"workflow": "waiting", "version": 1, "area": "tests", "graph": {"nodes": nodes, "edges": edges}}
