"""A message for an attempt, as Celery's worker carries it: a request that waits at the desk until its turn comes.

Everything of Celery's own that others look at is kept true: `inspect`, Flower's events, signals, revokes.
"""

from __future__ import annotations

from typing import Any, Final, assert_never
from weakref import ref

import structlog
from billiard.einfo import ExceptionInfo
from billiard.exceptions import Terminated, TimeLimitExceeded, WorkerLostError
from celery import signals
from celery.app.task import Context
from celery.app.trace import fast_trace_task, trace_task_ret
from celery.exceptions import InvalidTaskError
from celery.platforms import signals as signals_by_name
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
        #: Over which line to the broker it was received, and while there was which it was submitted.
        self.received_over = self.submitted_over = workplace.line
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
    def called_off(self) -> bool:
        """Whether a revoke came while it waited here; the strategy forgets those that came before."""
        return self.id in state.revoked

    # --- on its way into the pool -------------------------------------------------------------------------------------

    def submit(self, work: Work) -> None:
        """Hand it to Celery, as its own strategy would have done at once: it gets a slot, then a process."""
        if self.desk.closing:
            return
        self.work = work
        self.submitted = True
        self.submitted_over = self._place.line
        try:
            self._place.hand_over(self)
        except Exception as error:
            log.exception("attempt_not_submitted", attempt=self.attempt_id)
            self._end(Answered(receipt_of_exception(error)))

    def execute_using_pool(self, pool: Any, **_: Any) -> Any:
        """Called by Celery once a slot is free."""
        if self.desk.closing or self.work is None or self._ended:
            return None
        app: Any = self.app
        trace = fast_trace_task if app.use_fast_trace_task else trace_task_ret
        body = (self.work,), {}, None  # type: tuple[Any, ...]
        job = pool.apply_async(
            run_attempt,
            args=(trace, self.type, self.id, self.request_dict, body, None, None),
            accept_callback=self.on_accepted,
            timeout_callback=self.on_timeout,
            callback=self.on_success,
            error_callback=self.on_failure,
            soft_timeout=self.attempt_task.soft_time_limit,
            timeout=self._hard_limit(self.work),
            correlation_id=self.id,
        )
        self._apply_result = None if job is None else ref(job)
        return job

    def _hard_limit(self, work: Work) -> float:
        left = max((work.deadline - self._place.now()).total_seconds(), 0.0) + self._place.grace
        own = self.attempt_task.time_limit
        return min(left, own) if own else left

    # --- what the pool says -------------------------------------------------------------------------------------------

    def on_accepted(self, pid: Any, time_accepted: float) -> None:
        """A process has begun with it."""
        if not self._ended:
            super().on_accepted(pid, time_accepted)

    def on_success(self, failed__retval__runtime: Any, **_: Any) -> None:
        """The process has ended it properly, whatever the performer did."""
        result = failed__retval__runtime
        if not isinstance(result, Attempted):
            self.on_failure(result)
        elif result.called_off:
            self._end(Stopped("it was called off"))
        else:
            self._end(Answered(result.receipt, result.runtime, result.traceback))

    def on_failure(self, exc_info: ExceptionInfo, send_failed_event: bool = True, return_ok: bool = False) -> None:
        """The process did not end it: it died, was stopped or ran out of time; or its answer did not get through."""
        error: Any = getattr(exc_info.exception, "exc", exc_info.exception)
        match error:
            case Terminated():
                self._end(Stopped(f"terminated: {error}"))
            case TimeLimitExceeded():
                self._end(TimedOut(float(error.args[0] if error.args else 0)))
            case WorkerLostError() | SystemExit():
                self._end(Lost(str(error) or type(error).__name__))
            case _:
                self._end(Answered(receipt_of_exception(error), 0.0, str(exc_info.traceback)))

    def on_timeout(self, soft: bool, timeout: float) -> None:
        """A limit of the pool fired; the soft one only raises inside the performer."""
        if not soft:
            log.error("time_limit_exceeded", attempt=self.attempt_id, capability=self.capability, seconds=timeout)
            self._end(TimedOut(timeout))

    def _end(self, end: End) -> None:
        if not self._ended:
            self._ended = True
            self.desk.ended(self, end)

    # --- what people and the engine say -------------------------------------------------------------------------------

    def terminate(self, pool: Any, signal: Any = None) -> None:
        """Revoked with `terminate`: what has begun is stopped if the pool can, what waits loses its turn."""
        self._stop(pool, Stopped(f"revoked with {signal or 'SIGTERM'}"), signal)

    def cancel(self, pool: Any, signal: Any = None, emit_retry: bool = True) -> None:
        """Celery stops everything that runs, in a cold shutdown for example."""
        self._stop(pool, Stopped("cancelled by the worker"), signal)

    def kill(self, fence: int) -> None:
        """See `Bell`."""
        if self.work is not None and self.work.fence == fence:
            self._stop(self._place.pool, NotHeld(), None)

    def _stop(self, pool: Any, end: End, signal: Any) -> None:
        if self._ended:
            return
        if not self.submitted or self.work is None:
            self.desk.withdraw(self)
        elif not self._place.power.stops:
            call_off(self.attempt_id, self.work.fence)
            log.warning("attempt_called_off", attempt=self.attempt_id, why=self._place.power.without_stopping)
        elif self.started:
            pool.terminate_job(self.worker_pid, signals_by_name.signum(signal or "SIGTERM"))
            self._end(end)
        else:
            self._terminate_on_ack = pool, signal

    # --- the last word ------------------------------------------------------------------------------------------------

    def over(self, fate: Fate) -> None:
        """See `Bell`."""
        if self.work is not None:
            forget_call(self.attempt_id, self.work.fence)
        self._ended = True
        if isinstance(fate, Forgotten):
            return
        done = isinstance(fate, Recorded) and isinstance(fate.end, Answered) and fate.end.receipt.status in DONE
        state.task_ready(self, successful=done)
        if self.received_over == self._place.line:
            self.acknowledge()
        match fate:
            case Recorded(end=end, counted=counted):
                self._announce(end, counted=counted)
            case Withdrawn():
                self._announce_revoke("revoked before its turn", terminated=False)
            case SetAside(reason=reason):
                self.send_event("task-failed", exception=f"set aside: {reason}", traceback="")
            case ForNothing():
                pass
            case other:
                assert_never(other)

    def _announce(self, end: End, *, counted: bool) -> None:
        match end:
            case Answered(receipt=receipt, runtime=runtime, traceback=traceback):
                if not counted:
                    self.send_event("task-failed", exception="the answer came late and does not count", traceback="")
                elif receipt.status in DONE:
                    self.send_event("task-succeeded", result=shown(receipt), runtime=runtime)
                else:
                    self.send_event("task-failed", exception=shown(receipt), traceback=traceback)
            case Lost(reason=reason):
                self._announce_failure(WorkerLostError(reason))
            case TimedOut(seconds=seconds):
                self._announce_failure(TimeLimitExceeded(seconds))
            case Stopped(reason=reason):
                self._announce_revoke(reason, terminated=True)
            case NotHeld():
                self._announce_revoke("its claim is not held any more", terminated=True)
            case HandedBack():
                self.send_event("task-rejected", requeue=True)
            case other:
                assert_never(other)

    def _announce_failure(self, error: Exception) -> None:
        self.send_event("task-failed", exception=f"{type(error).__name__}: {error}", traceback="")
        signals.task_failure.send(
            sender=self.task,
            task_id=self.id,
            exception=error,
            args=self.args,
            kwargs=self.kwargs,
            traceback=None,
            einfo=None,
        )

    def _announce_revoke(self, reason: str, *, terminated: bool) -> None:
        state.revoked.discard(self.id)
        log.info("attempt_revoked", attempt=self.attempt_id, capability=self.capability, why=reason)
        self.send_event("task-revoked", terminated=terminated, signum=None, expired=False)
        context = Context(self.request_dict)
        signals.task_revoked.send(sender=self.task, request=context, terminated=terminated, signum=None, expired=False)
