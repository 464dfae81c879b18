"""Where everything goes: promises that hold for any graph, and what the pictures of sensible ones look like."""

from __future__ import annotations

import itertools
import random

import pytest
from hypothesis import given

from orchestrator.core.graph import Edge, Graph
from orchestrator.core.regions import body_of
from orchestrator.drawing.layout import lay_out
from orchestrator.drawing.picture import Box, Layout
from orchestrator.drawing.ports import LABEL_HEIGHT
from tests.drawing.graphs import (
    FLAGSHIP,
    PAYING,
    PEOPLES,
    RETRYING,
    WAYS,
    any_graph,
    chain,
    connected,
    fanned_graph,
    graph,
    node,
)
from tests.drawing.paths import Area, encloses, points

GRAPHS = any_graph() | fanned_graph()

#: How far inside its rectangle a decision's shape may end.
SLANT = 15


def areas(layout: Layout) -> list[Area]:
    """The rectangles of all nodes, by number."""
    return [Area(box.x, box.y, box.x + box.width, box.y + box.height) for box in layout.boxes]


def names(layout: Layout) -> list[tuple[int, str, Area]]:
    """The rectangles of all outlet names, each with its node and outlet."""
    half = LABEL_HEIGHT / 2
    return [
        (label.node, label.outlet, Area(label.x, label.y - half, label.x + label.width, label.y + half))
        for label in layout.labels
    ]


def boxes(of: Graph) -> dict[str, Box]:
    """The boxes of a graph by node id."""
    return {of.nodes[box.number].id: box for box in lay_out(of).boxes}


def middle(box: Box) -> int:
    """How high the middle of a box is."""
    return box.y + box.height // 2


def overlapping(found: list[Area]) -> list[tuple[Area, Area]]:
    """The pairs of rectangles that overlap."""
    return [(a, b) for index, a in enumerate(found) for b in found[index + 1 :] if a.overlaps(b)]


def obstructed(of: Graph) -> list[tuple[int, str]]:
    """The edges that run through a node, or through the name of an outlet that is not theirs."""
    layout = lay_out(of)
    first = {each.id: number for number, each in reversed(list(enumerate(of.nodes)))}
    found = []
    for route in layout.routes:
        edge = of.edges[route.number]
        for x, y in points(route.path):
            for number, area in enumerate(areas(layout)):
                if area.holds(x, y, margin=SLANT if number == first[edge.source] else 1):
                    found.append((route.number, of.nodes[number].id))
            for number, outlet, area in names(layout):
                if area.holds(x, y) and (number, outlet) != (first[edge.source], edge.outlet):
                    found.append((route.number, outlet))
    return found


# --- any graph --------------------------------------------------------------------------------------------------------


@given(GRAPHS)
def test_every_node_has_a_box_and_no_two_boxes_overlap(of: Graph) -> None:
    layout = lay_out(of)
    assert list(range(len(of.nodes))) == [box.number for box in layout.boxes]
    assert [] == overlapping(areas(layout))


@given(GRAPHS)
def test_every_edge_between_nodes_has_a_line_from_its_source_to_its_target(of: Graph) -> None:
    layout = lay_out(of)
    first = {each.id: number for number, each in reversed(list(enumerate(of.nodes)))}
    assert set(connected(of)) == {route.number for route in layout.routes}
    assert len(connected(of)) == len(layout.routes)
    for route in layout.routes:
        edge, way = of.edges[route.number], points(route.path)
        source, target = (layout.boxes[first[id]] for id in (edge.source, edge.target))
        assert source.x + source.width - SLANT <= way[0][0] <= source.x + source.width
        assert source.y <= way[0][1] <= source.y + source.height
        assert (target.x - 1, middle(target)) == route.tip
        assert way[-1] == (target.x - 7, middle(target))


@given(GRAPHS)
def test_no_line_runs_through_a_node_or_the_name_of_another_outlet(of: Graph) -> None:
    assert [] == obstructed(of)


@given(GRAPHS)
def test_the_names_of_outlets_meet_neither_nodes_nor_each_other(of: Graph) -> None:
    layout = lay_out(of)
    assert [] == overlapping([*areas(layout), *(area for _, _, area in names(layout))])


@given(GRAPHS)
def test_everything_is_inside_the_picture(of: Graph) -> None:
    layout = lay_out(of)
    ways = [point for route in layout.routes for point in points(route.path)]
    shades = [point for region in layout.regions for point in points(region.path)]
    ends = [(label.end or label.x + label.width, label.y) for label in layout.labels]
    corners = [corner for area in areas(layout) for corner in ((area.left, area.top), (area.right, area.bottom))]
    for x, y in (*ways, *shades, *ends, *corners):
        assert 0 <= x <= layout.width
        assert 0 <= y <= layout.height


@given(GRAPHS)
def test_the_same_graph_is_laid_out_the_same_way(of: Graph) -> None:
    assert lay_out(Graph(of.nodes, of.edges)) == lay_out(of)


@given(GRAPHS)
def test_every_outlet_has_its_name_beside_its_node(of: Graph) -> None:
    layout = lay_out(of)
    for number, each in enumerate(of.nodes):
        assert set(each.outlets) <= {label.outlet for label in layout.labels if label.node == number}


# --- what people write ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("of", PEOPLES, ids=("flagship", "retrying", "paying"))
def test_what_people_write_is_drawn_without_obstruction(of: Graph) -> None:
    assert [] == obstructed(of)


def test_a_chain_is_one_level_line() -> None:
    layout = lay_out(chain(6))
    assert 1 == len({middle(box) for box in layout.boxes})
    assert all(set(route.path) <= set("MH 0123456789") for route in layout.routes)


def test_the_main_road_stays_level_and_trouble_turns_aside() -> None:
    placed = boxes(FLAGSHIP)
    road = ("start", "load-lines", "per-line", "ship-line", "all-shipped", "confirm", "pick-up")
    assert 1 == len({middle(placed[id]) for id in road})
    assert middle(placed["review"]) > middle(placed["confirm"])


def test_ways_that_part_and_meet_are_drawn_evenly_around_the_middle_and_do_not_cross() -> None:
    placed = boxes(PAYING)
    heights = sorted(middle(placed[way]) for way in WAYS)
    assert [middle(placed["pay"])] * 2 == [middle(placed["settle"]), heights[2]]
    layout = lay_out(PAYING)
    ports = {label.outlet: label.y for label in layout.labels if label.node == 1}
    assert sorted(WAYS, key=lambda way: ports[way]) == sorted(WAYS, key=lambda way: middle(placed[way]))


def test_a_loop_runs_below_its_nodes_from_right_to_left() -> None:
    layout, placed = lay_out(RETRYING), boxes(RETRYING)
    back = next(route for route in layout.routes if RETRYING.edges[route.number].target == "book" and route.number == 3)
    way = points(back.path)
    cool_down, book = placed["cool-down"], placed["book"]
    assert max(x for x, _ in way) > cool_down.x + cool_down.width
    assert min(x for x, _ in way) < book.x
    assert max(y for _, y in way) > max(box.y + box.height for box in (cool_down, book))


def test_a_loop_of_a_node_to_itself_goes_around_it() -> None:
    layout, poll = lay_out(RETRYING), boxes(RETRYING)["poll"]
    way = points(layout.routes[-1].path)
    assert min(x for x, _ in way) < poll.x < poll.x + poll.width < max(x for x, _ in way)
    assert max(y for _, y in way) > poll.y + poll.height


def test_a_node_stands_right_of_what_leads_to_it() -> None:
    for of in PEOPLES:
        placed = boxes(of)
        for edge in of.edges:
            if edge.source != edge.target and (edge.source, edge.target) != ("cool-down", "book"):
                assert placed[edge.source].x + placed[edge.source].width < placed[edge.target].x


def test_parts_that_do_not_hang_together_stand_apart() -> None:
    of = graph(
        [node("a", "action"), node("b", "action"), node("c", "action"), node("d", "action")], "a.next>b", "c.next>d"
    )
    placed = boxes(of)
    assert placed["a"].y == placed["b"].y
    assert placed["c"].y == placed["d"].y
    assert placed["c"].x > placed["b"].x + placed["b"].width or placed["c"].y > placed["a"].y + placed["a"].height


# --- the bodies of fan-outs -------------------------------------------------------------------------------------------


def test_a_body_is_shaded_and_nothing_else_is() -> None:
    (region,) = lay_out(FLAGSHIP).regions
    corners = points(region.path)
    shade = Area(*(side(c[axis] for c in corners) for side in (min, max) for axis in (0, 1)))
    inside = {FLAGSHIP.nodes[number].id for number, area in enumerate(areas(lay_out(FLAGSHIP))) if shade.overlaps(area)}
    assert {"ship-line"} == inside
    assert "per-line" == FLAGSHIP.nodes[region.node].id


def test_a_join_stands_right_of_every_end_of_its_body_and_of_a_body_that_no_edge_leaves() -> None:
    of = graph(
        [
            node("start", "trigger"),
            node("fan", "forEach", "each"),
            *(node(id, "action", "next failed") for id in "abc"),
            node("gather", "join", "completed", forEach="fan"),
        ],
        "start.next>fan",
        "fan.each>a",
        "a.next>b",
        "b.failed>c",
    )
    placed = boxes(of)
    assert placed["c"].x + placed["c"].width < placed["gather"].x


@given(fanned_graph())
def test_a_shade_holds_its_whole_body_and_no_other_node(of: Graph) -> None:
    layout = lay_out(of)
    first = {each.id: number for number, each in enumerate(of.nodes)}
    for region in layout.regions:
        body, outline = body_of(of, of.nodes[region.node].id), points(region.path)
        for id, number in first.items():
            area = areas(layout)[number]
            corners = [(x, y) for x in (area.left, area.right) for y in (area.top, area.bottom)]
            assert [id in body] * 4 == [encloses(outline, x, y) for x, y in corners]


@given(fanned_graph())
def test_shades_do_not_meet(of: Graph) -> None:
    shades = [points(region.path) for region in lay_out(of).regions]
    for one, other in itertools.permutations(shades, 2):
        assert not any(encloses(one, x, y) for x, y in other)


# --- order and straightness -------------------------------------------------------------------------------------------


def test_what_need_not_cross_does_not() -> None:
    nodes = [node("start", "trigger"), *(node(id, "action") for id in ("a", "b", "c", "to-c", "to-b", "to-a"))]
    of = graph(
        nodes,
        *(f"start.next>{id}" for id in "abc"),
        *(f"{id}.next>to-{id}" for id in "abc"),
        "a.next>to-b",
        "b.next>to-c",
    )
    placed = boxes(of)
    for one, other in itertools.combinations("abc", 2):
        above = middle(placed[one]) < middle(placed[other])
        assert above == (middle(placed[f"to-{one}"]) < middle(placed[f"to-{other}"]))


def test_a_long_link_passes_the_columns_between_its_ends_in_one_level_line() -> None:
    of = Graph(chain(9).nodes, (*chain(9).edges, Edge("a0", "next", "a8"), Edge("a2", "next", "a6")))
    for route in lay_out(of).routes[-2:]:
        assert 2 == route.path.count("C")


def test_loops_of_one_node_do_not_lie_on_each_other() -> None:
    nodes = [node("a", "action"), node("b", "action", "next again more"), node("c", "action", "next back")]
    of = graph(nodes, "a.next>b", "b.next>c", "b.again>b", "b.more>b", "c.back>b", "c.next>a")
    loops = [points(route.path) for route in lay_out(of).routes if route.number >= 2]
    upright = [{x for (x, y), (z, w) in itertools.pairwise(way) if x == z and y != w} for way in loops]
    for one, other in itertools.combinations(upright, 2):
        assert not one & other


def test_many_loops_beside_each_other_find_room() -> None:
    outlets = " ".join(f"o{number}" for number in range(12))
    nodes = [node(id, "action", f"next {outlets}") for id in "abc"]
    loops = [f"{id}.o{number}>{id}" for id in "abc" for number in range(12)]
    of = graph(nodes, "a.next>b", "b.next>c", *loops)
    assert [] == obstructed(of)
    assert [] == overlapping(areas(lay_out(of)))
    assert min(x for route in lay_out(of).routes for x, _ in points(route.path)) > 0


# --- large graphs -----------------------------------------------------------------------------------------------------


def test_a_chain_of_five_thousand_nodes_draws() -> None:
    layout = lay_out(chain(5_000))
    assert 4_999 == len(layout.routes)
    assert 1 == len({middle(box) for box in layout.boxes})


def test_two_thousand_nodes_linked_at_random_draw_with_every_edge() -> None:
    chance = random.Random(7)
    nodes = tuple(node(f"n{number}", "action") for number in range(2_000))
    edges = tuple(Edge(f"n{chance.randrange(2_000)}", "next", f"n{chance.randrange(2_000)}") for _ in range(6_000))
    layout = lay_out(Graph(nodes, edges))
    assert 6_000 == len(layout.routes)


def test_the_longest_links_of_a_large_graph_go_around_everything() -> None:
    chance = random.Random(3)
    nodes = tuple(node(f"n{number}", "action") for number in range(60))
    pairs = [(number, number + 1) for number in range(59)] + [sorted(chance.sample(range(60), 2)) for _ in range(60)]
    of = Graph(nodes, tuple(Edge(f"n{a}", "next", f"n{b}") for a, b in pairs))
    assert [] == obstructed(of)
    lowest = max(box.y + box.height for box in lay_out(of).boxes)
    assert any(max(y for _, y in points(route.path)) > lowest for route in lay_out(of).routes)
