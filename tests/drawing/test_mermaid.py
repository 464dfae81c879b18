"""The Mermaid text: ids are ours, and nothing that users wrote can leave its quotes."""

from __future__ import annotations

import html
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.core.graph import Graph
from orchestrator.drawing.mermaid import mermaid, quoted
from orchestrator.drawing.overlay import NodeOverlay, Overlay
from tests.drawing.graphs import FLAGSHIP, any_graph, any_overlay, connected, definition, edge, graph, node, odd_text

#: A label as it may stand between quotes: letters, plain signs, numbered characters, our own line breaks.
LABEL = r'"(?:[^\W_]|[ \-/,.?!·…@]|#\d+;|<br/>)*"'
SHAPES = (
    rf"\(\[{LABEL}\]\)",
    rf"\({LABEL}\)",
    rf"\{{\{{{LABEL}\}}\}}",
    rf"\[/{LABEL}/\]",
    rf"\[/{LABEL}\\\]",
    rf"\[\[{LABEL}\]\]",
)
LINE = re.compile(
    rf"flowchart LR|\s+n\d+(?:{'|'.join(SHAPES)})|\s+n\d+ -->\|{LABEL}\| n\d+|\s+subgraph f\d+\[{LABEL}\]|\s+end"
    r"|\s+classDef \w+ [\w#:,\- ]+|\s+class [nf\d,]+ \w+|\s+linkStyle [\d,]+ [\w#:,\-]+"
)


def read_back(label: str) -> str:
    """What Mermaid shows for a label."""
    return html.unescape(re.sub(r"#(\d+);", r"&#\1;", label)).replace("\u2060", "")


@given(st.data())
def test_any_graph_with_any_overlay_is_lines_of_known_shape(data: st.DataObject) -> None:
    of = data.draw(any_graph())
    text = mermaid(definition(of), data.draw(any_overlay(of)))
    assert text.endswith("\n")
    for line in text.removesuffix("\n").split("\n"):
        assert LINE.fullmatch(line), line


@given(st.data())
def test_every_node_and_every_edge_between_nodes_is_told_once(data: st.DataObject) -> None:
    of = data.draw(any_graph())
    lines = mermaid(definition(of)).splitlines()
    nodes = [found[1] for line in lines if (found := re.match(r"\s+n(\d+)[(\[{]", line))]
    assert list(range(len(of.nodes))) == sorted(map(int, nodes))
    assert len(connected(of)) == sum("-->" in line for line in lines)


@given(st.data())
def test_the_same_definition_and_overlay_give_the_same_text(data: st.DataObject) -> None:
    of = data.draw(any_graph())
    overlay = data.draw(any_overlay(of))
    assert mermaid(definition(Graph(of.nodes, of.edges)), overlay) == mermaid(definition(of), overlay)


@given(odd_text)
def test_a_label_has_no_quote_bracket_or_mark_of_its_own(value: str) -> None:
    assert re.fullmatch(LABEL, f'"{quoted(value)}"')


@given(st.text(st.characters(min_codepoint=0x20, exclude_categories=("Cs", "Cc")), min_size=1))
def test_a_label_shows_what_was_written(value: str) -> None:
    assert value.replace("\u2060", "").replace("\ufffe", "\ufffd").replace("\uffff", "\ufffd") == read_back(
        quoted(value)
    )


@pytest.mark.parametrize(
    ("value", "expected"),
    (
        ("orders.ship-line@1", "orders.ship-line@1"),
        ("naïve 漢字", "naïve 漢字"),
        ('a "b"', "a #34;b#34;"),
        ("f(x)[y]{z}", "f#40;x#41;#91;y#93;#123;z#125;"),
        ("`code`", "#96;code#96;"),
        ("two\nlines", "two#10;lines"),
        ("#35;", "#35;35#59;"),
        ("1. one", "1#46; one"),
        ("- one", "#45; one"),
        ("www.site", "www#46;site"),
        ("a@b.c", "a#64;b.c"),
        ("nul\x00", "nul#65533;"),
        ("", "#63;".replace("#63;", "?")),
    ),
)
def test_a_label_keeps_what_is_harmless_and_numbers_the_rest(value: str, expected: str) -> None:
    assert expected == quoted(value)


def test_a_flowchart_has_a_shape_for_each_kind_and_a_frame_for_a_body() -> None:
    assert [
        "flowchart LR",
        '    n0(["start"])',
        '    n1("load-lines<br/>test.load-lines@1")',
        '    n2[["per-line<br/>for each of load-lines.lines"]]',
        '    n4[["all-shipped<br/>all of per-line"]]',
        '    n5("confirm<br/>test.confirm@1")',
        '    n6[/"pick-up<br/>timer · 5 s"/]',
        '    n7[/"review<br/>approval · within 2 d"\\]',
        '    subgraph f2["for each item, 4 at a time"]',
        '        n3("ship-line<br/>test.ship-line@1")',
        "    end",
        '    n0 -->|"next"| n1',
    ] == mermaid(definition(FLAGSHIP)).splitlines()[:12]


def test_a_run_is_told_in_words_colours_and_thick_lines() -> None:
    overlay = Overlay({"a": NodeOverlay("RetryPending", 3, 2)}, frozenset({edge("a.next>b")}))
    text = mermaid(definition(graph([node("a", "action"), node("b", "decision")], "b.next>a", "a.next>b")), overlay)
    assert 'n0("a<br/>test.a@1<br/>Retry pending, 3 visits, 2 attempts")' in text
    assert "class n0 RetryPending" in text
    assert "class n1 decision" in text
    assert "linkStyle 1 " in text
