"""Text is measured on the safe side, cut where it hurts least, and always fit for XML."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.drawing.lettering import ELLIPSIS, cut, mono_width, one_line, width
from tests.drawing.graphs import odd_text


@given(odd_text, st.floats(20, 300))
def test_cut_text_fits_and_uncut_text_is_whole(value: str, room: float) -> None:
    shown = cut(value, room, size=13)
    assert width(shown, 13) <= room
    assert shown == value or ELLIPSIS in shown


@given(odd_text)
def test_a_cut_text_keeps_its_ends(value: str) -> None:
    left, _, right = cut(value, 60, size=13).partition(ELLIPSIS)
    assert value.startswith(left)
    assert value.endswith(right) or ELLIPSIS in value


def test_a_mark_that_has_lost_its_letter_is_left_out() -> None:
    shown = cut("a" * 30 + "e\u0301" * 12, 100, size=13)
    assert not unicodedata.combining(shown.partition(ELLIPSIS)[2][0])


@pytest.mark.parametrize(("wide", "narrow"), (("漢", "k"), ("W", "i"), ("🙂", "n"), ("e\u0301x", "ex"[:1])))
def test_wide_characters_are_counted_as_wide(wide: str, narrow: str) -> None:
    assert width(wide, 10) > width(narrow, 10)
    assert mono_width("é漢", 10) >= mono_width("ab", 10)


def test_a_label_is_one_line() -> None:
    assert "a b c" == one_line(" a\n\tb\x00\x1bc ")
