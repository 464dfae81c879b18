"""Durations as text (semantics 1.3): `[d.]hh:mm:ss[.fff]`, which is also what is written, and ISO-8601 `P…`.

Whether a duration may be negative or zero is the reader's business.
"""

from __future__ import annotations

import re
from datetime import timedelta

_CLOCK = re.compile(
    r"(?P<sign>-?)(?:(?P<days>[0-9]+)\.)?(?P<hours>[01][0-9]|2[0-3]):(?P<minutes>[0-5][0-9]):(?P<seconds>[0-5][0-9])"
    r"(?:\.(?P<fraction>[0-9]+))?"
)
_ISO = re.compile(
    r"(?P<sign>-?)P(?:(?P<weeks>[0-9]+)W|(?=[0-9T])(?:(?P<days>[0-9]+)D)?"
    r"(?:T(?=[0-9])(?:(?P<hours>[0-9]+)H)?(?:(?P<minutes>[0-9]+)M)?(?:(?P<seconds>[0-9]+)(?:\.(?P<fraction>[0-9]+))?S)?)?)"
)
_ISO_OF_NO_LENGTH = re.compile(r"-?P[0-9.]*(?:[0-9]Y|[0-9]M)")

_FORMS = "write [days.]hh:mm:ss[.fraction] like 00:00:30 or 2.00:00:00, or ISO-8601 like PT30S or P2D"


def parse_duration(text: str) -> timedelta:
    """The duration that the text says; a leading minus makes it negative.

    Raises ValueError, saying which forms there are, for everything else: years and months, which have no fixed length,
    a fraction finer than a microsecond, and more than 999,999,999 days.
    """
    found = _CLOCK.fullmatch(text) or _ISO.fullmatch(text)
    if found is None:
        if _ISO_OF_NO_LENGTH.match(text):
            raise ValueError(f"{_shown(text)} has years or months, which have no fixed length; {_FORMS}")
        raise ValueError(f"{_shown(text)} is not a duration; {_FORMS}")
    parts = found.groupdict()
    fraction = (parts.pop("fraction") or "").rstrip("0")
    if len(fraction) > 6:
        raise ValueError(f"{_shown(text)} is finer than a microsecond; {_FORMS}")
    sign = -1 if parts.pop("sign") else 1
    numbers = {unit: _number(digits or "") for unit, digits in parts.items()}
    try:
        length = timedelta(**numbers, microseconds=int(fraction.ljust(6, "0"))) * sign
    except OverflowError:
        raise ValueError(f"{_shown(text)} is longer than 999,999,999 days; {_FORMS}") from None
    return length


def format_duration(duration: timedelta) -> str:
    """The one form that is written: `00:00:30`, `2.00:00:00`, `00:00:00.25`; `parse_duration` reads it back."""
    length = abs(duration)
    minutes, seconds = divmod(length.seconds, 60)
    hours, minutes = divmod(minutes, 60)
    sign = "-" if duration < timedelta(0) else ""
    days = f"{length.days}." if length.days else ""
    fraction = f".{length.microseconds:06}".rstrip("0") if length.microseconds else ""
    return f"{sign}{days}{hours:02}:{minutes:02}:{seconds:02}{fraction}"


def _number(digits: str) -> int:
    """The number; of an absurdly long one its beginning, which is too long for a duration in any unit."""
    return int((digits.lstrip("0") or "0")[:18])


def _shown(text: str) -> str:
    return ascii(text if len(text) <= 64 else text[:63] + "…")
