"""The records that cross the store's port: one frozen dataclass a table row. Instants are aware UTC datetimes.

What each row means is said here once; how it is stored is the adapter's.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from datetime import datetime, timedelta

from orchestrator.core.data import JsonText
from orchestrator.core.outcomes import Receipt


@dataclass(frozen=True, slots=True)
class StoredFact:
    """One journal entry as it is kept (semantics 2.1)."""

    number: int
    type: str
    at: datetime
    #: The engine's own fields, compact JSON text.
    data: JsonText
    #: The user's JSON that the fact brings in (payload, output), or None when it brings none or it was left out.
    value: JsonText | None = None
    #: Bytes of that JSON, also when `value` was left out; 0 when the fact brings none.
    size: int = 0


@dataclass(frozen=True, slots=True)
class DefinitionRow:
    """One published version of a workflow; at most one version of a workflow is active."""

    scope: str
    workflow: str
    version: int
    digest: str
    document: JsonText
    active: bool
    published_at: datetime


@dataclass(frozen=True, slots=True)
class RunRow:
    """What lists show of a run; a pure fold of its facts."""

    run_id: str
    scope: str
    workflow: str
    version: int
    key: str
    trigger_kind: str
    subject_kind: str | None
    subject_id: str | None
    correlation: str | None
    status: str
    #: The number of the last fact.
    tail: int
    started_at: datetime
    #: When the last fact was recorded.
    updated_at: datetime
    ended_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Head:
    """The little that a writer needs of a run before it loads anything."""

    run_id: str
    scope: str
    tail: int
    final: bool


class AttemptState(enum.StrEnum):
    """Where an attempt stands between its fact of being scheduled and its receipt."""

    #: In the outbox: a worker is owed, nobody has claimed it.
    OWED = "owed"
    #: A worker holds it under a lease.
    CLAIMED = "claimed"
    #: The answer is stored and waits for whoever advances the run.
    ANSWERED = "answered"


@dataclass(frozen=True, slots=True)
class AttemptRow:
    """One attempt that is owed, claimed or answered; the row goes when the attempt is over (semantics 2.2, 2.8)."""

    attempt_id: str
    run_id: str
    scope: str
    execution_id: str
    node: str
    number: int
    #: ``name@version``, which is also the name of the Celery task.
    capability: str
    #: attemptTimeout; it counts from the claim.
    timeout: timedelta
    state: AttemptState
    owed_at: datetime
    #: When beat looks at this row next: to ring again (owed), for lease or deadline (claimed), to advance (answered).
    due_at: datetime
    #: Grows by one with each claim; an answer under an older fence is refused.
    fence: int = 0
    #: How often the doorbell was rung by beat.
    rings: int = 0
    #: How many workers vanished while holding it.
    losses: int = 0
    worker: str | None = None
    #: The declared effect of the performer that claimed it: ``safe``, ``idempotent`` or ``once``.
    effect: str | None = None
    claimed_at: datetime | None = None
    deadline: datetime | None = None
    lease_until: datetime | None = None
    receipt: Receipt | None = None
    answered_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class TimerRow:
    """The time at which a run must be woken for one execution: its retry is due, or its wait elapses or expires."""

    run_id: str
    execution_id: str
    due_at: datetime
    #: Looked at when due and nothing was possible (no free slot, run stopped); whatever frees the run looks again.
    parked: bool = False


@dataclass(frozen=True, slots=True)
class WaitRow:
    """One wait, open or closed (semantics 1.11)."""

    wait_id: str
    run_id: str
    scope: str
    workflow: str
    execution_id: str
    node: str
    branch_key: str | None
    #: ``signal``, ``timer``, ``approval`` or ``completion``.
    kind: str
    opened_at: datetime
    signal_id: str | None = None
    signal_version: int | None = None
    #: The key of a completion; unique among the open waits of a scope.
    key: str | None = None
    deadline: datetime | None = None
    #: ``open``, ``closed`` (through an outlet) or ``withdrawn`` (by the engine).
    status: str = "open"
    outlet: str | None = None
    actor: str | None = None
    closed_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Change:
    """Everything one append owes, stored in one transaction or not at all."""

    run: RunRow
    expected_tail: int
    facts: tuple[StoredFact, ...]
    #: New in the outbox.
    owed: tuple[AttemptRow, ...] = ()
    #: Attempts that are over: their rows go.
    ended: tuple[str, ...] = ()
    #: Set, by (run, execution); a set timer replaces the one that was there.
    timers: tuple[TimerRow, ...] = ()
    #: Executions of this run whose timer goes.
    cleared: tuple[str, ...] = ()
    #: New or changed waits, by wait id.
    waits: tuple[WaitRow, ...] = ()
    #: The run is over: every attempt and timer of it goes.
    swept: bool = False
