"""Cron: the grammar, what is refused by which field, and the instants: outside cases and a reading by brute force."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from orchestrator.core.cron import CronExpression
from orchestrator.errors import InvalidCronExpression


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def upcoming(expression: str, after: str, count: int) -> list[str]:
    """The next instants as text, minutes exact."""
    found = CronExpression.parse(expression).upcoming(at(after), count)
    assert all(instant.second == instant.microsecond == 0 for instant in found)
    return [f"{instant:%Y-%m-%d %H:%M}" for instant in found]


def refused_field(text: str) -> str:
    with pytest.raises(InvalidCronExpression) as caught:
        CronExpression.parse(text)
    caught.value.message.encode()
    assert len(caught.value.message) < 300
    return caught.value.field


# --- promises ---------------------------------------------------------------------------------------------------------


@pytest.mark.behaviour("B102")
def test_weekdays_at_six_go_from_friday_to_monday() -> None:
    assert ["2026-01-19 06:00"] == upcoming("0 6 * * 1-5", "2026-01-16 06:00:00", 1)


@pytest.mark.behaviour("B103")
def test_every_fifteenth_minute_is_the_quarters_of_the_hour() -> None:
    quarters = ["2026-01-15 10:15", "2026-01-15 10:30", "2026-01-15 10:45", "2026-01-15 11:00"]
    assert quarters == upcoming("*/15 * * * *", "2026-01-15 10:00:00", 4)


@pytest.mark.behaviour("B104")
def test_a_day_alone_fires_only_on_that_day() -> None:
    assert ["2026-02-01 00:00", "2026-03-01 00:00"] == upcoming("0 0 1 * *", "2026-01-01 00:00:00", 2)


@pytest.mark.behaviour("B105")
def test_a_day_and_a_weekday_fire_on_either() -> None:
    fridays_and_the_13th = ["2026-01-09 00:00", "2026-01-13 00:00", "2026-01-16 00:00", "2026-01-23 00:00"]
    assert fridays_and_the_13th == upcoming("0 0 13 * 5", "2026-01-08 00:00:00", 4)


@pytest.mark.behaviour("B106")
def test_7_is_sunday_as_0_is() -> None:
    assert CronExpression.parse("0 0 * * 0").canonical == CronExpression.parse("0 0 * * 7").canonical
    assert ["2026-01-18 00:00"] == upcoming("0 0 * * 7", "2026-01-15 00:00:00", 1)


@pytest.mark.behaviour("B107")
@pytest.mark.parametrize(
    ("text", "field"),
    (
        ("* * * * MON", "weekday"),
        ("MON", "expression"),
        ("* * * *", "expression"),
        ("* * * * * *", "expression"),
        ("60 * * * *", "minute"),
        ("*/0 * * * *", "minute"),
        ("5/15 * * * *", "minute"),
        ("5-1 * * * *", "minute"),
    ),
)
def test_what_is_no_expression_is_refused_and_names_the_field(text: str, field: str) -> None:
    assert field == refused_field(text)


@pytest.mark.behaviour("B108")
def test_the_29th_of_february_is_found_and_the_31st_never_comes() -> None:
    assert ["2028-02-29 00:00"] == upcoming("0 0 29 2 *", "2026-01-15 00:00:00", 1)
    assert CronExpression.parse("0 0 31 2 *").next(at("2026-01-15 00:00:00")) is None
    assert [] == upcoming("0 0 31 2 *", "2026-01-15 00:00:00", 5)


# --- cases from outside -----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def vectors(cases: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((cases / "cron_vectors.json").read_text(encoding="utf-8"))
    return found


@pytest.mark.parametrize("section", ("next", "literal_star"))
def test_six_independent_libraries_agree_on_the_instants(vectors: dict[str, Any], section: str) -> None:
    for case in vectors[section]:
        expected = [at(text) for text in case["next"]]
        found = CronExpression.parse(case["expr"]).upcoming(at(case["start"]), len(expected))
        assert expected == list(found), case


def test_dates_that_never_come_never_come(vectors: dict[str, Any]) -> None:
    for text in vectors["never_fires"]:
        assert CronExpression.parse(text).next(at("2026-01-15 10:07:00")) is None, text


def test_what_others_refuse_is_refused(vectors: dict[str, Any]) -> None:
    for case in vectors["invalid"]:
        assert refused_field(case["expr"]) in {"expression", "minute", "hour", "day", "month", "weekday"}


# --- reading ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "canonical"),
    (
        ("* * * * *", "* * * * *"),
        ("0-59 0-23 1-31 1-12 0-7", None),
        ("*/20 */10 */15 */6 */3", "0,20,40 0,10,20 1,16,31 1,7 0,3,6"),
        ("10-10 5 7-7 3-3 2-2", "10 5 7 3 2"),
        ("10-20/5 1-23/20 * * *", "10,15,20 1,21 * * *"),
        ("55,5,5,10-12,11 * * * *", "5,10,11,12,55 * * * *"),
        ("0 0 * * 5-7", "0 0 * * 0,5,6"),
        ("0 0 * * 1-7/2", "0 0 * * 0,1,3,5"),
        ("0 0 * * */7", "0 0 * * 0"),
        ("0 0 * * *,3", "0 0 * * 0,1,2,3,4,5,6"),
        ("00 06 01 001 0", "0 6 1 1 0"),
        ("*/59 */23 */31 */12 *", "0,59 0,23 1 1 *"),
        pytest.param("0" * 5_000 + "5 * * * *", "5 * * * *", id="5,000 zeros"),
        (" 0\t 6  * * 1-5 ", "0 6 * * 1,2,3,4,5"),
    ),
)
def test_a_field_becomes_its_sorted_numbers_and_a_star_alone_stays_a_star(text: str, canonical: str | None) -> None:
    everything = " ".join(",".join(map(str, r)) for r in (range(60), range(24), range(1, 32), range(1, 13), range(7)))
    read = CronExpression.parse(text)
    assert (canonical or everything) == read.canonical
    assert text == read.text


@pytest.mark.parametrize(
    ("text", "field"),
    (
        ("", "expression"),
        ("   ", "expression"),
        ("@daily", "expression"),
        ("0 0 * *", "expression"),
        ("*\u00a0* * * *", "expression"),
        ("0 0 * * *\n", "weekday"),
        ("0 0 * *\v*", "expression"),
        ("r r * * *", "minute"),
        ("h h * * *", "minute"),
        ("0 24 99 * *", "hour"),
        ("0 0 0 * *", "day"),
        ("0 0 1-32 * *", "day"),
        ("0 0 l * *", "day"),
        ("0 0 * 0 *", "month"),
        ("0 0 * jan *", "month"),
        ("0 0 ? * *", "day"),
        ("0 0 * * 8", "weekday"),
        ("0 0 * * 5#2", "weekday"),
        ("0 0 * * 7-1", "weekday"),
        ("*/60 * * * *", "minute"),
        ("* */24 * * *", "hour"),
        ("0 0 */32 * *", "day"),
        ("0 0 * */13 *", "month"),
        ("0 0 * * */8", "weekday"),
        ("0-5/60 * * * *", "minute"),
        ("0-5/0 * * * *", "minute"),
        pytest.param("9" * 5_000 + " * * * *", "minute", id="5,000 digits"),
        pytest.param("*/" + "9" * 5_000 + " * * * *", "minute", id="a step of 5,000 digits"),
        pytest.param("0 0 * * 1-" + "9" * 5_000, "weekday", id="a range to 5,000 digits"),
        ("\u0661 * * * *", "minute"),
        ("\uff11 * * * *", "minute"),
        ("\u00b2 * * * *", "minute"),
        ("1,\ud800 * * * *", "minute"),
        ("1,,2 * * * *", "minute"),
        ("0 0 1 1 1-5,", "weekday"),
        ("0 0 1 1 1-5/", "weekday"),
    ),
)
def test_the_first_wrong_field_is_named(text: str, field: str) -> None:
    assert field == refused_field(text)


@pytest.mark.parametrize("value", (None, 5, b"* * * * *", ["*"] * 5))
def test_what_is_not_even_text_is_refused(value: Any) -> None:
    assert "expression" == refused_field(value)


@pytest.mark.parametrize(
    ("text", "advice"),
    (
        ("5/15 * * * *", "write 5-59/… or */…"),
        ("0 22-2 * * *", "22-23,0-2"),
        ("*/0 * * * *", "from 1 to 59"),
        ("0 0 * * MON", "names are not read"),
        ("@hourly", "macros like @daily are not read"),
        ("0 0 0 * *", "'0' is not from 1 to 31"),
    ),
)
def test_a_refusal_says_what_to_write(text: str, advice: str) -> None:
    with pytest.raises(InvalidCronExpression) as caught:
        CronExpression.parse(text)
    assert advice in caught.value.message


@given(st.text("0123456789*/,- \t@LWh?", max_size=20) | st.text())
def test_any_text_is_read_or_refused_by_a_field(text: str) -> None:
    try:
        read = CronExpression.parse(text)
    except InvalidCronExpression as refusal:
        assert refusal.field in {"expression", "minute", "hour", "day", "month", "weekday"}  # noqa: PT017
        return
    assert text == read.text


# --- the next instant -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("after", "following"),
    (
        ("2026-01-15 10:07:00", "2026-01-15 10:08"),
        ("2026-01-15 10:07:00.000001", "2026-01-15 10:08"),
        ("2026-01-15 10:07:59.999999", "2026-01-15 10:08"),
        ("5000-01-01 00:04:59.999999", "5000-01-01 00:05"),
        ("2025-12-31 23:59:30", "2026-01-01 00:00"),
        ("1969-12-31 23:58:59", "1969-12-31 23:59"),
    ),
)
def test_next_is_strictly_after_and_the_nearest(after: str, following: str) -> None:
    assert [following] == upcoming("* * * * *", after, 1)


@pytest.mark.parametrize(
    ("after", "following"),
    (
        ("2096-02-28 23:59:00", "2096-02-29 00:00"),
        ("2096-02-29 00:00:00", "2104-02-29 00:00"),
        ("2096-03-01 00:00:00", "2104-02-29 00:00"),
        ("2100-02-28 12:00:00", "2104-02-29 00:00"),
        ("2396-03-01 00:00:00", "2400-02-29 00:00"),
    ),
)
def test_the_29th_of_february_is_found_across_a_century_without_one(after: str, following: str) -> None:
    assert [following] == upcoming("0 0 29 2 *", after, 1)


@pytest.mark.parametrize("text", ("0 0 30 2 *", "0 0 31 2,4,6,9,11 *", "* * 30-31 */12,2 0-7"))
def test_an_impossible_day_still_comes_by_its_weekday(text: str) -> None:
    either = " ".join([*text.split()[:4], "1"])
    assert CronExpression.parse(either).next(at("2026-03-01 00:00:00")) is not None


def test_the_instant_is_asked_in_any_zone_and_answered_in_utc() -> None:
    after = datetime(2026, 1, 15, 1, 30, tzinfo=timezone(timedelta(hours=2)))
    found = CronExpression.parse("0 0 * * *").next(after)
    assert at("2026-01-15 00:00:00") == found
    assert found is not None
    assert found.tzinfo is UTC


def test_a_naive_instant_is_refused() -> None:
    with pytest.raises(ValueError, match="has no zone"):
        CronExpression.parse("* * * * *").next(datetime(2026, 1, 15))  # noqa: DTZ001
    with pytest.raises(ValueError, match="has no zone"):
        CronExpression.parse("0 0 31 2 *").next(datetime(2026, 1, 15))  # noqa: DTZ001


def test_at_the_end_of_all_years_nothing_comes_any_more() -> None:
    assert ["9999-12-31 23:59"] == upcoming("* * * * *", "9999-12-31 23:58:30", 5)
    assert [] == upcoming("0 0 29 2 *", "9996-03-01 00:00:00", 5)


def test_no_instants_are_none() -> None:
    assert () == CronExpression.parse("* * * * *").upcoming(at("2026-01-15 00:00:00"), 0)


# --- against a reading by brute force ---------------------------------------------------------------------------------

RANGES = ((0, 59), (0, 23), (1, 31), (1, 12), (0, 7))


@dataclass(frozen=True)
class Written:
    """A field as somebody may write it, and the numbers that are meant."""

    text: str
    numbers: frozenset[int]

    @property
    def restricted(self) -> bool:
        return self.text != "*"


def fields(least: int, most: int) -> st.SearchStrategy[Written]:
    numbers = st.integers(least, most)
    steps = st.integers(1, most)
    ranges = st.tuples(numbers, numbers).map(sorted)
    elements = st.one_of(
        numbers.map(lambda n: (f"{n}", [n])),
        ranges.map(lambda r: (f"{r[0]}-{r[1]}", [*range(r[0], r[1] + 1)])),
        steps.map(lambda s: (f"*/{s}", [*range(least, most + 1, s)])),
        st.tuples(ranges, steps).map(lambda t: (f"{t[0][0]}-{t[0][1]}/{t[1]}", [*range(t[0][0], t[0][1] + 1, t[1])])),
        st.just(("*", [*range(least, most + 1)])),
    )
    lists = st.lists(elements, min_size=1, max_size=3)
    listed = lists.map(lambda some: Written(",".join(e[0] for e in some), frozenset(n for e in some for n in e[1])))
    return st.just(Written("*", frozenset(range(least, most + 1)))) | listed


expressions = st.tuples(*(fields(*bounds) for bounds in RANGES))


def by_brute_force(expression: tuple[Written, ...], after: datetime) -> Iterator[datetime]:
    """The instants by trying every day of nine years: semantics 2.7, word for word."""
    minute, hour, day, month, weekday = expression
    sundays_folded = {number % 7 for number in weekday.numbers}
    start = after.replace(hour=0, minute=0, second=0, microsecond=0)
    for date in (start + timedelta(days=n) for n in range(9 * 366)):
        if date.month not in month.numbers:
            continue
        fits_day, fits_weekday = date.day in day.numbers, date.isoweekday() % 7 in sundays_folded
        either = day.restricted and weekday.restricted
        if not ((fits_day or fits_weekday) if either else (fits_day and fits_weekday)):
            continue
        for h in sorted(hour.numbers):
            for m in sorted(minute.numbers):
                instant = date.replace(hour=h, minute=m)
                if instant > after:
                    yield instant


def first(instants: Iterator[datetime], count: int) -> list[datetime]:
    return [instant for instant, _ in zip(instants, range(count), strict=False)]


def plain(text: str) -> tuple[Written, ...]:
    """An expression of stars and numbers, as its written fields."""
    return tuple(
        Written(part, frozenset(range(least, most + 1)) if part == "*" else frozenset(map(int, part.split(","))))
        for part, (least, most) in zip(text.split(), RANGES, strict=True)
    )


@given(expressions, st.datetimes(datetime(1950, 1, 1), datetime(2200, 1, 1), timezones=st.just(UTC)))  # noqa: DTZ001
@example(plain("0 0 29 2 *"), at("2096-03-01 00:00:00"))
@example(plain("0 0 31 4,6 *"), at("2026-01-15 10:07:00"))
@example(plain("0 0 31 2 1"), at("2026-01-15 10:07:00"))
def test_the_instants_are_those_of_a_reading_by_brute_force(expression: tuple[Written, ...], after: datetime) -> None:
    text = " ".join(part.text for part in expression)
    read = CronExpression.parse(text)
    expected = first(by_brute_force(expression, after), 3)
    found = read.upcoming(after, 3)
    assert expected == list(found)[: len(expected)], text
    assert bool(expected) == bool(found), text
    assert read.next(after) == (expected[0] if expected else None), text
