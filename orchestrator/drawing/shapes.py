"""The shape and the icon of every node kind, as pieces of SVG."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, assert_never

from orchestrator.core.graph import Node, NodeKind
from orchestrator.drawing.cards import settings
from orchestrator.drawing.picture import Box
from orchestrator.drawing.routes import POINT

#: Icons are strokes in a box of sixteen.
ICONS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "trigger": "M9 1.8 3.6 9H7.8L7 14.2 12.4 7H8.2Z",
        "action": "M3 4.5 6.5 8 3 11.5M8.5 11.8H13",
        "decision": "M1.8 8H5.2L9 4.2H13.5M5.2 8 9 11.8H13.5M11.5 2.2 13.6 4.2 11.5 6.2M11.5 9.8 13.6 11.8 11.5 13.8",
        "timer": "M8 1.9a6.1 6.1 0 1 0 .01 0ZM8 4.6V8L10.4 9.6",
        "signal": "M8 7.9V8.1M5.4 5.2a4 4 0 0 0 0 5.6M10.6 5.2a4 4 0 0 1 0 5.6"
        "M3.2 2.9a7.2 7.2 0 0 0 0 10.2M12.8 2.9a7.2 7.2 0 0 1 0 10.2",
        "approval": "M8 2.2a2.8 2.8 0 1 0 .01 0ZM2.8 13.9C3.2 10.9 5.2 9.6 8 9.6S12.8 10.9 13.2 13.9",
        "forEach": "M1.8 8H5C8 8 6.6 3.4 10 3.4H13.6M5 8H13.6M5 8C8 8 6.6 12.6 10 12.6H13.6",
        "join": "M14.2 8H11C8 8 9.4 3.4 6 3.4H2.4M11 8H2.4M11 8C8 8 9.4 12.6 6 12.6H2.4",
    }
)


def icon(node: Node) -> str:
    """The icon of a node."""
    if node.kind is NodeKind.WAIT:
        return ICONS["timer" if settings(node).get("kind") == "timer" else "signal"]
    return ICONS[node.kind.value]


def tile(kind: NodeKind, x: int, y: int) -> str:
    """What stands behind an icon: round for what happens to a run, square for what is done."""
    round_ = kind in (NodeKind.TRIGGER, NodeKind.WAIT, NodeKind.APPROVAL)
    return f'<rect class="tile" x="{x - 14}" y="{y - 14}" width="28" height="28" rx="{14 if round_ else 7}"/>'


def outline(kind: NodeKind, box: Box) -> str:
    """The shape of a node."""
    x, y, width, height = box.x, box.y, box.width, box.height
    match kind:
        case NodeKind.TRIGGER:
            return _rectangle(box, 28)
        case NodeKind.ACTION | NodeKind.WAIT | NodeKind.APPROVAL:
            return _rectangle(box, 10)
        case NodeKind.DECISION:
            left, right, middle = x + POINT, x + width - POINT, y + height // 2
            return (
                f'<path class="box" stroke-linejoin="round" '
                f'd="M{left} {y}H{right}L{x + width} {middle}L{right} {y + height}H{left}L{x} {middle}Z"/>'
            )
        case NodeKind.FOR_EACH | NodeKind.JOIN:
            sheets = "".join(
                f'<rect class="sheet" x="{x + inset}" y="{y - inset * 2 // 3}" width="{width - 2 * inset}" '
                f'height="{height // 2}" rx="8"/>'
                for inset in (12, 6)
            )
            return sheets + _rectangle(box, 10)
    assert_never(kind)


def _rectangle(box: Box, radius: int) -> str:
    return f'<rect class="box" x="{box.x}" y="{box.y}" width="{box.width}" height="{box.height}" rx="{radius}"/>'
