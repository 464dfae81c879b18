"""What is written on a node, of sound and of broken configurations."""

from __future__ import annotations

import json
from typing import Any

import pytest

from orchestrator.core.graph import Capability, Node, NodeKind
from orchestrator.drawing.cards import at_a_time, card, duration, second_line


def written(kind: NodeKind, configuration: Any) -> str:
    """The second line of a node of this kind."""
    return second_line(Node("x", kind, (), None, json.dumps(configuration)))[0]


@pytest.mark.parametrize(
    ("kind", "configuration", "expected"),
    (
        (NodeKind.TRIGGER, {}, "trigger"),
        (NodeKind.WAIT, {"kind": "timer", "after": "1.02:30:00"}, "timer · 1 d 2 h 30 min"),
        (NodeKind.WAIT, {"kind": "timer"}, "timer"),
        (NodeKind.WAIT, {"signal": {"id": "paid", "version": 2}}, "signal paid@2"),
        (NodeKind.WAIT, {"expiresAfter": "01:00:00"}, "any signal · within 1 h"),
        (NodeKind.WAIT, {"expiresAfter": "00:00:00"}, "any signal"),
        (NodeKind.APPROVAL, {"expiresAfter": "PT90S"}, "approval · within 1 min 30 s"),
        (NodeKind.FOR_EACH, {"itemsFrom": "load", "itemsProperty": "lines"}, "for each of load.lines"),
        (NodeKind.FOR_EACH, {"itemsFrom": 5}, "for each of "),
        (NodeKind.JOIN, {"forEach": "fan", "mode": "any"}, "any one of fan"),
        (NodeKind.JOIN, {"forEach": "fan", "mode": "atLeast", "threshold": 3}, "at least 3 of fan"),
        (NodeKind.JOIN, ["not", "an", "object"], "all"),
    ),
)
def test_the_second_line_says_what_the_engine_does(kind: NodeKind, configuration: Any, expected: str) -> None:
    assert expected.strip() == written(kind, configuration).strip()


def test_the_second_line_of_performed_nodes_is_their_capability() -> None:
    assert ("orders.ship@3", True) == second_line(Node("x", NodeKind.ACTION, (), Capability("orders.ship", 3)))
    assert ("timer", False) == second_line(Node("x", NodeKind.WAIT, (), Capability("a", 3), '{"kind":"timer"}'))


@pytest.mark.parametrize(
    ("text", "expected"),
    (
        ("00:00:00", "0 s"),
        ("00:00:00.25", "0.25 s"),
        ("00:00:05.5", "5.5 s"),
        ("-00:01:00", "−1 min"),
        ("soon", "soon"),
    ),
)
def test_a_duration_is_told_in_short_words(text: str, expected: str) -> None:
    assert expected == duration(text)


def test_branches_run_one_at_a_time_unless_told_otherwise() -> None:
    assert "one at a time" == at_a_time(Node("x", NodeKind.FOR_EACH, ()))
    assert "one at a time" == at_a_time(Node("x", NodeKind.FOR_EACH, (), None, '{"maxParallelism":-3}'))
    assert "7 at a time" == at_a_time(Node("x", NodeKind.FOR_EACH, (), None, '{"maxParallelism":7}'))


def test_a_card_is_no_wider_than_its_cut_text_needs() -> None:
    wide, narrow = (card(Node(id, NodeKind.ACTION, ())) for id in ("x" * 500, "x"))
    assert narrow.width < wide.width < 240
