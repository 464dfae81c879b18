"""A real worker in a process of its own, on a real broker and a database file; the test is its producer."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from celery import Celery
from kombu import pools

from orchestrator.client import Orchestrator
from orchestrator.core.snapshot import RunSnapshot
from orchestrator.engine.engine import Engine
from orchestrator.settings import Settings
from orchestrator.store.migrate import upgrade
from orchestrator.wiring import celery_app, close, engine_from
from tests.services.presence import stopped_at_the_end, wait_until

PROJECT = Path(__file__).resolve().parents[2]

PERFORMERS = "tests.workers.performers"


def until(happened: Callable[[], object], *, seconds: float = 20) -> None:
    """Wait for something; AssertionError when it does not happen in time."""
    deadline = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < deadline, "it did not happen in time"
        threading.Event().wait(0.02)


class Plant:
    """One worker and what is around it."""

    def __init__(self, folder: Path, broker_url: str, pool: str, **settings: str) -> None:
        self.folder = folder
        self.pool = pool
        self.embedded = broker_url.startswith("memory")
        self.given = {
            "database_url": f"sqlite:///{folder}/celeriac.db",
            "broker_url": broker_url,
            "queue": f"q-{uuid.uuid4().hex}",
            "performers": PERFORMERS,
            **settings,
        }
        self.settings = Settings(**self.given)
        upgrade(self.settings.database_url)
        self.app: Celery = celery_app(self.settings)
        self.engine: Engine = engine_from(self.settings, app=self.app)
        self.orchestrator = Orchestrator(engine=self.engine)
        self._log = folder / "worker.log"
        self._process: subprocess.Popen[bytes] | None = None

    # --- its process --------------------------------------------------------------------------------------------------

    @property
    def process(self) -> subprocess.Popen[bytes]:
        """The worker that runs."""
        assert self._process is not None
        return self._process

    @property
    def log(self) -> str:
        """What the workers have said."""
        return self._log.read_text(encoding="utf-8", errors="replace") if self._log.exists() else ""

    @contextlib.contextmanager
    def worker(self, *options: str, app: str = "workers") -> Iterator[subprocess.Popen[bytes]]:
        """A worker that takes work when the block begins and is stopped when it ends."""
        if self.embedded:
            command = ["-m", "tests.workers.embedded_program", self.pool]
        else:
            command = ["-m", "celery", "-A", app, "worker", "-P", self.pool, "-c", "2", "-l", "INFO"]
            command += ["-n", f"{uuid.uuid4().hex[:8]}@%h", "--without-mingle", "--without-gossip", *options]
        environment = {name: value for name, value in os.environ.items() if not name.startswith("CELERIAC_")}
        environment |= {f"CELERIAC_{name.upper()}": value for name, value in self.given.items()}
        environment |= {"PYTHONPATH": str(PROJECT), "PYTHONWARNINGS": "ignore"}
        seen = len(self.log)
        with self._log.open("ab") as log:
            process = subprocess.Popen(
                [sys.executable, *command],
                cwd=self.folder,
                env=environment,
                stdin=subprocess.PIPE if self.embedded else subprocess.DEVNULL,
                stdout=subprocess.PIPE if self.embedded else log,
                stderr=log,
            )
        self._process = process
        with stopped_at_the_end(process):
            if self.embedded:
                assert b"ready.\n" == self._line(), self.log
            else:
                wait_until(lambda: " ready." in self.log[seen:], process=process)
            yield process
            if process.stdin is not None and process.stdout is not None:
                process.stdin.close()
                process.wait(timeout=20)
                process.stdout.close()

    def _line(self) -> bytes:
        assert self.process.stdout is not None
        return self.process.stdout.readline()

    def _tell(self, what: Mapping[str, Any]) -> str:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(what).encode() + b"\n")
        self.process.stdin.flush()
        return self._line().decode().strip()

    # --- its work -----------------------------------------------------------------------------------------------------

    def start(self, capability: str, **policy: Any) -> Run:
        """Start a run of one node that is performed by this capability."""
        name = f"{capability}-{uuid.uuid4().hex[:8]}"
        self.orchestrator.publish(one_action(name, capability, policy))
        return self.again(name)

    def again(self, workflow: str) -> Run:
        """Start another run of a workflow."""
        folder = self.folder / uuid.uuid4().hex
        folder.mkdir()
        payload = {"folder": str(folder)}
        if self.embedded:
            return Run(self, self._tell({"start": workflow, "payload": payload}), folder, workflow)
        return Run(self, self.orchestrator.start(workflow, payload).id, folder, workflow)

    def call_off(self, attempt_id: str) -> None:
        """As somebody would in Flower: revoke and terminate."""
        if self.embedded:
            self._tell({"call_off": attempt_id})
        else:
            self.app.control.revoke(attempt_id, terminate=True)

    def close(self) -> None:
        """Give up what the test had opened."""
        close(self.engine)
        pools.reset()
        self.app.close()


class Run:
    """A run of one node."""

    def __init__(self, plant: Plant, id: str, folder: Path, workflow: str) -> None:
        self.plant = plant
        self.id = id
        self.folder = folder
        self.workflow = workflow

    def snapshot(self) -> RunSnapshot:
        """As it stands."""
        return self.plant.orchestrator.run(self.id)

    def ended(self, seconds: float = 30) -> RunSnapshot:
        """When it is final."""
        return self.plant.orchestrator.wait_for(self.id, seconds)

    def facts(self) -> list[str]:
        """The names of its facts."""
        return [fact.type for fact in self.plant.orchestrator.facts(self.id)]

    def has(self, fact: str) -> bool:
        """Whether this has been recorded."""
        return fact in self.facts()

    @property
    def execution(self) -> Any:
        """The execution of its node."""
        return next(view for view in self.snapshot().executions if view.execution.node == "do")

    @property
    def attempt_id(self) -> str:
        """The id of its first attempt."""
        return f"{self.execution.execution.id}.1"

    def lines(self, name: str) -> list[str]:
        """What its performer left in a file."""
        file = self.folder / name
        return file.read_text(encoding="utf-8").splitlines() if file.exists() else []

    def go(self) -> None:
        """Let a performer that blocks go on."""
        (self.folder / "go").touch()


def one_action(workflow: str, capability: str, policy: Mapping[str, Any]) -> dict[str, Any]:
    """The document of a workflow of one node."""
    return {
        "workflow": workflow,
        "version": 1,
        "area": "tests",
        "subjectKind": None,
        "graph": {
            "nodes": [
                {"id": "start", "kind": "trigger", "outlets": ["next"]},
                {
                    "id": "do",
                    "kind": "action",
                    "capability": f"{capability}@1",
                    "outlets": ["next"],
                    "policy": dict(policy),
                },
            ],
            "edges": [{"from": "start", "outlet": "next", "to": "do"}],
        },
    }
