"""What the demo shows fits eighty columns, works without a terminal and without colours, and is steered by no data."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from rich.console import Console, RenderableType

from orchestrator.cli.demo_screen import (
    LineScreen,
    LiveScreen,
    Rate,
    decisions_text,
    ending,
    inbox_table,
    orders_table,
    screen_for,
    summary_text,
    timeline,
)
from orchestrator.flagship.dataset import Order
from orchestrator.flagship.demo import Decided, Progress, Request
from orchestrator.flagship.tally import Stage, Story, Summary
from orchestrator.telling import Told, Tone

NOW = datetime(2026, 1, 15, 10, 0, tzinfo=UTC)
ORDER = Order("11008", "ERNSH", "Ernst Handel", "Federal Shipping", "Graz, Austria", shipped=False, lines=())
LONG = replace(ORDER, customer="A customer with a name that is longer than any table of ours is wide, and more")
MISSING = (("28", "70 Rössle Sauerkraut ordered, 26 in stock"),)
STORY = Story(
    order=ORDER,
    run_id="r1",
    stage=Stage.DONE,
    lines=3,
    shipped=2,
    not_shipped=1,
    attempts=5,
    join="partial",
    decision="approved",
    missing=MISSING,
    problem=None,
)
REQUEST = Request("w1", ORDER, "r1", MISSING, NOW, NOW + timedelta(days=2))


def progress(stages: Mapping[Stage, int], *, attempts: int = 0) -> Progress:
    """A moment of a performance."""
    return Progress(
        orders=8,
        stages=stages,
        lines=21,
        shipped=17,
        not_shipped=4,
        attempts=attempts,
        gathered=False,
        over=False,
        only_people=False,
    )


def shown(thing: RenderableType, *, width: int = 80) -> list[str]:
    """The lines that a plain console of this width prints."""
    console = Console(file=io.StringIO(), width=width, markup=False, highlight=False)
    console.print(thing)
    assert isinstance(console.file, io.StringIO)
    return [line.rstrip() for line in console.file.getvalue().splitlines()]


def test_the_table_of_orders_says_what_happened_to_each() -> None:
    lines = shown(orders_table([STORY], {"r1": "anna"}))
    assert "order  customer" == " ".join(lines[1].split(" ")[:3])
    assert ["11008", "Ernst Handel", "3", "2", "1", "approved, rest follows", "anna"] == [
        cell for cell in (part.strip() for part in lines[2].split("  ")) if cell
    ]


@pytest.mark.parametrize(
    ("changed", "words"),
    (
        ({}, "approved, rest follows"),
        ({"decision": "rejected"}, "rejected, rest struck off"),
        ({"decision": "expired"}, "expired, rest struck off"),
        ({"decision": None, "join": "completed"}, "shipped and picked up"),
        ({"stage": Stage.REVIEW, "decision": None}, "something is missing, a person decides"),
        ({"stage": Stage.PICK_UP, "join": "completed"}, "all shipped, waits for the carrier"),
        ({"stage": Stage.FAILED, "problem": "load-lines: Error, no"}, "failed: load-lines: Error, no"),
    ),
)
def test_the_end_of_an_order_is_told_in_a_few_words(changed: dict[str, object], words: str) -> None:
    assert words == ending(replace(STORY, **changed))  # type: ignore[arg-type]


def test_the_inbox_says_what_is_missing_and_until_when() -> None:
    text = " ".join(" ".join(shown(inbox_table([REQUEST]))).split())
    assert "11008 Ernst Handel 70 Rössle Sauerkraut ordered, 26 in stock 2026-01-17 10:00" in text
    assert "for ever" in " ".join(shown(inbox_table([replace(REQUEST, deadline=None)])))


def test_decisions_are_gathered_by_who_made_them() -> None:
    other = replace(REQUEST, order=replace(ORDER, id="11011"))
    decided = (
        Decided(REQUEST, "anna", "approved"),
        Decided(REQUEST, "ben", "rejected"),
        Decided(other, "anna", "approved"),
    )
    assert ["anna approved 11008, 11011", "ben rejected 11008"] == [
        line for line in shown(decisions_text(decided)) if line
    ]


def test_a_timeline_leaves_the_asides_out() -> None:
    told = [
        Told(1, NOW, timedelta(0), "WorkflowRunAdmitted", Tone.PLAIN, "it starts"),
        Told(2, NOW, timedelta(milliseconds=50), "WorkflowNodeInputPinned", Tone.ASIDE, "its input is pinned"),
        Told(3, NOW, timedelta(seconds=1.25), "WorkflowRunSucceeded", Tone.GOOD, "the run succeeded"),
    ]
    assert ["As told", "+0.00 s  it starts", "+1.25 s  the run succeeded"] == shown(timeline("As told", told))


def test_the_summary_says_every_number() -> None:
    summary = Summary(
        21, 73, 56, 17, completed=10, partial=11, approved=6, rejected=4, waiting=1, failed=2, seconds=4.26
    )
    assert [
        "21 orders, 73 lines: 56 shipped, 17 not",
        "10 complete, 11 for a person: 6 approved, 4 rejected, 1 open; 2 failed",
        "4.3 s",
    ] == shown(summary_text(summary))


@pytest.mark.parametrize("width", (80, 60, 200))
def test_nothing_is_wider_than_the_screen(width: int) -> None:
    story = replace(STORY, order=LONG, stage=Stage.FAILED, problem="x" * 300)
    request = replace(REQUEST, order=LONG, missing=(("1", "y" * 200),))
    told = [Told(1, NOW, timedelta(days=2), "X", Tone.BAD, "z " * 200)]
    for thing in (orders_table([story], {"r1": "somebody@example.org"}), inbox_table([request]), timeline("T", told)):
        assert width >= max(map(len, shown(thing, width=width)))


def test_what_the_data_say_steers_no_terminal_and_is_no_markup() -> None:
    story = replace(STORY, order=replace(ORDER, customer="\x1b[31m[bold]\nX"))
    text = "\n".join(shown(orders_table([story], {}), width=120))
    assert "\x1b" not in text
    assert "[31m[bold] X" in text


def test_without_a_terminal_progress_is_lines_that_say_something_new() -> None:
    file = io.StringIO()
    with LineScreen(Console(file=file, width=80)) as screen:
        screen.show(progress({Stage.LOADING: 8}), 0.1)
        screen.show(progress({Stage.LOADING: 8}), 1.0)
        screen.show(progress({Stage.PICK_UP: 5, Stage.REVIEW: 3}, attempts=30), 1.1)
        screen.show(progress({Stage.PICK_UP: 5, Stage.REVIEW: 3}, attempts=30), 2.2)
        screen.show(progress({Stage.DONE: 8}, attempts=37), 2.5)
    assert [
        "  0.1 s  loading 8 · 17 of 21 lines shipped, 4 not · 0 attempts",
        "  2.2 s  pick-up 5 · review 3 · 17 of 21 lines shipped, 4 not · 30 attempts (14/s)",
        "  2.5 s  done 8 · 17 of 21 lines shipped, 4 not · 37 attempts (23/s)",
    ] == file.getvalue().splitlines()


def test_on_a_terminal_progress_is_one_picture_that_fits() -> None:
    file = io.StringIO()
    with LiveScreen(Console(file=file, width=80, force_terminal=True, color_system=None)) as screen:
        screen.show(progress({Stage.PICK_UP: 5, Stage.REVIEW: 3}, attempts=30), 1.1)
    lines = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", file.getvalue()).splitlines()
    assert any("review" in line and " 3 " in line for line in lines)
    assert any("of 21: 17 shipped, 4 not" in line for line in lines)
    assert 80 >= max(map(len, lines))


def test_the_screen_fits_where_it_writes_to(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    assert isinstance(screen_for(Console(file=io.StringIO(), force_terminal=True)), LiveScreen)
    assert isinstance(screen_for(Console(file=io.StringIO(), force_terminal=False)), LineScreen)
    monkeypatch.setenv("TERM", "dumb")
    assert isinstance(screen_for(Console(file=io.StringIO(), force_terminal=True)), LineScreen)


def test_the_rate_is_that_of_the_last_moment() -> None:
    rate = Rate(window=1.0)
    assert [0.0, 100.0, 100.0, 0.0] == [rate.of(0, 0.0), rate.of(50, 0.5), rate.of(100, 1.0), rate.of(100, 9.0)]
