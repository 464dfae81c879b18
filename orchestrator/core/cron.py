"""Cron expressions of five numeric fields in UTC (semantics 2.7): reading them strictly, and when they come next.

Reading is our own: a field becomes the sorted numbers it stands for, and croniter, which reads far more than we mean,
gets only those. Zones are not here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import MAXYEAR, UTC, datetime
from itertools import islice
from typing import Final, NamedTuple

from croniter import croniter

from orchestrator.core.instants import in_utc
from orchestrator.errors import InvalidCronExpression


class _Field(NamedTuple):
    name: str
    least: int
    most: int


_FIELDS: Final = (
    _Field("minute", 0, 59),
    _Field("hour", 0, 23),
    _Field("day", 1, 31),
    _Field("month", 1, 12),
    _Field("weekday", 0, 7),
)

#: The longest each month can be, January first.
_MONTH_LENGTHS: Final = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)

#: In years: from one 29 February to the next, across a century that has none.
_LONGEST_GAP: Final = 8

_BLANKS = re.compile("[ \t]+")
_ELEMENT = re.compile(r"(?:(?P<star>\*)|(?P<first>[0-9]+)(?:-(?P<last>[0-9]+))?)(?:/(?P<step>[0-9]+))?")


@dataclass(frozen=True, slots=True)
class CronExpression:
    """A cron expression that has been read; only `parse` makes one."""

    #: As it was written.
    text: str
    #: The same with every field as `*` or its sorted numbers; None when no date can ever fit.
    canonical: str | None = field(repr=False)

    @classmethod
    def parse(cls, text: str) -> CronExpression:
        """Read an expression. Raises InvalidCronExpression naming the first wrong field."""
        if not isinstance(text, str):
            raise InvalidCronExpression(
                f"a cron expression is text like '0 6 * * 1-5', not {type(text).__name__}", field="expression"
            )
        written = _BLANKS.split(text.strip(" \t"))
        if len(written) != len(_FIELDS) or written == [""]:
            count = 0 if written == [""] else len(written)
            raise InvalidCronExpression(
                f"{_shown(text)} has {count} {'field' if count == 1 else 'fields'}; write five: minute, hour, day, "
                "month and weekday, as in '0 6 * * 1-5' (macros like @daily are not read)",
                field="expression",
            )
        numbers = [_numbers(part, of) for part, of in zip(written, _FIELDS, strict=True)]
        _, _, days, months, weekdays = numbers
        if weekdays is None and days is not None and not _ever(days, months):
            return cls(text, None)
        return cls(text, " ".join("*" if some is None else ",".join(map(str, some)) for some in numbers))

    def next(self, after: datetime) -> datetime | None:
        """The first instant strictly after this one, in UTC; None when it never comes."""
        return next(self._from(after), None)

    def upcoming(self, after: datetime, count: int) -> tuple[datetime, ...]:
        """The next `count` instants strictly after this one; fewer when no more will come."""
        return tuple(islice(self._from(after), count))

    def _from(self, after: datetime) -> Iterator[datetime]:
        # croniter counts in floats, which round the end of a far minute up to the next one
        instant = in_utc(after).replace(second=0, microsecond=0)
        if self.canonical is None:
            return
        instants = croniter(self.canonical, instant)
        while True:
            try:
                instant = instants.get_next(datetime).astimezone(UTC)
            except (ValueError, OverflowError):
                if instant.year < MAXYEAR - _LONGEST_GAP:
                    raise
                return
            yield instant


def _ever(days: tuple[int, ...], months: tuple[int, ...] | None) -> bool:
    """Whether one of the months can be as long as one of the days needs."""
    lengths = _MONTH_LENGTHS if months is None else [_MONTH_LENGTHS[month - 1] for month in months]
    return min(days) <= max(lengths)


def _numbers(text: str, of: _Field) -> tuple[int, ...] | None:
    """The numbers a field stands for, ascending, Sunday as 0; None for `*`, since only that leaves a field open."""
    if text == "*":
        return None
    found = {number for element in text.split(",") for number in _element(element, of)}
    return tuple(sorted({0 if of.name == "weekday" and number == 7 else number for number in found}))


def _element(text: str, of: _Field) -> range:
    """The numbers of one element of a comma list: `*`, `n`, `a-b`, `*/n` or `a-b/n`."""
    read = _ELEMENT.fullmatch(text)
    if read is None:
        raise _wrong(of, f"{_shown(text)} is none of *, n, a-b, */n and a-b/n (digits only, names are not read)")
    if read["star"]:
        first, last = of.least, of.most
    else:
        first = _number(read["first"], of)
        last = first if read["last"] is None else _number(read["last"], of)
        if read["step"] and read["last"] is None:
            raise _wrong(of, f"{_shown(text)} has a step without a range; write {first}-{of.most}/… or */…")
    if last < first:
        raise _wrong(of, f"{_shown(text)} runs backwards; write it as two ranges, {first}-{of.most},{of.least}-{last}")
    step = 1 if read["step"] is None else _number(read["step"], of, least=1)
    return range(first, last + 1, step)


def _number(digits: str, of: _Field, *, least: int | None = None) -> int:
    """The number, within the field's range; a step counts from 1."""
    low = of.least if least is None else least
    significant = digits.lstrip("0") or "0"
    if len(significant) > 2 or not low <= int(significant) <= of.most:
        what = "value" if least is None else "step"
        raise _wrong(of, f"the {what} {_shown(digits)} is not from {low} to {of.most}")
    return int(significant)


def _wrong(of: _Field, problem: str) -> InvalidCronExpression:
    return InvalidCronExpression(f"the {of.name} field of the cron expression: {problem}", field=of.name)


def _shown(text: str) -> str:
    return ascii(text if len(text) <= 64 else text[:63] + "…")
