"""One Celery task a capability, all with one body, so that Flower, routes, rate limits and metrics name capabilities.

A task of these is a doorbell: its message holds the attempt's id and its run's, and what it needs is claimed for it by
the desk.
"""

from __future__ import annotations

from typing import Any

from celery import Celery, Task

from orchestrator.core.data import DEFAULT_LIMITS, DataLimits
from orchestrator.engine.work import Work
from orchestrator.performers.performer import Performer
from orchestrator.performers.table import PerformerTable
from workers.child import AttemptFailed, perform_here


class AttemptTask(Task[Any, Any]):
    """The class of every task of ours."""

    abstract = True
    Strategy = "workers.strategy:strategy"
    typing = False
    acks_late = True
    acks_on_failure_or_timeout = True
    reject_on_worker_lost = False
    ignore_result = True
    store_errors_even_if_ignored = False
    serializer = "json"
    throws = (AttemptFailed,)

    performer: Performer | None = None
    data_limits: DataLimits = DEFAULT_LIMITS


def register(app: Celery, table: PerformerTable, limits: DataLimits) -> None:
    """Give the application a task for each capability of the table."""
    for performer in table:
        made: Any = app.task
        made(
            name=performer.capability,
            base=AttemptTask,
            bind=True,
            shared=False,
            lazy=False,
            performer=performer,
            data_limits=limits,
        )(_body)


def _body(task: AttemptTask, work: object, **_: object) -> str:
    """Performs an attempt of a workflow."""
    if not isinstance(work, Work):
        raise TypeError(f"{task.name} performs attempts that a worker has claimed; start a workflow instead")
    known: Any = task if work.capability == task.name else task.app.tasks.get(work.capability)
    return perform_here(getattr(known, "performer", None), work, task.data_limits)
