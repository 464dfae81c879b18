"""The Celery application of a worker: our own, or a user's that ours is added to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from celery import Celery

from orchestrator.dispatch.carrier import declared
from orchestrator.engine.engine import Engine
from orchestrator.performers.table import PerformerTable, collect
from orchestrator.settings import Settings
from orchestrator.wiring import celery_app, log_through_logging, remember
from workers.staffing import Staff, staff, staff_of
from workers.steps import DeskStep, LineStep
from workers.tasks import register


class WorkerApp(Celery):
    """An application that a fresh process of the pool can make anew, where processes are not forked."""

    def __reduce__(self) -> tuple[Any, ...]:
        given = staff_of(self)
        return made_from, (given.settings, given.table)


def made_from(settings: Settings, table: PerformerTable, *, shared: Engine | None = None) -> Celery:
    """An application with our settings and these performers."""
    app = celery_app(settings, WorkerApp)
    _join(app, Staff(settings, table, shared))
    return app


def from_environment() -> Celery:
    """The application of `celery -A workers`, made current. Raises `BadSettings`."""
    settings = Settings()
    app = made_from(settings, collect(settings.performers))
    log_through_logging()
    app.set_default()
    app.set_current()
    return app


def add_to(app: Celery, *, performers: Sequence[str] | None = None, settings: Settings | None = None) -> None:
    """Add attempts of workflows to an application of your own; call it once, after the application is configured.

    It gets a task for each performer, our queues beside its own, and our metronome as its beat; its own tasks, queues,
    serializers and result backend stay as they are. `performers` are modules; left out, CELERIAC_PERFORMERS counts.
    The broker is the application's own. Raises `BadSettings`.
    """
    given = settings or Settings(broker_url=app.conf.broker_url or "memory://")
    conf: Any = app.conf
    own = list(conf.task_queues or [declared(conf.task_default_queue)])
    known = {queue.name for queue in own}
    conf.task_queues = [*own, *(declared(name) for name in given.routing.queues if name not in known)]
    conf.beat_scheduler = "beat.scheduler:Metronome"
    remember(app, given)
    _join(app, Staff(given, collect(given.performers if performers is None else performers)))


def _join(app: Celery, given: Staff) -> None:
    register(app, given.table, given.settings.data_limits)
    staff(app, given)
    app.steps["worker"].add(DeskStep)
    app.steps["consumer"].add(LineStep)
