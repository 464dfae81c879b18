"""Instants: one written form in UTC, and no instant without a zone."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.core.instants import format_instant, in_utc, parse_instant

NOON = datetime(2026, 1, 15, 12, tzinfo=UTC)

offsets = st.integers(-23 * 60, 23 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
aware = st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30), timezones=st.just(UTC) | offsets)  # noqa: DTZ001


@given(aware)
def test_what_is_written_is_read_back_in_utc(instant: datetime) -> None:
    read = parse_instant(format_instant(instant))
    assert instant == read
    assert read.tzinfo is UTC


@given(aware)
def test_the_same_instant_has_the_same_text_in_every_zone(instant: datetime) -> None:
    assert (
        format_instant(instant)
        == format_instant(instant.astimezone(UTC))
        == format_instant(parse_instant(instant.isoformat()))
    )


@pytest.mark.parametrize(
    ("instant", "text"),
    (
        (NOON, "2026-01-15T12:00:00Z"),
        (NOON.replace(microsecond=1), "2026-01-15T12:00:00.000001Z"),
        (NOON.replace(microsecond=500_000), "2026-01-15T12:00:00.500000Z"),
        (NOON.replace(tzinfo=ZoneInfo("UTC")), "2026-01-15T12:00:00Z"),
        (NOON.replace(tzinfo=ZoneInfo("Europe/Zurich")), "2026-01-15T11:00:00Z"),
        (datetime(1, 1, 1, tzinfo=UTC), "0001-01-01T00:00:00Z"),
        (datetime(2026, 10, 25, 2, 30, tzinfo=ZoneInfo("Europe/Zurich"), fold=1), "2026-10-25T01:30:00Z"),
    ),
)
def test_an_instant_has_one_written_form(instant: datetime, text: str) -> None:
    assert text == format_instant(instant)


@pytest.mark.parametrize(
    "text",
    (
        "2026-01-15T12:00:00Z",
        "2026-01-15 12:00:00Z",
        "2026-01-15T12:00:00.0Z",
        "2026-01-15T12:00:00.000000000Z",
        "2026-01-15T12:00:00+00:00",
        "2026-01-15T12:00:00-00:00",
        "2026-01-15T14:00:00+02:00",
        "2026-01-15T06:30:00-05:30",
    ),
)
def test_other_spellings_of_an_instant_are_read(text: str) -> None:
    assert NOON == parse_instant(text)
    assert parse_instant(text).tzinfo is UTC


@pytest.mark.parametrize("text", ("2026-01-15T12:00:00", "2026-01-15 12:00:00.5"))
def test_text_without_a_zone_is_refused_and_the_form_is_told(text: str) -> None:
    with pytest.raises(ValueError, match="has no zone; write it like 2026-01-15T10:07:00Z"):
        parse_instant(text)


@pytest.mark.parametrize(
    "text",
    (
        "", "now", "2026-01-15", "2026-01-15T12Z", "2026-01-15T12:00Z", "20260115T120000Z", "2026-W03-4T12:00:00Z",
        "2026-01-15x12:00:00Z", "2026-01-15T12:00:00z", "2026-01-15T12:00:00 Z", "2026-01-15T12:00:00Z\n",
        "2026-02-30T12:00:00Z", "2026-13-01T12:00:00Z", "0000-01-01T12:00:00Z", "2026-01-15T24:00:00Z",
        "2026-01-15T12:60:00Z",
        "2026-01-15T12:00:60Z",
        "2026-01-15T12:00:00.Z", "2026-01-15T12:00:00,5Z", "2026-01-15T12:00:00.1234567Z", "2026-01-15T12:00:00+24:00",
        "2026-01-15T12:00:00+0200", "2026-01-15T12:00:00+02:00:30", "2026-01-15T12:00:00Europe/Zurich",
        "\u0662\u0660\u0662\u0666-01-15T12:00:00Z", "-2026-01-15T12:00:00Z", "1768478400",
    ),
)  # fmt: skip
def test_anything_else_is_refused_and_the_form_is_told(text: str) -> None:
    with pytest.raises(ValueError, match=r"is not an instant.*; write it like 2026-01-15T10:07:00Z"):
        parse_instant(text)


@pytest.mark.parametrize("function", (format_instant, in_utc))
def test_a_naive_datetime_is_no_instant(function: object) -> None:
    assert callable(function)
    with pytest.raises(ValueError, match="has no zone; pass an aware one"):
        function(NOON.replace(tzinfo=None))


def test_an_instant_beyond_the_years_of_a_datetime_is_refused() -> None:
    with pytest.raises(ValueError, match="is beyond the years 1 to 9999 in UTC"):
        parse_instant("0001-01-01T00:00:00+01:00")
    with pytest.raises(ValueError, match="is beyond the years 1 to 9999 in UTC"):
        format_instant(datetime.max.replace(tzinfo=timezone(timedelta(hours=-1))))


@given(st.text())
def test_any_text_is_read_or_refused_with_the_form(text: str) -> None:
    with pytest.raises(ValueError, match="; write it like "):
        parse_instant(text)
