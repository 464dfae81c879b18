"""Where links leave a node: one port an outlet on its right side, ordered so that links do not cross on the way out.

An outlet's name is written beside its port, so that names never meet each other or a node.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from orchestrator.core.graph import Outlet
from orchestrator.drawing.lettering import cut, one_line, width

#: The outlets of what went wrong or came to nothing: no main road.
TROUBLE: Final = frozenset(
    {Outlet.FAILED, Outlet.FALLBACK, Outlet.EXPIRED, Outlet.REJECTED, Outlet.CANCELLED, Outlet.PARTIAL}
)

#: Ports stand this far apart: the height of a label and a little air.
STEP: Final = 20
LABEL_SIZE: Final = 10.5
LABEL_HEIGHT: Final = 16
#: From the node to its label, and what a label keeps free around its text.
LABEL_GAP: Final = 9
LABEL_PAD: Final = 12
_LABEL_ROOM: Final = 110
#: A node is at least this high above and below its middle.
HALF: Final = 28


@dataclass(frozen=True, slots=True)
class Port:
    """An outlet of a node: how far from its middle it stands and what is written beside it."""

    outlet: str
    offset: int
    text: str
    width: int
    declared: bool
    connected: bool


@dataclass(frozen=True, slots=True)
class Exit:
    """An outlet before it has a place: where its links lead (None when nowhere ahead), and whether some lead back."""

    outlet: str
    ahead: float | None
    back: bool
    declared: bool


def spread(exits: Sequence[Exit]) -> tuple[Port, ...]:
    """The ports of a node from top to bottom; the first outlet its author named stands in the middle where it can.

    Links ahead are sorted by where they lead, ends stand around them, loops leave at the bottom, where they turn back.
    """
    if not exits:
        return ()
    ahead = sorted([exit_ for exit_ in exits if exit_.ahead is not None], key=lambda exit_: exit_.ahead or 0.0)
    back = [exit_ for exit_ in exits if exit_.ahead is None and exit_.back]
    ends = [exit_ for exit_ in exits if exit_.ahead is None and not exit_.back]
    main = exits[0]
    row = [*ahead, *back] or ends[:1]
    for end in ends if ahead or back else ends[1:]:
        at = row.index(main) if main in row else len(ahead) // 2
        row = (
            [end, *row] if at < len(row) - 1 - at else [*row[: len(row) - len(back)], end, *row[len(row) - len(back) :]]
        )
    middle = (len(row) - 1) // 2
    if len(row) % 2 == 0 and row[middle + 1] in (main, ahead[len(ahead) // 2] if len(ahead) > 2 else main):
        middle += 1
    return tuple([_port(exit_, (index - middle) * STEP) for index, exit_ in enumerate(row)])


def _port(exit_: Exit, offset: int) -> Port:
    text = cut(one_line(exit_.outlet) or "?", _LABEL_ROOM, size=LABEL_SIZE)
    room = round(width(text, LABEL_SIZE)) + LABEL_PAD
    return Port(exit_.outlet, offset, text, room, exit_.declared, exit_.ahead is not None or exit_.back)


def half_height(ports: Sequence[Port]) -> int:
    """How far a node reaches above and below its middle to hold its ports."""
    return max([HALF, *[abs(port.offset) + LABEL_HEIGHT // 2 for port in ports]])
