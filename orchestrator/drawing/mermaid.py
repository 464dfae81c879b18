"""A workflow as Mermaid text (``flowchart LR``), for READMEs and wikis that draw it themselves.

Node ids become ``n0``, ``n1`` …; what users wrote stands only inside quoted labels, with every character that Mermaid,
Markdown or HTML could read otherwise written as its number.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final, assert_never

from orchestrator.core.graph import Definition, Graph, Node, NodeKind
from orchestrator.drawing.bodies import bodies
from orchestrator.drawing.cards import at_a_time, second_line
from orchestrator.drawing.overlay import NodeOverlay, Overlay
from orchestrator.drawing.palette import GROUND, KINDS, STATUSES

#: What reads itself as a list, a link, a formula or an icon, even quoted: Mermaid then shows something else.
_NUMBERED: Final = re.compile(r"^\d+\.")
_VERSION: Final = re.compile(r"@\d+\Z")
_MAGIC: Final = re.compile(r"(?<=\$)(?=\$)|(?<=:)(?=fa-)")
_PLAIN: Final = frozenset(" -/,.?!·…")
#: Shows nothing and keeps its neighbours apart.
_WORD_JOINER: Final = "\u2060"


def mermaid(definition: Definition, overlay: Overlay | None = None) -> str:
    """The flowchart of a definition, with one run laid over it if there is one; the same text for the same input."""
    graph = definition.graph
    number = {node.id: index for index, node in reversed(list(enumerate(graph.nodes)))}
    edges = [edge for edge in graph.edges if edge.source in number and edge.target in number]
    links = [(number[edge.source], number[edge.target]) for edge in edges]
    group = bodies(graph, links, [edge.outlet for edge in edges]).member
    lines = ["flowchart LR"]
    shown: Mapping[str, NodeOverlay] = overlay.nodes if overlay else {}
    members: dict[int, list[str]] = {}
    for index, node in enumerate(graph.nodes):
        members.setdefault(group[index], []).append(_node(index, node, shown.get(node.id)))
    lines += [f"    {line}" for line in members.pop(0, [])]
    for fan, inside in sorted(members.items()):
        lines.append(f'    subgraph f{fan - 1}["for each item, {at_a_time(graph.nodes[fan - 1])}"]')
        lines += [*(f"        {line}" for line in inside), "    end"]
    for (source, target), edge in zip(links, edges, strict=True):
        lines.append(f'    n{source} -->|"{quoted(edge.outlet)}"| n{target}')
    lines += _classes(graph, shown)
    if members:
        fill, line, ink = (GROUND[name][0] for name in ("body", "body-line", "body-ink"))
        lines.append(f"    classDef body fill:{fill},stroke:{line},stroke-dasharray:5 4,color:{ink}")
        fans = ",".join(f"f{fan - 1}" for fan in sorted(members))
        lines.append(f"    class {fans} body")
    taken = [str(index) for index, edge in enumerate(edges) if overlay and edge in overlay.taken]
    if taken:
        lines.append(f"    linkStyle {','.join(taken)} stroke:{GROUND['taken'][0]},stroke-width:3px")
    return "\n".join(lines) + "\n"


def quoted(value: str) -> str:
    """`value` for the inside of a quoted label: letters and digits of any script stay, most else is numbered."""
    value = _MAGIC.sub(_WORD_JOINER, value) or "?"
    plain = {index for index, character in enumerate(value) if character.isalnum() or character in _PLAIN}
    if numbered := _NUMBERED.match(value):
        plain.discard(numbered.end() - 1)
    if version := _VERSION.search(value):
        plain.add(version.start())
    if value[:1] == "-":
        plain.discard(0)
    if value[:4].lower() == "www.":
        plain.discard(3)
    return "".join([c if index in plain else f"#{_code(c)};" for index, c in enumerate(value)])


def _code(character: str) -> int:
    """The number of a character; those that no page can hold become U+FFFD."""
    code = ord(character)
    held = code >= 0x20 and not 0x7F <= code < 0xA0 and not 0xD800 <= code < 0xE000 and code not in (0xFFFE, 0xFFFF)
    return code if held or character in "\t\n\r" else 0xFFFD


def _node(index: int, node: Node, shown: NodeOverlay | None) -> str:
    lines = [quoted(node.id)]
    second, name = second_line(node)
    if name or second != node.kind:
        lines.append(quoted(second))
    if shown:
        lines.append(_run(shown))
    label = '"' + "<br/>".join(lines) + '"'
    match node.kind:
        case NodeKind.TRIGGER:
            return f"n{index}([{label}])"
        case NodeKind.ACTION:
            return f"n{index}({label})"
        case NodeKind.DECISION:
            return f"n{index}{{{{{label}}}}}"
        case NodeKind.WAIT:
            return f"n{index}[/{label}/]"
        case NodeKind.APPROVAL:
            return f"n{index}[/{label}\\]"
        case NodeKind.FOR_EACH | NodeKind.JOIN:
            return f"n{index}[[{label}]]"
    assert_never(node.kind)


def _run(shown: NodeOverlay) -> str:
    """What a run says of a node, on a line of its label."""
    words = [STATUSES[shown.status].words if shown.status in STATUSES else shown.status]
    words += [f"{shown.visits} visits"] if shown.visits > 1 else []
    words += [f"{shown.attempts} attempts"] if shown.attempts > 1 else []
    words += [f"{count} {status}" for status, count in sorted(shown.branches.items())]
    return quoted(", ".join(words))


def _classes(graph: Graph, shown: Mapping[str, NodeOverlay]) -> list[str]:
    """The colours: those of statuses where a run has been, else those of kinds."""
    names = [_class(node, shown.get(node.id)) for node in graph.nodes]
    lines = []
    for kind, (tone, _) in KINDS.items():
        lines += _class_lines(kind.value, names, f"fill:{tone.fill},stroke:{tone.line},color:{GROUND['ink'][0]}")
    for status, look in STATUSES.items():
        colours = f"fill:{look.light.fill},stroke:{look.light.line},color:{look.light.ink},stroke-width:2px"
        lines += _class_lines(status, names, colours)
    return lines


def _class(node: Node, shown: NodeOverlay | None) -> str:
    return shown.status if shown and shown.status in STATUSES else node.kind.value


def _class_lines(name: str, names: Sequence[str], colours: str) -> list[str]:
    members = [f"n{index}" for index, other in enumerate(names) if other == name]
    return [f"    classDef {name} {colours}", f"    class {','.join(members)} {name}"] if members else []
