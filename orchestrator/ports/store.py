"""The store's port: transactions over definitions, journals, attempts, timers and the read models.

Every method says what it guarantees; `tests/store/conformance.py` holds every adapter to it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from orchestrator.core.data import JsonText
from orchestrator.core.outcomes import Receipt
from orchestrator.ports.records import (
    AttemptRow,
    Change,
    DefinitionRow,
    Head,
    RunRow,
    StoredFact,
    TimerRow,
    WaitRow,
)


@dataclass(frozen=True, slots=True)
class ClaimRequest:
    """A worker asks for one attempt; `effect` is what its performer declared."""

    attempt_id: str
    effect: str


@dataclass(frozen=True, slots=True)
class RunFilter:
    """Which runs a list shows; None means any."""

    scope: str | None = None
    workflow: str | None = None
    status: str | None = None
    subject_kind: str | None = None
    subject_id: str | None = None
    since: datetime | None = None


class DefinitionTable(Protocol):
    """Published versions."""

    def definition(self, scope: str, workflow: str, version: int | None = None) -> DefinitionRow | None:
        """That version, or the active one when no version is named."""

    def definitions(self, scope: str, workflow: str | None = None) -> list[DefinitionRow]:
        """All versions, by workflow and version."""

    def add_definition(self, row: DefinitionRow) -> bool:
        """Store a version; False, and nothing changed, when that version is there already."""

    def activate(self, scope: str, workflow: str, version: int | None) -> None:
        """Make that version the only active one, or none at all."""


class JournalTable(Protocol):
    """Facts by run, numbered 1..n without gaps."""

    def head(self, run_id: str) -> Head | None:
        """The run's tail, without a lock."""

    def lock(self, run_ids: Sequence[str], *, wait: bool) -> dict[str, Head]:
        """Hold these runs until the transaction ends. Without `wait`, runs held by others are left out of the answer.

        Runs that do not exist are left out. Locks are taken in the order of the ids, so two callers never deadlock.
        """

    def facts(
        self, run_id: str, *, after: int = 0, limit: int | None = None, inline: int | None = None
    ) -> list[StoredFact]:
        """Facts with a number above `after`, in order; values above `inline` bytes are left out (size is kept)."""

    def values(self, run_id: str, numbers: Sequence[int]) -> dict[int, JsonText]:
        """The values of these facts; facts without one are left out."""

    def append(self, changes: Sequence[Change]) -> None:
        """Store facts and all they owe, for several runs at once, each run at most once.

        A change whose `expected_tail` is 0 creates the run; one without facts writes only what follows from them.
        `ended` comes before `owed`, `cleared` before `timers`, `swept` wins over both. Raises `Conflict` when a tail
        has moved, a run or an attempt exists already, or a completion key is open elsewhere; the transaction is then of
        no further use.
        """


class AttemptTable(Protocol):
    """The outbox, the leases and the inbox of answers."""

    def claim(
        self, requests: Sequence[ClaimRequest], worker: str, *, now: datetime, lease: timedelta
    ) -> list[AttemptRow]:
        """Claim those that are owed: state, fence + 1, worker, effect, claimed_at, lease_until = now + lease,
        deadline = now + timeout, due_at = the earlier of the two. Others (claimed, answered, gone) are left out."""

    def renew(self, claims: Sequence[tuple[str, int]], *, until: datetime) -> set[str]:
        """Extend the leases of these (attempt, fence) to `until` (due_at = the earlier of lease and deadline);
        answers with the attempts that are still held under that fence."""

    def answer(self, receipts: Sequence[tuple[str, int, Receipt]], *, now: datetime, due_at: datetime) -> set[str]:
        """Store answers of attempts that are claimed under that fence (state answered); answers with those stored.
        An attempt answered already, unclaimed, gone or under another fence is left out: the answer is late."""

    def attempts(self, attempt_ids: Sequence[str], *, lock: bool = False) -> list[AttemptRow]:
        """The rows that are there; with `lock` they are held, so that nobody can claim them meanwhile."""

    def attempts_of(self, run_ids: Sequence[str], *, lock: bool = False) -> list[AttemptRow]:
        """All rows of these runs."""

    def answered(self, run_ids: Sequence[str]) -> list[AttemptRow]:
        """The rows of these runs whose answer is stored, oldest answer first."""

    def due_attempts(self, now: datetime, limit: int) -> list[AttemptRow]:
        """Rows with due_at <= now, earliest first, held until the transaction ends; rows held by others are skipped."""

    def postpone(self, rows: Sequence[AttemptRow]) -> None:
        """Write due_at, rings, losses, state, worker, claimed_at, deadline and lease_until of these rows; a row whose
        fence or state group has moved since it was read (fence differs, or it is answered now) is left alone."""


class TimerTable(Protocol):
    """When runs must be woken."""

    def due_timers(self, now: datetime, limit: int) -> list[TimerRow]:
        """Timers with due_at <= now that are not parked, earliest first; held, rows held by others are skipped."""

    def take_timers(self, taken: Sequence[TimerRow], *, until: datetime) -> None:
        """Set due_at of these to `until`, so that no other beat looks at them meanwhile (the true due time is in the
        journal, nothing is lost by moving the row)."""

    def park_timers(self, run_id: str, execution_ids: Sequence[str]) -> None:
        """Leave these alone from now on (see `TimerRow.parked`)."""

    def timers_of(self, run_id: str) -> list[TimerRow]:
        """All timers of a run, by execution id."""


class ReadModels(Protocol):
    """What lists and look-ups read. Kept by `append`, in the same transaction as the facts they follow from."""

    def run(self, run_id: str) -> RunRow | None:
        """One run."""

    def runs(self, which: RunFilter, *, limit: int, before: tuple[datetime, str] | None = None) -> list[RunRow]:
        """Newest first by (started_at, run_id); `before` is the last row of the page before."""

    def count_runs(self, scope: str | None = None) -> Mapping[str, int]:
        """How many runs have each status."""

    def wait(self, wait_id: str) -> WaitRow | None:
        """One wait, open or closed."""

    def wait_by_key(self, scope: str, key: str) -> WaitRow | None:
        """The open completion with this key, else the one closed last."""

    def waits(
        self,
        *,
        scope: str | None = None,
        run_id: str | None = None,
        kind: str | None = None,
        open_only: bool = True,
        limit: int = 1000,
        after: tuple[datetime, str] | None = None,
    ) -> list[WaitRow]:
        """Oldest first by (opened_at, wait_id); `after` is the last row of the page before."""

    def open_keys(self, scope: str, keys: Sequence[str]) -> dict[str, str]:
        """Of these completion keys, those that are open, with the execution that holds each."""

    def run_ids(self, *, after: str = "", limit: int = 1000) -> list[str]:
        """Ids of all runs in order, in pages: for verify and repair."""


class Transaction(DefinitionTable, JournalTable, AttemptTable, TimerTable, ReadModels, Protocol):
    """One unit of work over all tables."""


class Store(Protocol):
    """Where everything is kept."""

    def transaction(self) -> AbstractContextManager[Transaction]:
        """Read and write: commits at the end, rolls back when an exception leaves it.

        Raises `StoreUnavailable` when the database does not answer. A failure that a repetition may cure
        (serialization, deadlock, busy) is raised as `Conflict`.
        """

    def reading(self) -> AbstractContextManager[Transaction]:
        """Read only, one consistent view, blocks no writer."""

    def close(self) -> None:
        """Give up every connection."""
