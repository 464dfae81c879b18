"""The metronome in Celery's beat: our pumps and users' own entries, one process or several."""

from __future__ import annotations

import subprocess
import sys
import uuid
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import timedelta
from pathlib import Path

import pytest
from celery.schedules import schedule

from beat.scheduler import Metronome
from orchestrator.client import Orchestrator
from orchestrator.settings import Settings
from orchestrator.store.migrate import upgrade
from orchestrator.wiring import celery_app, close, engine_from
from tests.services.presence import stopped_at_the_end
from tests.workers.plant import until

PROJECT = Path(__file__).resolve().parents[2]


@pytest.fixture
def given(tmp_path: Path) -> dict[str, str]:
    """Settings of a beat whose database is a file."""
    made = {"database_url": f"sqlite:///{tmp_path}/beat.db", "broker_url": "memory://localhost"}
    upgrade(made["database_url"])
    return made


@pytest.fixture
def orchestrator(given: dict[str, str]) -> Iterator[Orchestrator]:
    """A producer on that database."""
    with Orchestrator(engine=engine_from(Settings(**given))) as made:
        yield made


def waiting_for(orchestrator: Orchestrator, after: str) -> str:
    """A run that waits for time to pass."""
    name = f"wait-{uuid.uuid4().hex[:8]}"
    orchestrator.publish(
        {
            "workflow": name,
            "version": 1,
            "area": "tests",
            "subjectKind": None,
            "graph": {
                "nodes": [
                    {"id": "start", "kind": "trigger", "outlets": ["next"]},
                    {
                        "id": "pause",
                        "kind": "wait",
                        "outlets": ["elapsed"],
                        "configuration": {"kind": "timer", "after": after},
                    },
                ],
                "edges": [{"from": "start", "outlet": "next", "to": "pause"}],
            },
        }
    )
    return orchestrator.start(name).id


@contextmanager
def beating(folder: Path, given: dict[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    """A beat in a process of its own, until the block ends."""
    environment = {f"CELERIAC_{name.upper()}": value for name, value in given.items()}
    command = [sys.executable, "-m", "celery", "-A", "beat", "beat", "-l", "INFO", "--pidfile="]
    log = (folder / "beat.log").open("ab")
    with log:
        process = subprocess.Popen(
            command, cwd=folder, env={**environment, "PYTHONPATH": str(PROJECT)}, stdout=log, stderr=log
        )
    with stopped_at_the_end(process):
        yield process


@pytest.mark.behaviour("B57")
def test_beat_lets_time_pass_for_runs(tmp_path: Path, given: dict[str, str], orchestrator: Orchestrator) -> None:
    run = waiting_for(orchestrator, "00:00:01")
    with beating(tmp_path, given):
        assert "Succeeded" == orchestrator.wait_for(run, 20).status
    log = (tmp_path / "beat.log").read_text()
    assert ". pumps -> timers" in log
    assert "Traceback" not in log
    assert [] == list(tmp_path.glob("celerybeat-schedule*"))


def test_two_beats_do_no_more_than_one(tmp_path: Path, given: dict[str, str], orchestrator: Orchestrator) -> None:
    runs = [waiting_for(orchestrator, "00:00:01") for _ in range(10)]
    with ExitStack() as stack:
        for _ in range(2):
            stack.enter_context(beating(tmp_path, given))
        assert {"Succeeded"} == {orchestrator.wait_for(run, 20).status for run in runs}
    assert {1} == {[fact.type for fact in orchestrator.facts(run)].count("WorkflowWaitResolved") for run in runs}


def test_a_beat_whose_database_is_not_there_goes_on_and_says_so(tmp_path: Path) -> None:
    given = {"database_url": "postgresql://nobody@127.0.0.1:1/nothing", "broker_url": "memory://localhost"}
    with beating(tmp_path, given) as process:
        until(lambda: (tmp_path / "beat.log").read_text().count("pump_failed") > 2)
        assert process.poll() is None


def test_entries_of_users_are_sent_beside_our_pumps(given: dict[str, str]) -> None:
    settings = Settings(**given, queue=f"q-{uuid.uuid4().hex}")
    app = celery_app(settings)
    app.conf.beat_schedule = {"mine": {"task": "my.task", "schedule": schedule(timedelta(hours=1))}}
    engine = engine_from(settings)
    metronome = Metronome(app, engine=engine)
    for entry in metronome.schedule.values():
        entry.last_run_at = entry.default_now() - timedelta(hours=2)
    assert all(0 <= metronome.tick() <= 1 for _ in range(3))
    with app.connection_for_read() as connection, connection.SimpleQueue(settings.queue) as messages:
        assert ("my.task", 0) == (messages.get(timeout=5).headers["task"], messages.qsize())
    metronome.close()
    app.close()
    close(engine)


def test_an_application_without_entries_has_none_of_celerys_own(given: dict[str, str]) -> None:
    app = celery_app(Settings(**given))
    assert {} == Metronome(app).schedule
    app.close()
