"""The SVG picture: always well-formed, always the same, and it says in words and marks what it says in colours."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

from hypothesis import given
from hypothesis import strategies as st

from orchestrator.core.graph import Graph
from orchestrator.drawing.layout import lay_out
from orchestrator.drawing.overlay import NodeOverlay, Overlay
from orchestrator.drawing.palette import STATUSES
from orchestrator.drawing.svg import NO_STATE, svg
from tests.drawing.graphs import FLAGSHIP, any_graph, any_overlay, connected, definition, edge, graph, node, odd_text

NS = "{http://www.w3.org/2000/svg}"
FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

RUN = Overlay(
    {
        "start": NodeOverlay("Succeeded"),
        "load-lines": NodeOverlay("Succeeded", 1, 2),
        "ship-line": NodeOverlay("Failed", 3, 2, {"Succeeded": 56, "Failed": 17}),
        "review": NodeOverlay("Waiting"),
    },
    frozenset({edge("start.next>load-lines"), edge("all-shipped.partial>review")}),
)


def drawn(of: Graph, overlay: Overlay | None = None) -> ET.Element:
    """The picture of a graph, as a parser reads it."""
    return ET.fromstring(svg(definition(of), overlay))


def groups(picture: ET.Element, prefix: str) -> list[ET.Element]:
    """The groups of a picture whose id starts with `prefix`."""
    return [group for group in picture.iter(f"{NS}g") if (group.get("id") or "").startswith(prefix)]


def told(group: ET.Element) -> list[str]:
    """The texts of a group."""
    return [element.text or "" for element in group.iter(f"{NS}text")]


@given(st.data())
def test_any_graph_with_any_overlay_draws_to_well_formed_xml(data: st.DataObject) -> None:
    of = data.draw(any_graph())
    picture = drawn(of, data.draw(any_overlay(of)))
    assert len(of.nodes) == len(groups(picture, "node-"))
    assert {f"edge-{number}" for number in connected(of)} == {group.get("id") for group in groups(picture, "edge-")}


@given(st.data())
def test_the_same_definition_and_overlay_give_the_same_picture(data: st.DataObject) -> None:
    of = data.draw(any_graph())
    overlay = data.draw(any_overlay(of))
    assert svg(definition(Graph(of.nodes, of.edges)), overlay) == svg(definition(of), overlay)


@given(odd_text, odd_text)
def test_what_users_wrote_is_read_back_as_it_was_but_for_what_xml_cannot_hold(id: str, outlet: str) -> None:
    of = Graph((node("x", "action"),), ())
    of = Graph((type(of.nodes[0])(id, of.nodes[0].kind, (outlet,)),), ())
    (group,) = groups(drawn(of, Overlay({id: NodeOverlay(outlet)})), "node-")
    assert FORBIDDEN.sub("\ufffd", id) == group.get("data-node")
    assert FORBIDDEN.sub("\ufffd", outlet) == group.get("data-state")


@given(odd_text)
def test_a_workflow_of_any_name_is_named_by_its_picture(workflow: str) -> None:
    picture = ET.fromstring(svg(definition(FLAGSHIP, workflow)))
    assert f"{FORBIDDEN.sub(chr(0xFFFD), workflow)} version 1" == picture.findtext(f"{NS}title")


def test_a_node_carries_its_number_its_id_and_its_state() -> None:
    found = {
        group.get("id"): (group.get("data-node"), group.get("data-state"))
        for group in groups(drawn(FLAGSHIP, RUN), "node-")
    }
    assert ("start", "Succeeded") == found["node-0"]
    assert ("ship-line", "Failed") == found["node-3"]
    assert ("confirm", NO_STATE) == found["node-5"]


def test_without_a_run_no_node_has_a_state_and_nothing_is_taken() -> None:
    picture = drawn(FLAGSHIP)
    assert {NO_STATE} == {group.get("data-state") for group in groups(picture, "node-")}
    assert "cel" == picture.get("class")
    assert not any("taken" in (path.get("class") or "") for path in picture.iter(f"{NS}path"))


def test_a_status_is_told_in_words_and_by_an_icon() -> None:
    of = graph([node(status, "action") for status in STATUSES])
    picture = drawn(of, Overlay({status: NodeOverlay(status) for status in STATUSES}))
    for group, look in zip(groups(picture, "node-"), STATUSES.values(), strict=True):
        assert look.words in told(group)
        assert look.icon in [path.get("d") for path in group.iter(f"{NS}path") if path.get("class") == "mark"]


def test_visits_attempts_and_branches_are_counted_on_the_node() -> None:
    of = graph([node("a-node-that-is-wide-enough", "action")])
    branches = {"Succeeded": 56, "Failed": 17}
    found = drawn(of, Overlay({"a-node-that-is-wide-enough": NodeOverlay("Failed", 3, 2, branches)}))
    assert {"3×", "↻ 2", "56", "17"} <= set(told(found)) or {"3 visits", "2 attempts", "56", "17"} <= set(told(found))


def test_counts_that_do_not_fit_are_added_up_and_told_in_the_tooltip() -> None:
    of = graph([node("x", "action")])
    branches = dict.fromkeys(STATUSES, 1234)
    (group,) = groups(drawn(of, Overlay({"x": NodeOverlay("Failed", 12, 12, branches)})), "node-")
    assert any(words.startswith("+") for words in told(group))
    assert "1234 Unreachable" in (group.findtext(f"{NS}title") or "")


def test_the_edges_that_were_taken_are_marked_and_drawn_last() -> None:
    found = groups(drawn(FLAGSHIP, RUN), "edge-")
    marked = [group.get("id") for group in found if "taken" in (next(iter(group)).get("class") or "")]
    assert ["edge-0", "edge-6"] == marked
    assert marked == [group.get("id") for group in found[-2:]]


def test_an_edge_says_where_it_comes_from_and_where_it_leads() -> None:
    found = groups(drawn(FLAGSHIP), "edge-")[0]
    assert ("start", "next", "load-lines") == tuple(found.get(f"data-{name}") for name in ("from", "outlet", "to"))


def test_an_edge_out_of_an_undeclared_outlet_is_drawn_as_such() -> None:
    (found,) = groups(drawn(graph([node("a", "action"), node("b", "action")], "a.surprise>b")), "edge-")
    assert "edge undeclared" == next(iter(found)).get("class")


def test_a_long_id_is_cut_in_the_middle_and_told_in_full_by_the_tooltip() -> None:
    id = "charge-the-customer-for-everything-that-was-shipped-until-yesterday"
    (group,) = groups(drawn(graph([node(id, "action")])), "node-")
    title = told(group)[0]
    assert "…" in title
    assert title.startswith("charge-")
    assert title.endswith("day")
    assert (group.findtext(f"{NS}title") or "").startswith(id)


def test_a_node_says_its_capability_and_what_the_engine_does_at_it() -> None:
    seconds = [told(group)[1] for group in groups(drawn(FLAGSHIP), "node-")]
    assert "test.ship-line@1" in seconds
    assert "timer · 5 s" in seconds
    assert "approval · within 2 d" in seconds
    assert "for each of load-lines.lines" in seconds
    assert "all of per-line" in seconds


def test_a_kept_layout_gives_the_same_picture() -> None:
    whole = definition(FLAGSHIP)
    assert svg(whole, RUN) == svg(whole, RUN, layout=lay_out(FLAGSHIP))


def test_a_picture_needs_nothing_from_elsewhere_and_follows_the_theme() -> None:
    text = svg(definition(FLAGSHIP), RUN)
    assert ["http://www.w3.org/2000/svg"] == re.findall(r"[a-z]+://[^\"' )]+", text)
    assert not re.search(r"<script|@import|url\(|href|<image", text)
    assert "@media (prefers-color-scheme:dark)" in text


def test_an_empty_graph_draws() -> None:
    assert [] == groups(drawn(Graph((), ())), "node-")
