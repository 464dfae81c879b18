"""Where everything of a workflow's picture goes: a layered drawing from left to right, the same for the same graph.

`lay_out` knows the graph and nothing of runs, so that one layout serves every run of a definition. Each connected part
goes through `plan` and `routes`; how the result is drawn is `svg`'s concern.
"""

from __future__ import annotations

from typing import Final

from orchestrator.core.graph import Graph
from orchestrator.drawing.bodies import bodies
from orchestrator.drawing.cards import card
from orchestrator.drawing.layers import components
from orchestrator.drawing.parts import Part, Plan, Tie
from orchestrator.drawing.picture import Box, Label, Layout, Region, Route
from orchestrator.drawing.plan import plan
from orchestrator.drawing.regions import regions
from orchestrator.drawing.routes import boxes, labels, routes

MARGIN: Final = 28
_BETWEEN: Final = 36


def lay_out(graph: Graph) -> Layout:
    """The layout of any graph, admitted or not: every node stands somewhere, every edge between nodes has a line.

    An edge that names no node has none; of nodes with one id the first has the edges.
    """
    number = {node.id: index for index, node in reversed(list(enumerate(graph.nodes)))}
    edges = [
        (index, number[edge.source], number[edge.target])
        for index, edge in enumerate(graph.edges)
        if edge.source in number and edge.target in number
    ]
    links = [(source, target) for _, source, target in edges]
    fans = bodies(graph, links, [graph.edges[index].outlet for index, _, _ in edges])
    cards = [card(node) for node in graph.nodes]
    parts = components(len(graph.nodes), [*links, *fans.order])
    owner = [0] * len(graph.nodes)
    local = [0] * len(graph.nodes)
    for index, members in enumerate(parts):
        for place, node in enumerate(members):
            owner[node], local[node] = index, place
    ties: list[list[Tie]] = [[] for _ in parts]
    for index, source, target in edges:
        ties[owner[source]].append(Tie(index, local[source], local[target], graph.edges[index].outlet))
    order: list[list[tuple[int, int]]] = [[] for _ in parts]
    for source, target in fans.order:
        order[owner[source]].append((local[source], local[target]))
    plans = [
        plan(
            Part(
                tuple(members),
                tuple(graph.nodes[node] for node in members),
                tuple(cards[node] for node in members),
                tuple(ties[index]),
                tuple(fans.member[node] for node in members),
                fans.closing,
                tuple(order[index]),
            )
        )
        for index, members in enumerate(parts)
    ]
    return _shelve(plans)


def _shelve(plans: list[Plan]) -> Layout:
    """Puts the parts beside each other as far as the widest allows, then below each other."""
    room = max([1000, *(made.width for made in plans)])
    found_boxes: list[Box] = []
    found_labels: list[Label] = []
    found_routes: list[Route] = []
    found_regions: list[Region] = []
    x = y = tallest = widest = 0
    for made in plans:
        if x and x + made.width > room:
            x, y, tallest = 0, y + tallest + _BETWEEN, 0
        dx, dy = MARGIN + x, MARGIN + y - made.top
        found_boxes += boxes(made, dx, dy)
        found_labels += labels(made, dx, dy)
        found_routes += routes(made, dx, dy)
        found_regions += regions(made, dx, dy)
        x += made.width + _BETWEEN
        tallest = max(tallest, made.bottom - made.top)
        widest = max(widest, x - _BETWEEN)
    found_boxes.sort(key=lambda box: box.number)
    return Layout(
        tuple(found_boxes),
        tuple(found_labels),
        tuple(found_routes),
        tuple(found_regions),
        widest + 2 * MARGIN,
        y + tallest + 2 * MARGIN,
    )
