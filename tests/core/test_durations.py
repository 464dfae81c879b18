"""Durations: the form that is written, the forms that are read, and what is refused."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.core.durations import format_duration, parse_duration


@given(st.timedeltas())
def test_what_is_written_is_read_back(duration: timedelta) -> None:
    assert duration == parse_duration(format_duration(duration))


@pytest.mark.parametrize(
    ("duration", "text"),
    (
        (timedelta(0), "00:00:00"),
        (timedelta(seconds=30), "00:00:30"),
        (timedelta(minutes=10), "00:10:00"),
        (timedelta(hours=23, minutes=59, seconds=59), "23:59:59"),
        (timedelta(days=2), "2.00:00:00"),
        (timedelta(days=14, hours=1), "14.01:00:00"),
        (timedelta(milliseconds=250), "00:00:00.25"),
        (timedelta(microseconds=1), "00:00:00.000001"),
        (timedelta(seconds=-30), "-00:00:30"),
        (timedelta(days=-1, microseconds=-1), "-1.00:00:00.000001"),
        (timedelta.max, "999999999.23:59:59.999999"),
        (timedelta.min, "-999999999.00:00:00"),
    ),
)
def test_a_duration_has_one_written_form(duration: timedelta, text: str) -> None:
    assert text == format_duration(duration)
    assert duration == parse_duration(text)


@pytest.mark.parametrize(
    ("text", "duration"),
    (
        ("0.00:00:30", timedelta(seconds=30)),
        ("007.00:00:00", timedelta(days=7)),
        ("00:00:01.5", timedelta(seconds=1.5)),
        ("00:00:01.500000000", timedelta(seconds=1.5)),
        ("-00:00:00", timedelta(0)),
        ("P1DT2H3M4.5S", timedelta(days=1, hours=2, minutes=3, seconds=4.5)),
        ("P2W", timedelta(weeks=2)),
        ("P3D", timedelta(days=3)),
        ("PT90M", timedelta(minutes=90)),
        ("PT36H", timedelta(hours=36)),
        ("PT0.000001S", timedelta(microseconds=1)),
        ("PT0S", timedelta(0)),
        ("P1DT1S", timedelta(days=1, seconds=1)),
        ("-PT5M", timedelta(minutes=-5)),
        pytest.param("0" * 5_000 + "1.00:00:00", timedelta(days=1), id="5,000 zeros"),
    ),
)
def test_other_spellings_are_read(text: str, duration: timedelta) -> None:
    assert duration == parse_duration(text)


@pytest.mark.parametrize(
    "text",
    (
        "", " ", "30", "00:30", "1:2:3", "24:00:00", "00:60:00", "00:00:60", "00:00:00.", ".00:00:00", "1,00:00:00",
        "1.5.00:00:00", "+00:00:30", "--00:00:30", " 00:00:30", "00:00:30\n", "00:00:30Z", "\u0660\u0660:00:30",
        "00:00:0\uff11", "P", "PT", "P1DT", "-P", "P1", "P1D2H", "PT1M2H", "P1W2D", "PT1.5H", "P1.5D", "P-1D", "p1d",
        "PT1s",
        "PT1,5S", "PT.5S", "1D", "30s", "ten minutes",
    ),
)  # fmt: skip
def test_anything_else_is_refused_and_the_forms_are_told(text: str) -> None:
    with pytest.raises(ValueError, match=r"is not a duration; write \[days\.\]hh:mm:ss"):
        parse_duration(text)


@pytest.mark.parametrize("text", ("P1Y", "P1M", "P1Y2M3DT4H", "P1Y2DT3H", "-P1M", "P0.5Y"))
def test_years_and_months_are_refused_because_they_have_no_fixed_length(text: str) -> None:
    with pytest.raises(ValueError, match="has years or months, which have no fixed length; write "):
        parse_duration(text)


@pytest.mark.parametrize(
    "text", ("00:00:00.0000001", "PT0.1234567S", pytest.param("00:00:00." + "1" * 5_000, id="5,000 digits"))
)
def test_a_fraction_finer_than_a_microsecond_is_refused_rather_than_rounded(text: str) -> None:
    with pytest.raises(ValueError, match="is finer than a microsecond; write "):
        parse_duration(text)


@pytest.mark.parametrize(
    "text",
    (
        "1000000000.00:00:00",
        "-999999999.00:00:00.000001",
        pytest.param("9" * 5_000 + ".00:00:00", id="5,000 digits of days"),
        pytest.param("PT" + "9" * 5_000 + "S", id="5,000 digits of seconds"),
        "PT86400000000000S",
        "P1" + "0" * 18 + "W",
    ),
)
def test_a_duration_too_long_to_count_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is longer than 999,999,999 days; write "):
        parse_duration(text)


@given(st.text())
def test_any_text_is_read_or_refused_with_the_forms(text: str) -> None:
    try:
        duration = parse_duration(text)
    except ValueError as problem:
        assert "; write [days.]hh:mm:ss" in str(problem)  # noqa: PT017
        return
    assert duration == parse_duration(format_duration(duration))


@given(
    days=st.integers(0, 10_000), hours=st.integers(0, 99), minutes=st.integers(0, 999), micros=st.integers(0, 999_999)
)
def test_iso_parts_add_up(days: int, hours: int, minutes: int, micros: int) -> None:
    text = f"P{days}DT{hours}H{minutes}M0.{micros:06}S"
    assert timedelta(days=days, hours=hours, minutes=minutes, microseconds=micros) == parse_duration(text)
