"""What a run pins on a node: its status above, and below how often it was visited, tried and branched."""

from __future__ import annotations

from typing import Final

from orchestrator.drawing.lettering import cut, one_line, text, width
from orchestrator.drawing.overlay import NodeOverlay
from orchestrator.drawing.palette import STATUSES, UNKNOWN_STATUS
from orchestrator.drawing.picture import Box

_SIZE: Final = 10.0
_HEIGHT: Final = 17
_MARK: Final = 13
_PAD: Final = 7
_GAP: Final = 3
#: Which branch counts are shown first when not all fit.
_WORTH: Final = (
    "ReconciliationRequired",
    "Failed",
    "Succeeded",
    "Scheduled",
    "Waiting",
    "RetryPending",
    "Pending",
    "Skipped",
    "Cancelled",
    "Unreachable",
)


def status_badge(status: str, box: Box) -> str:
    """The status of a node on its upper edge, in words and as an icon."""
    look = STATUSES.get(status, UNKNOWN_STATUS)
    room = box.width - 20 - _MARK - 2 * _PAD
    words = cut(look.words if status in STATUSES else one_line(status) or "?", room, size=_SIZE)
    wide = _wide(words, mark=status in STATUSES)
    return _badge(words, status, x=box.x + box.width - 10 - wide, y=box.y, wide=wide)


def counts(shown: NodeOverlay, box: Box) -> str:
    """The counts of a node on its lower edge, in words where they fit, else in signs; the tooltip holds all."""
    room = box.width - 16
    long, short = _entries(shown, spoken=True), _entries(shown, spoken=False)
    entries = fitting = long if _length(long) <= room else short
    told = len(entries)
    while told > 1 and _length(fitting) > room:
        told -= 1
        fitting = [*entries[:told], (f"+{len(entries) - told}", "")]
    badges, x = "", box.x + 8
    for words, status in fitting:
        wide = _wide(words, mark=status in STATUSES)
        badges += _badge(words, status, x=x, y=box.y + box.height, wide=wide)
        x += wide + _GAP
    return badges


def _entries(shown: NodeOverlay, *, spoken: bool) -> list[tuple[str, str]]:
    """(words, status or nothing) of every badge below a node."""
    entries = []
    if shown.visits > 1:
        entries.append((f"{shown.visits} visits" if spoken else f"{shown.visits}×", ""))
    if shown.attempts > 1:
        entries.append((f"{shown.attempts} attempts" if spoken else f"↻ {shown.attempts}", ""))
    known = sorted((status for status in STATUSES if shown.branches.get(status)), key=_WORTH.index)
    others = sorted(status for status in shown.branches if status not in STATUSES and shown.branches[status])
    return entries + [(str(shown.branches[status]), status) for status in (*known, *others)]


def _length(entries: list[tuple[str, str]]) -> int:
    return sum(_wide(words, mark=status in STATUSES) + _GAP for words, status in entries) - _GAP


def _wide(words: str, *, mark: bool) -> int:
    return round(width(words, _SIZE)) + (_MARK if mark else 0) + 2 * _PAD


def _badge(words: str, status: str, *, x: int, y: int, wide: int) -> str:
    look = STATUSES.get(status)
    mark = f'<path class="mark" transform="translate({x + _PAD - 1} {y - 5})" d="{look.icon}"/>' if look else ""
    at = x + _PAD + (_MARK if look else 0)
    return (
        f'<g class="badge b-{status if look else "count"}"><rect x="{x}" y="{y - _HEIGHT / 2:g}" width="{wide}" '
        f'height="{_HEIGHT}" rx="{_HEIGHT / 2:g}"/>{mark}<text x="{at}" y="{y + 3.5:g}">{text(words)}</text></g>'
    )
