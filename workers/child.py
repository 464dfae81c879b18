"""What a process or thread of the pool runs: one attempt, under Celery's own trace, so that its signals, logs and hooks
work as for any task. Nothing here reaches for the database or the broker.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any, TypeAlias

from billiard import common
from billiard.exceptions import SoftTimeLimitExceeded
from celery.exceptions import WorkerShutdown, WorkerTerminate

from orchestrator.core.data import DataLimits
from orchestrator.core.outcomes import FailureKind, Receipt, failure, receipt_of_exception
from orchestrator.engine.work import Work
from orchestrator.performers.performer import Performer
from orchestrator.performers.performing import Performed, Surroundings, performed

_billiard: Any = common

#: Celery's trace functions, by which a pool runs a task: ``(failed, value, runtime)``.
Trace: TypeAlias = Callable[..., tuple[int, Any, float | None]]


class AttemptFailed(Exception):
    """What Celery is told when a performer answered that it did not work; expected, so without a stack in the log."""


@dataclass(frozen=True, slots=True)
class Attempted:
    """What comes back over the pool's own pipe."""

    receipt: Receipt
    runtime: float
    traceback: str = ""
    called_off: bool = False


class _Slot(threading.local):
    """Where the body of the task leaves what the trace would turn into text."""

    performed: Performed | None = None

    def take(self) -> Performed | None:
        """What was left, once."""
        made, self.performed = self.performed, None
        return made


_slot = _Slot()

_CALLED_OFF: set[tuple[str, int]] = set()


def call_off(attempt_id: str, fence: int) -> None:
    """In a pool of threads: let a performer know, at its next heartbeat, that nobody waits for it."""
    _CALLED_OFF.add((attempt_id, fence))


def forget_call(attempt_id: str, fence: int) -> None:
    """The attempt has ended."""
    _CALLED_OFF.discard((attempt_id, fence))


def run_attempt(trace: Trace, *call: Any) -> Attempted:
    """Run one attempt under this trace. Raises only what ends the process."""
    _slot.performed = None
    problem: BaseException | None = None
    value: Any = None
    runtime: float | None = None
    try:
        _, value, runtime = trace(*call)
    except BaseException as error:
        if _ends_the_process(error):
            raise
        problem = error
    made = _slot.take()
    if made is None:
        return Attempted(_unperformed(problem, value), runtime or 0.0)
    raised = made.error is not None and not isinstance(made.error, AttemptFailed)
    traceback = str(getattr(value, "traceback", "")) if raised else ""
    return Attempted(made.receipt, runtime or 0.0, traceback, called_off=made.called_off)


def perform_here(performer: Performer | None, work: Work, limits: DataLimits) -> str:
    """The body of every task of ours. What it returns and raises is for Celery's eyes; the receipt goes its own way."""
    if performer is None:
        reason = f"no performer is registered for {work.capability}"
        made = Performed(failure(FailureKind.PERFORMER_MISSING, reason))
    else:
        surroundings = Surroundings(
            clock=_now,
            called_off=partial(_CALLED_OFF.__contains__, (work.attempt_id, work.fence)),
            time_is_up=(SoftTimeLimitExceeded,),
            goes_through=_ends_the_process,
        )
        made = performed(performer, work, limits=limits, surroundings=surroundings)
    _slot.performed = made
    if isinstance(made.error, Exception):
        raise made.error
    if made.receipt.status in ("failed", "ambiguous"):
        raise AttemptFailed(made.receipt.reason or "")
    return shown(made.receipt)


def shown(receipt: Receipt) -> str:
    """A receipt in a few words, for monitors and logs; never the output."""
    match receipt.status:
        case "succeeded":
            return receipt.outlet or "next"
        case "failed":
            code = f" ({receipt.code})" if receipt.code else ""
            return f"{receipt.kind or FailureKind.ERROR}: {receipt.reason}{code}"
        case "suspended":
            return "suspended"
        case other:
            return f"{other}: {receipt.reason}"


def _unperformed(problem: BaseException | None, value: Any) -> Receipt:
    """Something around the performer failed before it, such as a signal handler of the application."""
    error = problem or getattr(value, "exception", None) or getattr(value, "exc", None)
    if isinstance(error, BaseException):
        return receipt_of_exception(error)
    return failure(FailureKind.ERROR, "the attempt ended before its performer was called")


def _ends_the_process(error: BaseException) -> bool:
    """Whether the pool is ending this process (or thread), so that the attempt has no answer."""
    return isinstance(error, WorkerShutdown | WorkerTerminate) or bool(_billiard.terminate_handler_fired())


def _now() -> datetime:
    return datetime.now(UTC)
