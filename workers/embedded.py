"""Everything in one process: a real Celery worker and beat in threads, on a broker that lives in this process's memory.

The caller's thread goes on, as a producer: `Embedded.engine` is shared by all. Only this process touches the database;
the worker's children run performers.
"""

from __future__ import annotations

import os
import sys
import threading
import uuid
from functools import partial
from typing import Any, Final, Self

import structlog
from celery import Celery
from celery.app.trace import setup_worker_optimizations
from celery.beat import Service
from celery.utils.nodenames import gethostname
from celery.worker import WorkController, state

from beat.scheduler import Metronome
from orchestrator.engine.engine import Engine
from orchestrator.performers.table import PerformerTable, collect
from orchestrator.settings import Settings
from orchestrator.store.migrate import upgrade
from orchestrator.wiring import close, engine_from
from workers.application import made_from

log = structlog.stdlib.get_logger(__name__)

#: How long the worker may take to be ready, in seconds.
PATIENCE: Final = 20.0

_one_at_a_time = threading.Lock()


class _Input:
    """In a new process of the pool the program's input is let alone. Celery would close it, and wait for ever when a
    thread of the parent was just reading from it. Forks by the program's own main thread are not touched."""

    def __init__(self) -> None:
        self._ours = False
        self._kept: object = None
        os.register_at_fork(before=self._before, after_in_child=self._in_child)

    def _before(self) -> None:
        self._ours = _one_at_a_time.locked() and threading.current_thread() is not threading.main_thread()

    def _in_child(self) -> None:
        if self._ours:
            self._kept = sys.stdin  # to be collected would be to be closed
            sys.stdin = None


_input = _Input()


class Embedded:
    """A running worker and beat; stop it, or use it in a `with` statement."""

    def __init__(self, app: Celery, engine: Engine, *, pool: str, concurrency: int) -> None:
        self.engine = engine
        self._app = app
        self._ready = threading.Event()
        self._failure: BaseException | None = None
        self._worker_thread = threading.Thread(
            target=self._run_worker, args=(pool, concurrency), name="celeriac-worker", daemon=True
        )
        scheduler: Any = partial(Metronome, engine=engine)
        self._beat = Service(app, max_interval=1, scheduler_cls=scheduler)
        self._beat_thread = threading.Thread(target=self._beat.start, name="celeriac-beat", daemon=True)
        self._worker: Any = None
        self._running = False

    def start(self) -> None:
        """Returns once work is taken."""
        state.should_stop = None
        self._worker_thread.start()
        if not self._ready.wait(PATIENCE) or self._failure is not None:
            raise self._failure or TimeoutError(f"the worker was not ready within {PATIENCE:g} s")
        self._beat_thread.start()
        self._running = True

    def stop(self, patience: float = 2.0) -> None:
        """Stop: what runs may end within `patience` (seconds) and is ended then, where the pool can; it will run again.
        Nothing happens the second time."""
        if not self._running:
            return
        self._running = False
        self._beat.stop()
        self._app.control.shutdown(destination=[self._worker.hostname])
        self._worker_thread.join(patience)
        if self._worker_thread.is_alive():
            for request in list(state.active_requests):
                request.terminate(self._worker.pool, signal="KILL")
            self._worker_thread.join(patience)
        if self._worker_thread.is_alive():
            log.error("performers_still_running", attempts=[request.id for request in list(state.active_requests)])
            self._worker.workplace.abandon()
        self._beat_thread.join()
        close(self.engine)
        _one_at_a_time.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _run_worker(self, pool: str, concurrency: int) -> None:
        try:
            hostname = f"embedded-{uuid.uuid4().hex[:8]}@{gethostname()}"
            setup_worker_optimizations(self._app, hostname)
            self._worker = WorkController(
                app=self._app,
                hostname=hostname,
                pool=pool,
                concurrency=concurrency,
                without_gossip=True,
                without_mingle=True,
                without_heartbeat=True,
                ready_callback=lambda _: self._ready.set(),
            )
            self._worker.start()
        except BaseException as error:
            self._failure = error
            log.exception("worker_failed")
        finally:
            self._ready.set()


def run_embedded(
    settings: Settings, *, pool: str = "prefork", concurrency: int = 2, performers: PerformerTable | None = None
) -> Embedded:
    """Start worker and beat here, on a broker of this process alone; `settings` say the rest. Brings a database of ours
    to this release's schema first. Raises `BadSettings`, and RuntimeError when one runs here already."""
    if not _one_at_a_time.acquire(blocking=False):
        raise RuntimeError("an embedded worker runs in this process already; stop it first")
    try:
        table = collect(settings.performers) if performers is None else performers
        inside = settings.model_copy(
            update={
                "broker_url": "memory://localhost",
                "queue": f"{settings.queue}-{uuid.uuid4().hex[:8]}",
                "routes": (),
            }
        )
        if settings.database_url != "memory:":
            upgrade(settings.database_url)
        engine = engine_from(inside)
        running = Embedded(made_from(inside, table, shared=engine), engine, pool=pool, concurrency=concurrency)
        running.start()
    except BaseException:
        _one_at_a_time.release()
        raise
    return running
