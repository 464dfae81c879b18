"""What a performer may answer (semantics 1.9), and the receipt: the same answer as the engine stores it.

A performer's answer holds Python values; a `Receipt` holds canonical JSON text and is always storable, whatever was
answered: output that is not acceptable becomes a failure of kind `InvalidOutput` here and nowhere else.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Literal, TypeAlias

from orchestrator.core.data import DEFAULT_LIMITS, DataLimits, JsonText, canonical, printable
from orchestrator.core.ids import id_problem
from orchestrator.core.shapes import MAX_DURATION, duration_problem
from orchestrator.errors import BadData

#: Reasons and codes longer than this are cut: a journal is no place for a stack dump.
MAX_REASON_CHARACTERS = 2_000


class FailureKind(enum.StrEnum):
    """Why an execution failed (semantics 1.10)."""

    ERROR = "Error"
    TIMED_OUT = "TimedOut"
    INVALID_OUTLET = "InvalidOutlet"
    INVALID_OUTPUT = "InvalidOutput"
    PERFORMER_MISSING = "PerformerMissing"
    VISIT_LIMIT_EXCEEDED = "VisitLimitExceeded"

    @property
    def retried(self) -> bool:
        return self in (FailureKind.ERROR, FailureKind.TIMED_OUT)


@dataclass(frozen=True, slots=True)
class Succeeded:
    """Done: leave through `outlet` with `output`, any JSON value within the data limits."""

    outlet: str = "next"
    output: object = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Skipped:
    """Nothing to do: the path ends here, which is no failure."""

    reason: str


@dataclass(frozen=True, slots=True)
class Failed:
    """It did not work; tried again while attempts remain, unless `retryable` is false."""

    reason: str
    code: str | None = None
    retryable: bool = True


@dataclass(frozen=True, slots=True)
class Ambiguous:
    """Nobody knows whether the effect happened: never retried, the run stops for a person."""

    reason: str


@dataclass(frozen=True, slots=True)
class Suspended:
    """The answer comes later, by `complete(key, …)`; after `expires_after` the node leaves through `expired`."""

    key: str
    expires_after: timedelta | None = None


Outcome: TypeAlias = Succeeded | Skipped | Failed | Ambiguous | Suspended

Status: TypeAlias = Literal["succeeded", "skipped", "failed", "ambiguous", "suspended"]


@dataclass(frozen=True, slots=True)
class Receipt:
    """An answer as it is stored: flat, checked, and readable without knowing who gave it."""

    status: Status
    outlet: str | None = None
    #: Canonical JSON of a success; None for every other status.
    output: JsonText | None = None
    kind: FailureKind | None = None
    reason: str | None = None
    code: str | None = None
    retryable: bool = False
    key: str | None = None
    expires_after: timedelta | None = None


def failure(kind: FailureKind, reason: str, *, code: str | None = None, retryable: bool | None = None) -> Receipt:
    """A failed receipt; `retryable` defaults to what the kind allows."""
    return Receipt(
        "failed",
        kind=kind,
        reason=printable(reason, MAX_REASON_CHARACTERS),
        code=None if code is None else printable(code, 255),
        retryable=kind.retried if retryable is None else retryable and kind.retried,
    )


def receipt_of(answer: object, limits: DataLimits = DEFAULT_LIMITS) -> Receipt:
    """What to store for a performer's answer. Total: a plain value is a success through `next` (semantics 1.9)."""
    match answer:
        case Succeeded(outlet=outlet, output=output):
            if (problem := id_problem(outlet)) is not None:
                return failure(FailureKind.INVALID_OUTLET, f"the name of the outlet {problem}")
            try:
                return Receipt("succeeded", outlet=outlet, output=canonical(output, limits))
            except BadData as refusal:
                return failure(FailureKind.INVALID_OUTPUT, refusal.message)
        case Skipped(reason=reason):
            return Receipt("skipped", reason=printable(str(reason), MAX_REASON_CHARACTERS))
        case Failed(reason=reason, code=code, retryable=retryable):
            return failure(
                FailureKind.ERROR, str(reason), code=None if not code else str(code), retryable=bool(retryable)
            )
        case Ambiguous(reason=reason):
            return Receipt("ambiguous", reason=printable(str(reason), MAX_REASON_CHARACTERS))
        case Suspended(key=key, expires_after=expires_after):
            if (problem := id_problem(key)) is not None:
                return failure(FailureKind.ERROR, f"the key of a suspension {problem}", retryable=False)
            if expires_after is not None and not _is_duration(expires_after):
                problem = f"expires_after must be a timedelta from zero to {MAX_DURATION.days:,} days"
                return failure(FailureKind.ERROR, problem, retryable=False)
            return Receipt("suspended", key=key, expires_after=expires_after or None)
        case _:
            return receipt_of(Succeeded(output=answer), limits)


def _is_duration(value: object) -> bool:
    return isinstance(value, timedelta) and duration_problem(value) is None


def receipt_of_exception(error: BaseException) -> Receipt:
    """What to store when a performer raised: a failure of kind `Error`, retried while attempts remain."""
    text = str(error)
    return failure(FailureKind.ERROR, f"{type(error).__name__}: {text}" if text else type(error).__name__)
