"""Instants as text: ISO-8601 in UTC with `Z`, in seconds or, where there are some, microseconds.

Inside the project every instant is an aware datetime in UTC; other zones end here.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime

_INSTANT = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[T ](?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\.[0-9]{1,6}0*)?"
    r"(?P<zone>Z|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])?"
)

_FORM = "write it like 2026-01-15T10:07:00Z, with up to six digits of a fraction and Z or an offset like +02:00"


def format_instant(instant: datetime) -> str:
    """The instant as `2026-01-15T10:07:00Z`, with six digits of a second if it is not a whole one.

    Raises ValueError for a naive datetime, which is no instant, and for one before year 1 or after year 9999 in UTC.
    """
    if instant.tzinfo is not UTC:
        instant = in_utc(instant)
    return instant.isoformat()[:-6] + "Z"


def parse_instant(text: str) -> datetime:
    """The instant that the text says, in UTC. Raises ValueError for text of another form or without a zone."""
    found = _INSTANT.fullmatch(text)
    if found is None:
        raise ValueError(f"{_shown(text)} is not an instant; {_FORM}")
    try:
        instant = datetime.fromisoformat(text)
    except ValueError as problem:
        raise ValueError(f"{_shown(text)} is not an instant ({problem}); {_FORM}") from None
    if instant.tzinfo is UTC:
        return instant
    if found["zone"] is None:
        raise ValueError(f"{_shown(text)} has no zone; {_FORM}")
    return in_utc(instant)


def in_utc(instant: datetime) -> datetime:
    """The same instant in UTC. Raises ValueError for a naive datetime, and beyond the years that a datetime has."""
    if instant.utcoffset() is None:
        raise ValueError(f"the datetime {instant.isoformat()} has no zone; pass an aware one")
    try:
        return instant.astimezone(UTC)
    except OverflowError:
        raise ValueError(f"the datetime {instant.isoformat()} is beyond the years 1 to 9999 in UTC") from None


def _shown(text: str) -> str:
    return ascii(text if len(text) <= 64 else text[:63] + "…")
