"""Every error of Celeriac, grouped by who must act: the author of a workflow, the caller, the operator, or us.

The docstring of a class is its message when none is given, so an error without a sentence cannot exist.
A message says what was wrong and what to do next; attributes carry the data.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime


class CeleriacError(Exception):
    """Something went wrong inside Celeriac."""

    def __init__(self, message: str | None = None) -> None:
        super().__init__(message or " ".join((type(self).__doc__ or "").split()))

    @property
    def message(self) -> str:
        return str(self.args[0])


# --- the author of a workflow must act ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Reason:
    """One reason of a refusal: ``kind`` is a stable name, ``where`` a place in the document or the call."""

    kind: str
    where: str
    message: str

    def __str__(self) -> str:
        return f"{self.kind} at {self.where}: {self.message}" if self.where else f"{self.kind}: {self.message}"


class Rejected(CeleriacError):
    """The definition or the start was refused and nothing was stored; `reasons` lists every reason."""

    def __init__(self, reasons: Iterable[Reason]) -> None:
        self.reasons = list(reasons)
        super().__init__("; ".join(map(str, self.reasons)))


class InvalidCronExpression(CeleriacError):
    """The text is not a cron expression of five fields; `field` names the one that is wrong."""

    def __init__(self, message: str, *, field: str) -> None:
        self.field = field
        super().__init__(message)


# --- the caller must act --------------------------------------------------------------------------------------------


class NotFound(CeleriacError):
    """There is no such thing in this scope: check the id and the scope."""

    def __init__(self, what: str, id: str, message: str | None = None) -> None:
        self.what = what
        self.id = id
        super().__init__(message or f"there is no {what} {id!r} in this scope; check the id and the scope")


class Refused(CeleriacError):
    """The call does not fit what it was made on; nothing was changed."""


class BadData(Refused):
    """The value is not acceptable JSON (semantics 1.8); nothing was stored."""


class WaitClosed(Refused):
    """The wait is closed: somebody or something was first; `outlet`, `actor` and `at` say how, who and when."""

    def __init__(self, wait_id: str, *, outlet: str | None, actor: str | None, at: datetime | None) -> None:
        self.wait_id = wait_id
        self.outlet = outlet
        self.actor = actor
        self.at = at
        by_time = outlet in {"elapsed", "expired"}
        who = actor or ("time" if by_time else "the engine" if outlet is None else "an unnamed caller")
        when = f" at {at:%Y-%m-%dT%H:%M:%SZ}" if at else ""
        how = f"through {outlet!r}" if outlet else "by being withdrawn"
        super().__init__(f"the wait {wait_id!r} was closed{when} by {who} {how}; nothing was changed")


# --- the operator must act ------------------------------------------------------------------------------------------


class BadSettings(CeleriacError):
    """A setting cannot be used; the message names it and what it may be."""


class StoreUnavailable(CeleriacError):
    """The database does not answer: check CELERIAC_DATABASE_URL and that the server is up."""


class CommitUnknown(StoreUnavailable):
    """The connection was lost during a commit: it is stored whole or not at all; load the run and look."""


class SchemaOutdated(StoreUnavailable):
    """The database schema is not the one this release needs: run `celeriac db upgrade`."""


class BrokerUnavailable(CeleriacError):
    """The broker does not answer: check CELERIAC_BROKER_URL; stored work is rung again by beat when it is back."""


# --- we must act ----------------------------------------------------------------------------------------------------


class UnknownFact(CeleriacError):
    """A stored fact has a type this release does not know: it was written by a newer release, upgrade this process."""


class Conflict(CeleriacError):
    """Another writer appended to the journal first: load the run again and decide anew."""
