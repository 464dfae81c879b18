"""A workflow as one self-contained SVG picture: no script, no font and no image from elsewhere.

Light and dark come from the viewer (``prefers-color-scheme``) or from a ``data-theme`` on the picture or around it.
Every node is ``<g id="node-N" data-node="…" data-state="…">``, N being its number in the definition: a page that
follows a run changes `data-state` and the colours follow. Where things stand is `layout`'s.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from orchestrator.core.graph import Definition, Edge, Graph, Node, NodeKind
from orchestrator.drawing.badges import counts, status_badge
from orchestrator.drawing.cards import TEXT_LEFT, at_a_time, second_line
from orchestrator.drawing.layout import lay_out
from orchestrator.drawing.lettering import attribute, cut, text
from orchestrator.drawing.overlay import NodeOverlay, Overlay
from orchestrator.drawing.picture import Box, Label, Layout, Region, Route
from orchestrator.drawing.ports import LABEL_HEIGHT, TROUBLE
from orchestrator.drawing.routes import HEAD
from orchestrator.drawing.shapes import icon, outline, tile
from orchestrator.drawing.stylesheet import STYLE

#: The `data-state` of a node that no run has reached, or of a picture without a run.
NO_STATE = "none"


def svg(definition: Definition, overlay: Overlay | None = None, *, layout: Layout | None = None) -> str:
    """The picture of a definition, with one run laid over it if there is one.

    A `layout` kept from `lay_out(definition.graph)` is not made again; it must be that of this very graph.
    """
    graph = definition.graph
    placed = layout or lay_out(graph)
    taken = overlay.taken if overlay else frozenset()
    passed = {(edge.source, edge.outlet) for edge in taken}
    name = f"{definition.workflow} version {definition.version}"
    run = " run" if overlay else ""
    size = f'width="{placed.width}" height="{placed.height}"'
    view = f'viewBox="0 0 {placed.width} {placed.height}"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="cel{run}" role="img" {size} {view}>',
        f"<title>{text(name)}</title><style>{STYLE}</style>",
        f'<rect class="canvas" {size}/>',
    ]
    parts += [_region(region, graph) for region in placed.regions]
    # What was taken is drawn last, so that it is never hidden where lines meet.
    ordered = sorted(placed.routes, key=lambda route: graph.edges[route.number] in taken) if taken else placed.routes
    parts += [_edge(route, graph, taken) for route in ordered]
    parts += [_label(label, graph, passed) for label in placed.labels]
    parts += [_node(box, graph.nodes[box.number], overlay) for box in placed.boxes]
    parts.append("</svg>")
    return "\n".join(parts)


def _region(region: Region, graph: Graph) -> str:
    words = cut(f"for each item · {at_a_time(graph.nodes[region.node])}", region.width, size=11)
    caption = f'<text class="caption" x="{region.x}" y="{region.y}">{text(words)}</text>'
    return f'<path class="body" d="{region.path}"/>{caption}'


def _edge(route: Route, graph: Graph, taken: AbstractSet[Edge]) -> str:
    edge = graph.edges[route.number]
    state = " taken" if edge in taken else ""
    undeclared = "" if edge.outlet in graph.node[edge.source].outlets else " undeclared"
    x, y = route.tip
    return (
        f'<g id="edge-{route.number}" data-from="{attribute(edge.source)}" data-outlet="{attribute(edge.outlet)}" '
        f'data-to="{attribute(edge.target)}"><path class="edge{state}{undeclared}" d="{route.path}"/>'
        f'<path class="head{state}" d="M{x} {y}L{x - HEAD - 1} {y - 4}V{y + 4}Z"/></g>'
    )


def _label(label: Label, graph: Graph, passed: AbstractSet[tuple[str, str]]) -> str:
    node = graph.nodes[label.node]
    tone = " taken" if (node.id, label.outlet) in passed else " trouble" if label.outlet in TROUBLE else ""
    undeclared = "" if label.declared else " undeclared"
    stub, half = "", LABEL_HEIGHT // 2
    if label.end is not None:
        stub = (
            f'<path class="edge" d="M{label.start} {label.y}H{label.end}"/>'
            f'<circle class="end" cx="{label.end}" cy="{label.y}" r="3"/>'
        )
    full = f"<title>{text(label.outlet)}</title>" if label.text != label.outlet else ""
    return (
        f'<g class="outlet{tone}{undeclared}">{full}{stub}<rect class="pill" x="{label.x}" y="{label.y - half}" '
        f'width="{label.width}" height="{LABEL_HEIGHT}" rx="{half}"/>'
        f'<text x="{label.x + label.width / 2:g}" y="{label.y + 3.5:g}">{text(label.text)}</text></g>'
    )


def _node(box: Box, node: Node, overlay: Overlay | None) -> str:
    shown = overlay.nodes.get(node.id) if overlay else None
    card = box.card
    middle = box.y + box.height // 2
    inset = 6 if node.kind is NodeKind.DECISION else 0
    left = box.x + inset
    name = " name" if card.mono else ""
    badges = status_badge(shown.status, box) + counts(shown, box) if shown else ""
    mark = f'<path class="icon" transform="translate({left + 16} {middle - 8})" d="{icon(node)}"/>'
    return (
        f'<g id="node-{box.number}" class="node {node.kind}" data-node="{attribute(node.id)}" '
        f'data-state="{attribute(shown.status if shown else NO_STATE)}"><title>{text(_told(node, shown))}</title>'
        f"{outline(node.kind, box)}{tile(node.kind, left + 24, middle)}{mark}"
        f'<text class="title" x="{left + TEXT_LEFT}" y="{middle - 3}">{text(card.title)}</text>'
        f'<text class="second{name}" x="{left + TEXT_LEFT}" y="{middle + 13}">{text(card.second)}</text>{badges}</g>'
    )


def _told(node: Node, shown: NodeOverlay | None) -> str:
    """Everything a node has to say, in full, for the tooltip and for those who do not see the picture."""
    line, _ = second_line(node)
    lines = [node.id, f"{node.kind}: {line}" if line != node.kind else str(node.kind)]
    if node.capability and not node.kind.performed:
        lines.append(str(node.capability))
    if shown:
        lines.append(f"{shown.status}, {_many(shown.visits, 'visit')}, {_many(shown.attempts, 'attempt')}")
        if shown.branches:
            lines.append("branches: " + ", ".join(f"{count} {status}" for status, count in shown.branches.items()))
    return "\n".join(lines)


def _many(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"
