"""Attempts carried by real workers: every pool on every broker, from the message to the recorded answer."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.workers.plant import Plant, until

PREFORK = ("redis-prefork", "rabbitmq-prefork", "memory-prefork")
OTHERS = ("redis-threads", "redis-solo", "memory-threads", "memory-solo")
EVERY = PREFORK + OTHERS

pytestmark = pytest.mark.timeout(180)


@pytest.fixture(scope="module")
def plant(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Plant]:
    """A plant whose worker runs, shared by the tests of this file."""
    broker, pool = request.param.split("-")
    url = "memory://localhost" if broker == "memory" else str(request.getfixturevalue(f"{broker}_url"))
    made = Plant(tmp_path_factory.mktemp(request.param), url, pool, grace="0.2")
    try:
        with made.worker():
            yield made
    finally:
        made.close()


on_every = pytest.mark.parametrize("plant", EVERY, indirect=True, scope="module")
on_prefork = pytest.mark.parametrize("plant", PREFORK, indirect=True, scope="module")
on_others = pytest.mark.parametrize("plant", OTHERS, indirect=True, scope="module")


@on_every
def test_an_attempt_is_performed_and_its_answer_recorded(plant: Plant) -> None:
    run = plant.start("t.echo")
    assert "Succeeded" == run.ended().status
    assert {"folder": str(run.folder)} == run.execution.output["payload"]
    assert run.execution.execution.id == run.execution.output["key"]
    where = run.execution.output["pid"]
    assert (where == plant.process.pid) == (plant.pool != "prefork")


@on_every
def test_a_coroutine_is_performed(plant: Plant) -> None:
    run = plant.start("t.coroutine")
    assert ("Succeeded", {"attempt": 1}) == (run.ended().status, run.execution.output)


@on_every
@pytest.mark.behaviour("B39")
@pytest.mark.parametrize(
    ("capability", "code", "reason"),
    (
        ("t.raise", None, "ValueError: boom"),
        ("t.exit", None, "SystemExit: 3"),
        ("t.fail", "NO_STOCK", "no stock"),
    ),
)
def test_a_performer_that_fails_has_failed_with_its_reason(
    plant: Plant, capability: str, code: str | None, reason: str
) -> None:
    run = plant.start(capability)
    assert "Failed" == run.ended().status
    failure = run.execution.failure
    assert ("Error", code, reason) == (failure.kind, failure.code, failure.reason)


@on_every
@pytest.mark.behaviour("B21")
def test_what_nobody_performs_is_answered_as_missing(plant: Plant) -> None:
    run = plant.start("t.nobody", maxAttempts=3)
    assert "Failed" == run.ended().status
    assert "PerformerMissing" == run.execution.failure.kind


@on_every
def test_many_attempts_are_each_performed_once(plant: Plant) -> None:
    first = plant.start("t.count")
    runs = [first, *(plant.again(first.workflow) for _ in range(24))]
    assert {"Succeeded"} == {run.ended().status for run in runs}
    assert {1} == {len(run.lines("calls")) for run in runs}


@on_prefork
@pytest.mark.behaviour("B46")
def test_an_attempt_whose_process_was_killed_is_performed_again(plant: Plant) -> None:
    run = plant.start("t.die-first")
    assert ("Succeeded", {"survived": True}) == (run.ended().status, run.execution.output)
    assert 1 == run.facts().count("WorkflowNodeScheduled")


@on_prefork
def test_an_attempt_of_effect_once_whose_process_was_killed_is_ambiguous(plant: Plant) -> None:
    run = plant.start("t.die-once", maxAttempts=3)
    until(lambda: run.snapshot().status == "ReconciliationRequired")
    assert ["1"] == run.lines("begun")


@on_prefork
@pytest.mark.behaviour("B40")
def test_an_attempt_past_its_deadline_is_killed_and_timed_out(plant: Plant) -> None:
    run = plant.start("t.block", attemptTimeout="00:00:01")
    assert "Failed" == run.ended().status
    assert "TimedOut" == run.execution.failure.kind
    following = [plant.start("t.echo") for _ in range(4)]
    assert {"Succeeded"} == {after.ended().status for after in following}
    assert [] == run.lines("ended")


@on_prefork
@pytest.mark.behaviour("B97")
def test_an_attempt_that_is_revoked_while_it_runs_is_stopped_and_runs_again(plant: Plant) -> None:
    run = plant.start("t.block", retryDelay="00:00:01")
    until(lambda: run.lines("begun"))
    run.go()
    (run.folder / "go").unlink()
    plant.call_off(run.attempt_id)
    until(lambda: run.has("WorkflowJobStopped"))
    assert [] == run.lines("ended")
    assert 1 == run.snapshot().executions[-1].attempts


@on_others
@pytest.mark.behaviour("B97")
def test_where_nothing_can_be_stopped_the_performer_learns_of_it_at_its_heartbeat(plant: Plant) -> None:
    run = plant.start("t.obey", retryDelay="01:00:00")
    until(lambda: run.lines("begun"))
    if plant.pool == "solo":
        run.go()  # its only thread performs, so that no revoke is heard
        assert "Succeeded" == run.ended().status
        return
    plant.call_off(run.attempt_id)
    until(lambda: run.has("WorkflowJobStopped"))
