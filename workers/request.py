"""A message for an attempt, as Celery's worker carries it: a request that waits at the desk until its turn comes.

Everything of Celery's own that others look at is kept true: `inspect`, Flower's events, signals, revokes.
"""

from __future__ import annotations

from typing import Any, Final, assert_never
from weakref import ref

import structlog
from billiard.einfo import ExceptionInfo, ExceptionWithTraceback
from billiard.exceptions import Terminated, TimeLimitExceeded, WorkerLostError
from celery import signals
from celery.app.trace import fast_trace_task, trace_task_ret
from celery.exceptions import InvalidTaskError
from celery.worker import state
from celery.worker.request import Request

from orchestrator.core.outcomes import receipt_of_exception
from orchestrator.engine.work import Work
from workers.bell import (
    Answered,
    End,
    Fate,
    Forgotten,
    ForNothing,
    HandedBack,
    Lost,
    NotHeld,
    Recorded,
    SetAside,
    Stopped,
    TimedOut,
    Withdrawn,
)
from workers.child import Attempted, call_off, forget_call, run_attempt, shown
from workers.desk import Desk
from workers.tasks import AttemptTask
from workers.workplace import Workplace

log = structlog.stdlib.get_logger(__name__)

#: Statuses of a receipt that monitors see as a success.
DONE: Final = ("succeeded", "skipped", "suspended")


class AttemptRequest(Request):
    """One message; a `Bell` to the desk. Lives on the thread of the worker's loop, but for what the pool calls."""

    def __init__(self, message: Any, *, workplace: Workplace, **options: Any) -> None:
        super().__init__(message, **options)
        ids = self.args
        if not (isinstance(ids, list | tuple) and ids and isinstance(ids[0], str)):
            raise InvalidTaskError(f"{self.name} is performed for attempts of a workflow; its first argument is an id")
        self.attempt_id: str = ids[0]
        self.capability: str = self.type
        self.effect: str = performer.effect if (performer := self.attempt_task.performer) else "idempotent"
        self.work: Work | None = None
        self.submitted = False
        #: Which line to the broker it was submitted over.
        self.line = 0
        self._ended = False
        self._place = workplace

    @property
    def attempt_task(self) -> AttemptTask:
        """The task, which is one of ours."""
        task: Any = self.task
        assert isinstance(task, AttemptTask)
        return task

    @property
    def desk(self) -> Desk:
        """Where it waits."""
        return self._place.desk

    @property
    def started(self) -> bool:
        """Whether a process of the pool has it."""
        return self.time_start is not None

    @property
    def revoked_here(self) -> bool:
        """Whether a revoke came while it waited here; one that came before it does not mean this message."""
        return self.id in state.revoked
