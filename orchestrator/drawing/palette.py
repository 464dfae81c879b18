"""Every colour of a picture, light and dark; the style sheet made of them is `stylesheet`. No geometry.

A status is never told by colour alone: each has words and an icon, and its ink stands out from its fill by 4.5 to 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from orchestrator.core.graph import NodeKind


@dataclass(frozen=True, slots=True)
class Tone:
    """A fill, the line around it, and the ink that is written on it."""

    fill: str
    line: str
    ink: str


@dataclass(frozen=True, slots=True)
class Status:
    """How an execution status looks: its words, its icon (a path in a box of ten), and its colours."""

    words: str
    icon: str
    light: Tone
    dark: Tone


#: By execution status (semantics 1.13).
STATUSES: Final[Mapping[str, Status]] = MappingProxyType(
    {
        "Pending": Status(
            "Pending",
            "M5 1.2a3.8 3.8 0 1 0 .01 0Z",
            Tone("#eef2f7", "#8593a8", "#475569"),
            Tone("#1d2634", "#66758c", "#cbd5e1"),
        ),
        "Scheduled": Status(
            "Scheduled",
            "M3 1.6V8.4L8.4 5Z",
            Tone("#e3eeff", "#3b82f6", "#1d4ed8"),
            Tone("#14274a", "#4b8df8", "#a9cdfd"),
        ),
        "Waiting": Status(
            "Waiting",
            "M5 1.1a3.9 3.9 0 1 0 .01 0ZM5 2.9V5L6.5 6",
            Tone("#f3e9ff", "#a05ce6", "#6b21a8"),
            Tone("#2b1b45", "#a970ee", "#dcc2fd"),
        ),
        "RetryPending": Status(
            "Retry pending",
            "M8.6 5a3.6 3.6 0 1 1-1.1-2.6M7.9.7V2.6H6",
            Tone("#ffeedd", "#ea7317", "#9a3412"),
            Tone("#3a210f", "#f0842e", "#fdc08a"),
        ),
        "Succeeded": Status(
            "Succeeded",
            "M1.4 5.4 4 8 8.6 2.4",
            Tone("#e1f7e8", "#2f9e58", "#166534"),
            Tone("#11301f", "#35b566", "#8cedb0"),
        ),
        "Failed": Status(
            "Failed", "M2 2 8 8M8 2 2 8", Tone("#fee6e6", "#e5484d", "#b01c1c"), Tone("#3d1619", "#ee5a5f", "#fdb0b0")
        ),
        "Skipped": Status(
            "Skipped",
            "M1.4 2 4.6 5 1.4 8M5.4 2 8.6 5 5.4 8",
            Tone("#dcf6fa", "#1591ad", "#155e75"),
            Tone("#0d2f37", "#1fadc9", "#7fe6f7"),
        ),
        "Unreachable": Status(
            "Unreachable",
            "M1 5H3M7 5H9M4 8.4 6 1.6",
            Tone("#f6f8fa", "#b3bdca", "#5b6779"),
            Tone("#141a23", "#4a5568", "#9aa6b8"),
        ),
        "Cancelled": Status(
            "Cancelled",
            "M5 1.1a3.9 3.9 0 1 0 .01 0ZM2.3 7.7 7.7 2.3",
            Tone("#ebe8e5", "#958d86", "#514b46"),
            Tone("#2a2624", "#857c76", "#d9d4d0"),
        ),
        "ReconciliationRequired": Status(
            "Needs reconciliation",
            "M5 1 9.2 8.8H.8ZM5 4V6M5 7.4V7.5",
            Tone("#fff0b8", "#c98a04", "#713f12"),
            Tone("#3e2c05", "#e5a50a", "#fde08a"),
        ),
    }
)

#: For a status that is not in the table.
UNKNOWN_STATUS: Final = STATUSES["Pending"]

#: The tile behind the icon of each kind, light and dark; the line is not drawn.
KINDS: Final[Mapping[NodeKind, tuple[Tone, Tone]]] = MappingProxyType(
    {
        NodeKind.TRIGGER: (Tone("#ddf1fe", "#7cc4f0", "#0369a1"), Tone("#0b2c40", "#1d5f86", "#7dd0fb")),
        NodeKind.ACTION: (Tone("#e4e8ff", "#a5b0f5", "#4338ca"), Tone("#1f2350", "#4a51a8", "#b4bcfd")),
        NodeKind.DECISION: (Tone("#fdf0cc", "#e3b653", "#a14a07"), Tone("#38280a", "#7d5a16", "#fcd06b")),
        NodeKind.WAIT: (Tone("#ede6fe", "#b9a2ef", "#6527c7"), Tone("#281c4a", "#5b439c", "#c9b5fc")),
        NodeKind.APPROVAL: (Tone("#fde5f0", "#eea0c6", "#b3155a"), Tone("#3c1428", "#883059", "#f9b0d3")),
        NodeKind.FOR_EACH: (Tone("#d5f6ef", "#7ccfc1", "#0f6b63"), Tone("#0c302d", "#1f6d65", "#74e6d6")),
        NodeKind.JOIN: (Tone("#d5f6ef", "#7ccfc1", "#0f6b63"), Tone("#0c302d", "#1f6d65", "#74e6d6")),
    }
)

#: The rest of the picture, light and dark by name.
GROUND: Final[Mapping[str, tuple[str, str]]] = MappingProxyType(
    {
        "canvas": ("#fbfcfe", "#0d1117"),
        "card": ("#ffffff", "#171d27"),
        "line": ("#c3ccd8", "#394457"),
        "ink": ("#111a2b", "#e8edf5"),
        "soft": ("#566276", "#a3afc0"),
        "edge": ("#8c99ab", "#66748a"),
        "rest": ("#bcc6d3", "#465163"),
        "taken": ("#2563c9", "#79aefc"),
        "trouble": ("#b42a2f", "#fb9a9d"),
        "body": ("#effaf7", "#0f1f20"),
        "body-line": ("#a3d9cf", "#24504d"),
        "body-ink": ("#0f6b63", "#74d8ca"),
    }
)


def contrast(ink: str, ground: str) -> float:
    """The contrast ratio of two ``#rrggbb`` colours, 1 to 21, as WCAG counts it."""

    def luminance(colour: str) -> float:
        red, green, blue = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in (red, green, blue)]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    lighter, darker = sorted((luminance(ink), luminance(ground)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)
