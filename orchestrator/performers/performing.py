"""Calling a performer: from one attempt to the receipt of its answer. Total: whatever a performer does, there is one.

Who hands out attempts and where receipts go does not stand here.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from orchestrator.core.data import DEFAULT_LIMITS, DataLimits, load
from orchestrator.core.outcomes import FailureKind, Receipt, failure, receipt_of, receipt_of_exception
from orchestrator.engine.work import Work
from orchestrator.performers.invocation import AttemptOver, Invocation
from orchestrator.performers.performer import Performer
from orchestrator.performers.table import PerformerTable


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What the carrier of an attempt knows and a performer may meet."""

    #: The time of day; None: no clock runs.
    clock: Callable[[], datetime] | None = None
    #: Whether the attempt was called off meanwhile.
    called_off: Callable[[], bool] = lambda: False
    #: Exceptions by which the carrier says that time is up.
    time_is_up: tuple[type[BaseException], ...] = ()
    #: Whether an exception is the carrier's own and must go through; the interrupt of a person always does.
    goes_through: Callable[[BaseException], bool] = lambda error: isinstance(error, KeyboardInterrupt)


@dataclass(frozen=True, slots=True)
class Performed:
    """A receipt, and how it came about."""

    receipt: Receipt
    #: What the performer raised.
    error: BaseException | None = None
    #: The performer gave up because it was told that the attempt is called off; the receipt is not worth recording.
    called_off: bool = False


ALONE = Surroundings()


def perform(performers: PerformerTable | Performer, work: Work, limits: DataLimits = DEFAULT_LIMITS) -> Receipt:
    """Perform one attempt here and now. Only KeyboardInterrupt gets out of it."""
    performer = performers if isinstance(performers, Performer) else performers.get(work.capability)
    if performer is None:
        return failure(FailureKind.PERFORMER_MISSING, f"no performer is registered for {work.capability}")
    return performed(performer, work, limits=limits).receipt


def performed(
    performer: Performer, work: Work, *, limits: DataLimits = DEFAULT_LIMITS, surroundings: Surroundings = ALONE
) -> Performed:
    """As `perform`, with what the carrier knows; raises only what `surroundings` lets through."""
    try:
        answer = _answer(performer, invocation_of(work, surroundings))
    except BaseException as error:
        if surroundings.goes_through(error):
            raise
        return _raised(performer, error, surroundings)
    try:
        return Performed(receipt_of(answer, limits))
    except Exception as error:  # noqa: BLE001 - an answer may do anything when it is looked at
        reason = f"the answer of type {type(answer).__name__} cannot be read: {type(error).__name__}"
        return Performed(failure(FailureKind.INVALID_OUTPUT, reason), error)


def invocation_of(work: Work, surroundings: Surroundings = ALONE) -> Invocation:
    """What the performer of this attempt is given."""
    return Invocation(
        input=load(work.input),
        configuration=load(work.configuration),
        scope=work.scope,
        workflow=work.workflow,
        run_id=work.run_id,
        node_id=work.node_id,
        branch=work.branch,
        visit=work.visit,
        execution_id=work.execution_id,
        attempt=work.attempt,
        capability=work.capability,
        deadline=work.deadline,
        clock=surroundings.clock,
        called_off=surroundings.called_off,
    )


def _answer(performer: Performer, call: Invocation) -> object:
    answer = performer.function(call)
    return _run(answer) if inspect.iscoroutine(answer) else answer


def _run(coroutine: Coroutine[Any, Any, object]) -> object:
    """Run a coroutine on a fresh loop, in a thread of its own where this one has a loop already (a test's)."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(coroutine)
    with ThreadPoolExecutor(max_workers=1) as fresh:
        return fresh.submit(asyncio.run, coroutine).result()


def _raised(performer: Performer, error: BaseException, surroundings: Surroundings) -> Performed:
    if isinstance(error, AttemptOver) and error.called_off:
        return Performed(failure(FailureKind.ERROR, error.message), error, called_off=True)
    if isinstance(error, (AttemptOver, *surroundings.time_is_up)):
        reason = f"it ran out of time: {_shown(error)}"
        if performer.effect == "once":
            return Performed(Receipt("ambiguous", reason=f"{reason}, and its effect is `once`"), error)
        return Performed(failure(FailureKind.TIMED_OUT, reason), error)
    try:
        return Performed(receipt_of_exception(error), error)
    except Exception:  # noqa: BLE001 - the text of an exception may raise as well
        return Performed(failure(FailureKind.ERROR, f"{_shown(error)} was raised"), error)


def _shown(error: BaseException) -> str:
    try:
        return f"{type(error).__name__}: {error}"
    except Exception:  # noqa: BLE001
        return f"{type(error).__name__}, whose text cannot be made,"
