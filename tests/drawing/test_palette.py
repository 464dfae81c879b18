"""The colours can be read, in light and in dark, and none is missing."""

from __future__ import annotations

import itertools
import re

import pytest

from orchestrator.core.graph import NodeKind
from orchestrator.core.state import ExecutionStatus
from orchestrator.drawing.palette import GROUND, KINDS, STATUSES, contrast
from orchestrator.drawing.stylesheet import STYLE

#: What WCAG asks of text, and of marks that carry a meaning.
TEXT, MARK = 4.5, 3.0
THEMES = ("light", "dark")


def ground(name: str, theme: str) -> str:
    return GROUND[name][THEMES.index(theme)]


def test_the_contrast_is_that_of_the_standard() -> None:
    assert 21 == round(contrast("#000000", "#ffffff"), 2)
    assert 1 == contrast("#123456", "#123456")
    assert 4.54 == round(contrast("#767676", "#ffffff"), 2)


def test_every_status_and_every_kind_has_a_look() -> None:
    assert set(ExecutionStatus) == set(STATUSES)
    assert set(NodeKind) == set(KINDS)


def test_no_two_statuses_have_the_same_words_or_icon() -> None:
    for a, b in itertools.combinations(STATUSES.values(), 2):
        assert a.words != b.words
        assert a.icon != b.icon


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("status", STATUSES)
def test_the_text_of_a_status_can_be_read(status: str, theme: str) -> None:
    look = STATUSES[status]
    tone = look.dark if theme == "dark" else look.light
    assert contrast(tone.ink, tone.fill) >= TEXT
    assert contrast(ground("ink", theme), tone.fill) >= TEXT
    assert contrast(ground("soft", theme), tone.fill) >= TEXT
    assert contrast(tone.ink, ground("card", theme)) >= MARK


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize(
    ("ink", "on"),
    (
        ("ink", "card"),
        ("soft", "card"),
        ("soft", "canvas"),
        ("taken", "canvas"),
        ("trouble", "canvas"),
        ("body-ink", "body"),
    ),
)
def test_the_text_of_a_picture_can_be_read(ink: str, on: str, theme: str) -> None:
    assert contrast(ground(ink, theme), ground(on, theme)) >= TEXT


@pytest.mark.parametrize("kind", KINDS)
def test_the_icon_of_a_kind_stands_out_from_its_tile(kind: NodeKind) -> None:
    assert all(contrast(tone.ink, tone.fill) >= MARK for tone in KINDS[kind])


def test_every_variable_that_is_used_is_set_in_light_and_in_dark() -> None:
    used = set(re.findall(r"var\((--[\w-]+)\)", STYLE))
    light, dark = (re.findall(rf"\[data-theme={theme}\]\{{[^}}]*\}}", STYLE)[0] for theme in THEMES)
    assert used == set(re.findall(r"(--[\w-]+):", light))
    assert used == set(re.findall(r"(--[\w-]+):", dark))


def test_every_rule_stays_inside_the_picture() -> None:
    selectors = re.findall(r"(?:^|[{}])([^{}@]+)\{", STYLE)
    for selector in ",".join(selectors).split(","):
        assert ".cel" in selector or selector.strip() == "50%", selector
