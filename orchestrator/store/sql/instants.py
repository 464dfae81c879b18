"""Instants and durations as whole microseconds: exact, alike on every database, and arithmetic in plain SQL."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import overload

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


@overload
def micros(instant: datetime) -> int: ...
@overload
def micros(instant: datetime | None) -> int | None: ...
def micros(instant: datetime | None) -> int | None:
    """Microseconds since the epoch."""
    return None if instant is None else (instant - _EPOCH) // _MICROSECOND


@overload
def instant(microseconds: int) -> datetime: ...
@overload
def instant(microseconds: int | None) -> datetime | None: ...
def instant(microseconds: int | None) -> datetime | None:
    """The instant so many microseconds after the epoch, in UTC."""
    return None if microseconds is None else _EPOCH + timedelta(microseconds=microseconds)


def length(duration: timedelta) -> int:
    """A duration in microseconds."""
    return duration // _MICROSECOND


def duration(microseconds: int) -> timedelta:
    """The duration of so many microseconds."""
    return timedelta(microseconds=microseconds)
