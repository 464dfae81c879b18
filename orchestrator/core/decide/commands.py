"""What can be asked of a run. A command is plain data; told twice it changes nothing the second time."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias

from orchestrator.core.data import JsonText
from orchestrator.core.outcomes import Receipt


@dataclass(frozen=True, slots=True)
class AnswerAttempt:
    """A performer has answered."""

    execution_id: str
    attempt: int
    receipt: Receipt
    worker: str | None = None
    claimed_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class TimeOutAttempt:
    """An attempt is past its deadline."""

    execution_id: str
    attempt: int
    #: What its performer declared: ``safe``, ``idempotent`` or ``once``; None when nobody claimed it.
    effect: str | None = None


@dataclass(frozen=True, slots=True)
class LoseAttempt:
    """The worker that held an attempt vanished, for the `losses`-th time."""

    execution_id: str
    attempt: int
    losses: int
    effect: str | None = None


@dataclass(frozen=True, slots=True)
class StopAttempt:
    """The carrier of an attempt was stopped from outside without an answer (a job was revoked)."""

    execution_id: str
    attempt: int
    effect: str | None = None
    claimed: bool = False


@dataclass(frozen=True, slots=True)
class Wake:
    """Time has passed: waits may be due, and retries."""


@dataclass(frozen=True, slots=True)
class ResolveWait:
    """A person or a system closes one wait through an outlet."""

    wait_id: str
    outlet: str
    value: JsonText
    actor: str | None = None


@dataclass(frozen=True, slots=True)
class SendSignal:
    """Resume every open signal wait that accepts this contract, ``name@version``."""

    contract: str
    value: JsonText
    actor: str | None = None


@dataclass(frozen=True, slots=True)
class CompleteWait:
    """The answer of a suspended node has come."""

    wait_id: str
    receipt: Receipt
    actor: str | None = None


@dataclass(frozen=True, slots=True)
class ReconcileExecution:
    """A person chooses the outcome of an execution whose effect nobody knows."""

    execution_id: str
    receipt: Receipt
    actor: str | None = None


@dataclass(frozen=True, slots=True)
class CancelRun:
    """End the run now."""

    actor: str | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Advance:
    """Nothing new: do what is still owed."""


Command: TypeAlias = (
    AnswerAttempt
    | TimeOutAttempt
    | LoseAttempt
    | StopAttempt
    | Wake
    | ResolveWait
    | SendSignal
    | CompleteWait
    | ReconcileExecution
    | CancelRun
    | Advance
)
