"""Carrying: attempts a second through a real worker, against Celery's own tasks that do nothing, in one run.

The registry behind the desk grants everything at once, so that what is measured is the way from message to answer and
nothing of the engine. `python -m benchmarks.carrying [BROKER_URL]`.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from celery import Celery

from orchestrator.core.data import JsonText
from orchestrator.engine.work import Answer, Work
from orchestrator.performers.invocation import Invocation
from orchestrator.performers.performer import performer
from orchestrator.performers.table import table_of
from orchestrator.ports.store import ClaimRequest
from orchestrator.settings import Settings
from orchestrator.wiring import CLOCK, celery_app

MESSAGES: Final = 3_000
PROJECT: Final = Path(__file__).resolve().parents[1]
BROKER: Final = "redis://127.0.0.1:6379/15"


@performer("bench.nothing", version=1)
def nothing(_: Invocation) -> dict[str, Any]:
    """Does nothing."""
    return {}


class Granting:
    """A registry that grants and counts everything, and keeps nothing."""

    clock = CLOCK

    class store:  # noqa: N801 - stands where an engine has its store
        """Nothing is kept."""

    def claim(self, requests: Sequence[ClaimRequest], worker: str) -> list[Work]:
        """Everything is granted."""
        now = datetime.now(UTC)
        return [
            Work(
                attempt_id=request.attempt_id,
                fence=1,
                scope="default",
                run_id="r",
                workflow="w",
                node_id="n",
                branch=(),
                visit=1,
                execution_id=request.attempt_id,
                attempt=1,
                capability="bench.nothing@1",
                configuration=JsonText("{}"),
                input=JsonText('{"item":null}'),
                claimed_at=now,
                deadline=now + timedelta(minutes=10),
            )
            for request in requests
        ]

    def advance(self, answers: Sequence[Answer]) -> frozenset[str]:
        """Everything counts."""
        return frozenset(answer.attempt_id for answer in answers)

    def renew(self, claims: Sequence[tuple[str, int]]) -> set[str]:
        """Everything is held."""
        return {attempt_id for attempt_id, _ in claims}

    def hand_back(self, claims: Sequence[tuple[str, int]]) -> None:
        """Nothing is kept."""

    lost = stopped = timed_out = hand_back

    def performer_missing(self, attempt_ids: Sequence[str], worker: str) -> None:
        """Nothing is kept."""


def __getattr__(name: str) -> Celery:
    """The worker's application, made when it is asked for."""
    if name == "app":
        return application()
    raise AttributeError(name)


def application() -> Celery:
    """What the worker runs: our tasks over that registry, and a task of Celery's own."""
    from workers.application import made_from

    registry: Any = Granting()
    app = made_from(Settings(), table_of([nothing]), shared=registry)
    app.set_default()
    app.task(name="bare", acks_late=True, ignore_result=True)(_bare)
    return app


def _bare(_: str) -> None: ...


def rate(broker_url: str, task: str, pool: str, **settings: str) -> float:
    """Messages a second, from the first that is done to the last."""
    settings |= {"broker_url": broker_url, "queue": f"bench-{uuid.uuid4().hex}"}
    made: Any = celery_app(Settings(**settings))
    queue = settings["queue"]
    with made.producer_or_acquire() as producer:
        for _ in range(MESSAGES):
            id = f"{uuid.uuid4().hex}.1"
            made.send_task(task, args=(id,), task_id=id, producer=producer, queue=queue)
    environment = {f"CELERIAC_{name.upper()}": value for name, value in settings.items()}
    environment |= {"PATH": os.environ["PATH"], "PYTHONPATH": str(PROJECT), "PYTHONWARNINGS": "ignore"}
    command = [sys.executable, "-m", "celery", "-A", "benchmarks.carrying", "worker", "-P", pool, "-c", "2"]
    command += ["-l", "ERROR", "--without-mingle", "--without-gossip"]
    with tempfile.TemporaryFile() as log:
        worker = subprocess.Popen(command, env=environment, cwd=PROJECT, stdout=log, stderr=log)
        try:
            with made.connection_for_read() as connection, connection.channel() as channel:

                def waiting() -> int:
                    try:
                        return int(channel.queue_declare(queue, passive=True).message_count)
                    except connection.channel_errors:  # an empty queue is none, to Redis
                        return 0

                while (at_first := waiting()) > MESSAGES - 100 and worker.poll() is None:
                    threading.Event().wait(0.005)
                began = time.monotonic()
                while waiting() and worker.poll() is None:
                    threading.Event().wait(0.005)
                return at_first / (time.monotonic() - began)
        finally:
            worker.send_signal(signal.SIGTERM)
            worker.wait()
            made.close()


def report(broker_url: str = BROKER) -> dict[str, float]:
    """Messages a second, by what carried them."""
    found = {}
    for pool in ("prefork", "threads"):
        found[f"{pool}: Celery's own"] = rate(broker_url, "bare", pool)
        found[f"{pool}: attempts"] = rate(broker_url, "bench.nothing@1", pool)
        found[f"{pool}: attempts, look-ahead 4"] = rate(broker_url, "bench.nothing@1", pool, look_ahead="4")
    return found


def main(broker_url: str = BROKER) -> None:
    """Measure and print."""
    found = report(broker_url)
    for what, figure in found.items():
        print(f"{figure:8.0f}/s  {what}")
    print(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
