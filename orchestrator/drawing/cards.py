"""What is written on a node: its title, a second line that says what it does, and how much room both need.

Reads configuration leniently: a picture is also drawn of a definition that would be refused.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final, assert_never

from orchestrator.core.durations import parse_duration
from orchestrator.core.graph import Node, NodeKind
from orchestrator.drawing.lettering import cut, mono_width, one_line, width

TITLE: Final = 13.0
SECOND: Final = 10.5
#: Left of the text stands the icon.
TEXT_LEFT: Final = 46
_TEXT_ROOM: Final = 168
_TEXT_LEAST: Final = 74
_RIGHT: Final = 14


@dataclass(frozen=True, slots=True)
class Card:
    """The two lines of a node, cut to fit; `mono` says that the second is a name rather than a phrase."""

    title: str
    second: str
    mono: bool
    width: int


def settings(node: Node) -> dict[str, Any]:
    """The configuration of a node; empty when it is not an object."""
    if node.configuration == "{}":
        return {}
    try:
        read = json.loads(node.configuration)
    except (ValueError, RecursionError):
        return {}
    return read if isinstance(read, dict) else {}


def card(node: Node) -> Card:
    """What is written on `node`."""
    title = cut(one_line(node.id) or "?", _TEXT_ROOM, size=TITLE)
    line, mono = second_line(node)
    measure = mono_width if mono else width
    line = cut(one_line(line), _TEXT_ROOM, size=SECOND, measure=measure)
    room = max(width(title, TITLE), measure(line, SECOND), _TEXT_LEAST)
    point = 6 if node.kind is NodeKind.DECISION else 0
    return Card(title, line, mono, (round(room) + TEXT_LEFT + _RIGHT + point + 3) // 4 * 4)


def second_line(node: Node) -> tuple[str, bool]:
    """What a node does, and whether that is the name of a capability."""
    if node.kind.performed and node.capability:
        return str(node.capability), True
    told = settings(node)
    match node.kind:
        case NodeKind.TRIGGER | NodeKind.ACTION | NodeKind.DECISION:
            return node.kind.value, False
        case NodeKind.WAIT:
            return _wait(told), False
        case NodeKind.APPROVAL:
            return "approval" + _within(told), False
        case NodeKind.FOR_EACH:
            source, of = told.get("itemsFrom"), told.get("itemsProperty")
            return (
                "for each of " + ".".join(part for part in (source, of) if isinstance(part, str))
                if source or of
                else "for each"
            ), False
        case NodeKind.JOIN:
            return _join(told), False
    assert_never(node.kind)


def at_a_time(node: Node) -> str:
    """How many branches of a forEach run together, as a phrase."""
    most = settings(node).get("maxParallelism")
    together = most if isinstance(most, int) and most > 1 else 1
    return f"{together} at a time" if together > 1 else "one at a time"


def _wait(told: dict[str, Any]) -> str:
    if told.get("kind") == "timer":
        after = told.get("after")
        return f"timer · {duration(after)}" if isinstance(after, str) else "timer"
    signal = told.get("signal")
    if isinstance(signal, dict) and isinstance(signal.get("id"), str):
        version = signal.get("version")
        return f"signal {signal['id']}" + (f"@{version}" if isinstance(version, int) else "")
    return (f"signal {signal}" if isinstance(signal, str) else "any signal") + _within(told)


def _within(told: dict[str, Any]) -> str:
    expires = told.get("expiresAfter")
    words = duration(expires) if isinstance(expires, str) else ""
    return f" · within {words}" if words and words != "0 s" else ""


def _join(told: dict[str, Any]) -> str:
    match told.get("mode", "all"):
        case "any":
            words = "any one"
        case "atLeast":
            words = f"at least {told.get('threshold', '?')}"
        case _:
            words = "all"
    return f"{words} of {told['forEach']}" if isinstance(told.get("forEach"), str) else words


def duration(text: str) -> str:
    """A stored duration in the words of a label: ``2.00:00:00`` is ``2 d``; what is none is left as it is."""
    try:
        length = parse_duration(text)
    except ValueError:
        return text
    minutes, seconds = divmod(abs(length).seconds, 60)
    hours, minutes = divmod(minutes, 60)
    precise = f"{seconds}.{abs(length).microseconds:06}".rstrip("0").rstrip(".")
    parts = ((str(abs(length).days), "d"), (str(hours), "h"), (str(minutes), "min"), (precise, "s"))
    words = " ".join(f"{amount} {unit}" for amount, unit in parts if amount != "0") or "0 s"
    return f"−{words}" if length < timedelta(0) else words
