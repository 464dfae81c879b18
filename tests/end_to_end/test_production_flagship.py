"""The flagship in production shape: a stock Celery worker, stock beats and this producer, each a process of its own, on
PostgreSQL and Redis.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from orchestrator.client import Orchestrator
from orchestrator.engine.auditing import audit
from orchestrator.flagship.dataset import OWN_DATA, read_data
from orchestrator.flagship.demo import Demo, Progress
from orchestrator.flagship.tally import Summary
from orchestrator.store.migrate import upgrade

PATIENCE = 60.0


class Production:
    """Processes over one database and one broker."""

    def __init__(self, folder: Path, until_the_end: ExitStack, **settings: str) -> None:
        self._folder = folder
        self._until_the_end = until_the_end
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("CELERIAC_")}
        self._environment = {**inherited, **settings}
        self._count = 0

    def worker(self) -> subprocess.Popen[bytes]:
        """A worker with two child processes."""
        name = f"flagship-{self._count}@{os.getpid()}"
        return self._process("workers", "worker", "--pool", "prefork", "--concurrency", "2", "--hostname", name)

    def beat(self) -> subprocess.Popen[bytes]:
        """A beat."""
        return self._process("beat", "beat", "--pidfile=")

    def _process(self, app: str, *arguments: str) -> subprocess.Popen[bytes]:
        """A process of stock Celery, in a group of its own so that its children end with it."""
        self._count += 1
        celery = str(Path(sys.executable).parent / "celery")
        log = self._until_the_end.enter_context((self._folder / f"{self._count}-{app}.log").open("wb"))
        process = subprocess.Popen(
            [celery, "-A", app, *arguments, "--loglevel", "INFO"],
            cwd=self._folder,
            env=self._environment,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        self._until_the_end.callback(end, process)
        return process


def end(process: subprocess.Popen[bytes], number: signal.Signals = signal.SIGKILL) -> None:
    """End a process with all its children."""
    if process.poll() is None:
        os.killpg(process.pid, number)
        process.wait(30)


@pytest.fixture
def production(postgres_url: str, redis_url: str, tmp_path: Path) -> Iterator[Production]:
    """Processes with short leases, so that what a dead worker held is taken up again within seconds."""
    upgrade(postgres_url)
    with ExitStack() as until_the_end:
        yield Production(
            tmp_path,
            until_the_end,
            CELERIAC_DATABASE_URL=postgres_url,
            CELERIAC_BROKER_URL=redis_url,
            CELERIAC_PERFORMERS="orchestrator.flagship.performers",
            CELERIAC_QUEUE="flagship",
            CELERIAC_LEASE="3",
            CELERIAC_HEARTBEAT="1",
        )


@contextmanager
def producer(postgres_url: str, redis_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Orchestrator]:
    """This process, as a producer."""
    monkeypatch.setenv("CELERIAC_QUEUE", "flagship")
    with Orchestrator(postgres_url, redis_url) as orchestrator:
        yield orchestrator


def watched(demo: Demo, until: Callable[[Progress], bool]) -> Progress:
    """Look until it is so; the pace is an event that never comes, with a timeout."""
    never = threading.Event()
    for _ in range(int(PATIENCE / 0.1)):
        progress = demo.look()
        if until(progress):
            return progress
        never.wait(0.1)
    raise AssertionError(f"after {PATIENCE:.0f} s the orders stand at {dict(demo.look().stages)}")


def performed(demo: Demo) -> Summary:
    """The rest of a performance whose runs have been started."""
    watched(demo, lambda progress: progress.gathered)
    demo.decide(demo.inbox())
    watched(demo, lambda progress: progress.over)
    return demo.summary(seconds=0)


def differences(orchestrator: Orchestrator, demo: Demo) -> list[str]:
    """Rows of these runs that are not what their journals say."""
    return list(map(str, audit(orchestrator.engine.store, [story.run_id for story in demo.stories])))


@pytest.mark.timeout(200)
def test_northwind_ends_with_exactly_the_expected_numbers(
    production: Production, postgres_url: str, redis_url: str, cases: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    production.worker()
    production.beat()
    production.beat()
    with producer(postgres_url, redis_url, monkeypatch) as orchestrator:
        demo = Demo(orchestrator, read_data(cases / "northwind"), scope="northwind")
        assert 21 == len(list(demo.start()))
        expected = Summary(
            21, 73, 56, 17, completed=10, partial=11, approved=6, rejected=5, waiting=0, failed=0, seconds=0
        )
        assert expected == performed(demo)
        assert [] == differences(orchestrator, demo)


@pytest.mark.timeout(200)
def test_a_worker_that_is_killed_in_the_middle_changes_nothing_but_time(
    production: Production, postgres_url: str, redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    production.beat()
    first = production.worker()
    with producer(postgres_url, redis_url, monkeypatch) as orchestrator:
        demo = Demo(orchestrator, read_data(OWN_DATA), scope="killed")
        list(demo.start())
        watched(demo, lambda progress: progress.attempts > 3)
        end(first, signal.SIGKILL)
        production.worker()
        expected = Summary(8, 21, 17, 4, completed=5, partial=3, approved=2, rejected=1, waiting=0, failed=0, seconds=0)
        assert expected == performed(demo)
        assert [] == differences(orchestrator, demo)
