"""What a worker leaves behind when it is stopped, killed or cut off, and what it tells those who watch."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any, Self

import pytest

from orchestrator.engine.rows import doorbell
from orchestrator.ports.records import AttemptRow
from orchestrator.pumps.attempts import due_attempts
from tests.services.presence import NeverReady
from tests.services.redis import RedisServer
from tests.workers.plant import Plant, Run, until

pytestmark = pytest.mark.timeout(180)

Make = Callable[..., Plant]


@pytest.fixture
def made(tmp_path: Path) -> Iterator[Make]:
    """Makes plants."""
    plants: list[Plant] = []

    def make(broker_url: str, pool: str = "prefork", **settings: str) -> Plant:
        plants.append(Plant(tmp_path, broker_url, pool, **settings))
        return plants[-1]

    yield make
    for plant in plants:
        plant.close()


def row(run: Run) -> AttemptRow | None:
    """The row of a run's first attempt."""
    with run.plant.engine.store.reading() as tx:
        return next(iter(tx.attempts([run.attempt_id])), None)


def stopped(process: subprocess.Popen[bytes], how: signal.Signals) -> int:
    """Send a signal and wait for the end."""
    process.send_signal(how)
    return process.wait(timeout=30)


# --- planned stops ----------------------------------------------------------------------------------------------------


def test_a_planned_stop_lets_what_runs_end_and_gives_back_what_does_not_run(made: Make, redis_url: str) -> None:
    plant = made(redis_url, look_ahead="2")
    with plant.worker() as process:
        first = plant.start("t.block")
        running = [first, plant.again(first.workflow)]
        until(lambda: all(run.lines("begun") for run in running))
        claimed = [plant.again(first.workflow) for _ in range(2)]
        until(lambda: all((found := row(run)) is not None and found.state == "claimed" for run in claimed))
        process.send_signal(signal.SIGTERM)
        until(lambda: "Warm shutdown" in plant.log)
        for run in running:
            run.go()
        assert 0 == process.wait(timeout=30)
    assert ["Succeeded"] * 2 == [run.snapshot().status for run in running]
    assert [("owed", 0, [])] * 2 == [
        (found.state, found.losses, run.lines("begun")) for run in claimed if (found := row(run)) is not None
    ]
    assert "Traceback" not in plant.log


@pytest.mark.parametrize("pool", ("threads", "solo"))
def test_a_worker_that_does_nothing_stops_at_once(made: Make, redis_url: str, pool: str) -> None:
    plant = made(redis_url, pool)
    with plant.worker() as process:
        assert "Succeeded" == plant.start("t.echo").ended().status
        assert 0 == stopped(process, signal.SIGTERM)
    assert "Traceback" not in plant.log


def test_a_cold_stop_is_recorded_as_a_stop_and_uses_no_attempt(made: Make, redis_url: str) -> None:
    plant = made(redis_url)
    with plant.worker() as process:
        run, doubtful = plant.start("t.block"), plant.start("t.block-once")
        until(lambda: run.lines("begun") and doubtful.lines("begun"))
        stopped(process, signal.SIGQUIT)
    assert run.has("WorkflowJobStopped")
    assert 1 == run.execution.attempts
    assert "ReconciliationRequired" == doubtful.snapshot().status


# --- crashes ----------------------------------------------------------------------------------------------------------


@pytest.mark.behaviour("B46")
def test_an_attempt_of_a_worker_that_was_killed_is_performed_again_under_the_same_number(
    made: Make, redis_url: str
) -> None:
    plant = made(redis_url, lease="1.5", heartbeat="0.5")
    with plant.worker() as process:
        run = plant.start("t.block")
        until(lambda: run.lines("begun"))
        process.kill()
        process.wait()
    run.go()
    with plant.worker():
        until(lambda: pumped(plant) and run.snapshot().status.final)
    assert ["1", "1"] == run.lines("begun")
    assert 1 == run.facts().count("WorkflowNodeScheduled")


@pytest.mark.behaviour("B47")
def test_an_attempt_that_was_answered_is_not_performed_again_by_a_message_that_comes_back(
    made: Make, redis_url: str
) -> None:
    plant = made(redis_url)
    with plant.worker():
        run = plant.start("t.count")
        run.ended()
        ring(plant, run, times=5)
        other = plant.start("t.count")
        other.ended()
    assert 1 == len(run.lines("calls"))


@pytest.mark.behaviour("B48")
def test_a_message_that_comes_many_times_is_claimed_once(made: Make, redis_url: str) -> None:
    plant = made(redis_url)
    run = plant.start("t.count")
    ring(plant, run, times=10)
    with plant.worker():
        run.ended()
        other = plant.start("t.count")
        other.ended()
    assert 1 == len(run.lines("calls"))


def pumped(plant: Plant) -> bool:
    """What a beat would do now."""
    due_attempts(plant.engine, plant.engine.clock.now(), 100)
    return True


def ring(plant: Plant, run: Run, *, times: int) -> None:
    """Ring again, as a broker does that delivers more than once."""
    state = plant.engine.state(run.id)
    with plant.engine.store.reading() as tx:
        found = list(tx.attempts([run.attempt_id]))
    bell = doorbell(found[0]) if found else None
    for _ in range(times):
        if bell is not None:
            plant.engine.dispatcher.ring([bell])
        else:
            plant.app.send_task(
                "t.count@1", args=(run.attempt_id,), kwargs={"run": state.run_id}, task_id=run.attempt_id
            )


def test_a_broker_that_is_started_again_costs_time_and_nothing_else(made: Make, redis_server: RedisServer) -> None:
    plant = made(redis_server.url)
    with plant.worker():
        running = plant.start("t.block")
        until(lambda: running.lines("begun"))
        redis_server.stop()
        running.go()
        missed = plant.again(running.workflow)
        missed.go()
        until(lambda: "Cannot connect" in plant.log)
        redis_server.start()
        assert "Succeeded" == running.ended().status
        until(lambda: plant.log.count("Connected to redis") == 2)
        due_attempts(plant.engine, plant.engine.clock.now() + timedelta(seconds=10), 100)
        assert "Succeeded" == missed.ended().status
        assert plant.process.poll() is None
    assert [["1"], ["1"]] == [run.lines("begun") for run in (running, missed)]


# --- much at once -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("broker", ("redis", "rabbitmq"))
def test_two_hundred_quick_attempts_are_each_performed_once(
    made: Make, request: pytest.FixtureRequest, broker: str
) -> None:
    plant = made(request.getfixturevalue(f"{broker}_url"))
    first = plant.start("t.count")
    runs = [first, *(plant.again(first.workflow) for _ in range(199))]
    with plant.worker():
        assert {"Succeeded"} == {run.ended().status for run in runs}
    assert {1} == {len(run.lines("calls")) for run in runs}


@pytest.mark.behaviour("B114")
def test_never_more_calls_in_flight_than_the_limit_of_a_capability(made: Make, redis_url: str) -> None:
    plant = made(redis_url, "threads", limits="t.crowd=2")
    first = plant.start("t.crowd")
    shared = first.folder
    start = partial(plant.orchestrator.start, first.workflow, {"folder": str(shared)})
    runs = [first, *(Run(plant, start().id, shared, first.workflow) for _ in range(9))]
    with plant.worker("-c", "6"):
        assert {"Succeeded"} == {run.ended().status for run in runs}
    assert {1, 2} >= {run.execution.output["inside"] for run in runs}


# --- what is told to those who watch ----------------------------------------------------------------------------------


class Watching:
    """What Flower would see: the events of all tasks."""

    def __init__(self, plant: Plant) -> None:
        self.events: list[dict[str, Any]] = []
        self._app = plant.app
        self._stop = threading.Event()
        self._there = threading.Event()
        self._thread = threading.Thread(target=self._watch)

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._there.wait(10)
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _watch(self) -> None:
        with self._app.connection_for_read() as connection:
            receiver = self._app.events.Receiver(connection, handlers={"*": self.events.append})
            with receiver.consumer_context() as (line, _, _):
                self._there.set()
                while not self._stop.is_set():
                    with contextlib.suppress(TimeoutError):
                        line.drain_events(timeout=0.1)

    def of(self, run: Run) -> list[str]:
        """The events of a run's attempt, in order."""
        return [event["type"] for event in self.events if event.get("uuid") == run.attempt_id]

    def last(self, run: Run) -> dict[str, Any]:
        """The last one."""
        return next(event for event in reversed(self.events) if event.get("uuid") == run.attempt_id)


@pytest.mark.parametrize("pool", ("prefork", "threads"))
def test_those_who_watch_are_told_the_truth_under_the_name_of_the_capability(
    made: Make, redis_url: str, pool: str
) -> None:
    plant = made(redis_url, pool)
    with plant.worker(), Watching(plant) as watching:
        good, raising, failing = plant.start("t.echo"), plant.start("t.raise"), plant.start("t.fail")
        for run in (good, raising, failing):
            run.ended()
        until(lambda: all(len(watching.of(run)) == 4 for run in (good, raising, failing)))
    began = ["task-sent", "task-received", "task-started"]
    assert sorted([*began, "task-succeeded"]) == sorted(watching.of(good))
    assert sorted([*began, "task-failed"]) == sorted(watching.of(raising)) == sorted(watching.of(failing))
    names = {event["name"] for event in watching.events if event["type"] == "task-received"}
    assert {"t.echo@1", "t.raise@1", "t.fail@1"} == names
    assert "next" == watching.last(good)["result"]
    assert "Error: ValueError: boom" == watching.last(raising)["exception"]
    assert 'raise ValueError("boom")' in watching.last(raising)["traceback"]
    assert ("Error: no stock (NO_STOCK)", "") == tuple(
        watching.last(failing)[name] for name in ("exception", "traceback")
    )


def test_those_who_watch_are_told_of_kills_and_revokes(made: Make, redis_url: str) -> None:
    plant = made(redis_url, grace="0.2")
    with plant.worker(), Watching(plant) as watching:
        lost = plant.start("t.die-once")
        late = plant.start("t.block", attemptTimeout="00:00:01")
        revoked = plant.start("t.block", retryDelay="01:00:00")
        until(lambda: revoked.lines("begun"))
        plant.call_off(revoked.attempt_id)
        for run, event in ((lost, "task-failed"), (late, "task-failed"), (revoked, "task-revoked")):
            until(lambda run=run, event=event: event in watching.of(run))  # type: ignore[misc]
    assert "WorkerLostError: Worker exited prematurely: signal 9" in watching.last(lost)["exception"]
    assert watching.last(late)["exception"].startswith("TimeLimitExceeded: ")
    assert watching.last(revoked)["terminated"]


def performed_now(plant: Plant) -> list[list[Any]]:
    """What each worker says that it performs."""
    answers: Any = plant.app.control.inspect(timeout=2).active()
    return list((answers or {}).values())


def test_a_worker_answers_what_it_does_when_asked(made: Make, redis_url: str) -> None:
    plant = made(redis_url)
    with plant.worker():
        run = plant.start("t.block")
        until(lambda: run.lines("begun"))
        (active,) = performed_now(plant)
        assert [("t.block@1", run.attempt_id, [run.attempt_id])] == [
            (task["name"], task["id"], list(task["args"])) for task in active
        ]
        run.go()
        run.ended()
        until(lambda: [[]] == performed_now(plant))


# --- an application of one's own --------------------------------------------------------------------------------------

OWN = """
from celery import Celery
from orchestrator.settings import Settings
from workers.application import add_to

app = Celery("shop", broker={broker!r}, backend=None)
app.conf.task_default_queue = {own!r}

@app.task(name="shop.mail")
def mail(path):
    open(path, "w").close()

add_to(app, performers=["tests.workers.performers"])
"""


def test_an_application_of_ones_own_performs_attempts_beside_its_own_tasks(
    made: Make, redis_url: str, tmp_path: Path
) -> None:
    plant = made(redis_url)
    own = f"own-{plant.settings.queue}"
    (tmp_path / "shop.py").write_text(OWN.format(broker=redis_url, own=own))
    with plant.worker(app="shop"):
        assert "Succeeded" == plant.start("t.echo").ended().status
        plant.app.send_task("shop.mail", args=(str(tmp_path / "sent"),), queue=own)
        until((tmp_path / "sent").exists)
    assert "Traceback" not in plant.log


SPAWNING = """
from workers.application import from_environment

app = from_environment()
app.conf.worker_pool_start_method = "spawn"
"""


def test_processes_that_are_not_forked_perform_as_well(made: Make, redis_url: str, tmp_path: Path) -> None:
    plant = made(redis_url)
    (tmp_path / "spawning.py").write_text(SPAWNING)
    with plant.worker(app="spawning"):
        assert "Succeeded" == plant.start("t.echo").ended().status
        assert "Succeeded" == plant.start("t.die-first").ended().status
    assert "SpawnPoolWorker-1" in plant.log


def test_a_pool_that_was_not_tried_is_refused_with_a_sentence(
    made: Make, redis_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant = made(redis_url)
    (tmp_path / "strange.py").write_text("from celery.concurrency import solo\n\nclass TaskPool(solo.TaskPool): ...\n")
    monkeypatch.setenv("CELERY_CUSTOM_WORKER_POOL", "strange:TaskPool")
    with pytest.raises(NeverReady), plant.worker("-P", "custom"):
        pass
    assert "the pool strange is not tried with Celeriac; start the worker with --pool one of" in plant.log
