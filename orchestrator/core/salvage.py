"""What can still be judged of a definition document that cannot be read as a whole: a smaller document without the
unreadable parts, and which violations of it say nothing because a part is missing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from orchestrator.core.complaints import Problem
from orchestrator.core.document_shapes import Document
from orchestrator.core.graph import NodeKind
from orchestrator.core.kinds.kind import Violation, ViolationKind
from orchestrator.core.shapes import MAX_INTEGER, spellings

#: What stands for a part of a node that could not be read, chosen so that nothing more is wrong because of it.
_STAND_INS: Final[Mapping[str, Any]] = {"policy": {"maxVisits": MAX_INTEGER}, "capability": "unreadable@1"}

#: The same for parts of the whole document.
_TOP_STAND_INS: Final[Mapping[str, Any]] = {"workflow": "unreadable", "version": 1, "area": "unreadable"}

_NODE_PARTS: Final = frozenset({"id", "kind", "outlets", "capability", "configuration", "policy"})
_PLACE = re.compile(r"graph\.(nodes|edges)\[([0-9]+)\]")


@dataclass(frozen=True, slots=True)
class Salvaged:
    """A readable part of a document."""

    document: Mapping[str, Any]
    #: By ``nodes`` and ``edges``: the place in the whole document of each that was kept.
    places: Mapping[str, tuple[int, ...]]
    #: Ids of the nodes that were left out, and None when one has none.
    lost: frozenset[str | None]
    #: The kinds that nodes left out may have.
    lost_kinds: frozenset[NodeKind]

    def told(self, violations: Iterable[Violation]) -> Iterator[Violation]:
        """The violations that hold for the whole document too, at their places in it."""
        for violation in violations:
            if not self._due_to_loss(violation):
                where = _PLACE.sub(self._original, violation.where, count=1)
                yield Violation(violation.kind, where, violation.message, violation.about)

    def _due_to_loss(self, violation: Violation) -> bool:
        if violation.kind is ViolationKind.NO_TRIGGER:
            return NodeKind.TRIGGER in self.lost_kinds
        if violation.kind is ViolationKind.FOR_EACH_WITHOUT_SINGLE_JOIN:
            return NodeKind.JOIN in self.lost_kinds
        return bool(violation.about) and (None in self.lost or not self.lost.isdisjoint(violation.about))

    def _original(self, found: re.Match[str]) -> str:
        return f"graph.{found[1]}[{self.places[found[1]][int(found[2])]}]"


def salvage(document: Mapping[str, Any], problems: Iterable[Problem]) -> Salvaged | None:
    """The readable part, or None when there are no nodes to speak of."""
    top: set[str] = set()
    nodes: dict[int, set[str]] = {}
    edges: set[int] = set()
    for problem in problems:
        match problem.path:
            case ("graph", "nodes", int() as index, *inside):
                nodes.setdefault(index, set()).add(str(inside[0]) if inside else "")
            case ("graph", "edges", int() as index, *_):
                edges.add(index)
            case ("graph",) | ("graph", "nodes") | ():
                return None
            case ("graph", *_):
                pass  # an edge list that is none, or a property nobody knows: both are left out
            case (str() as name, *_):
                top.add(name)
    graph = document["graph"]
    names = spellings(Document)
    kept_nodes, lost = _kept_nodes(graph["nodes"], nodes)
    kept_edges = [at for at in _places(graph.get("edges")) if at not in edges]
    rest = {name: value for name, value in document.items() if names.get(name) not in top and name != "graph"}
    rest |= {name: _TOP_STAND_INS[name] for name in top if name in _TOP_STAND_INS}
    rest["graph"] = {"nodes": list(kept_nodes.values()), "edges": [graph["edges"][at] for at in kept_edges]}
    return Salvaged(
        rest,
        {"nodes": tuple(kept_nodes), "edges": tuple(kept_edges)},
        frozenset(_id(node) for node in lost),
        frozenset(kind for node in lost for kind in _kinds(node)),
    )


def _kept_nodes(given: list[Any], broken: Mapping[int, set[str]]) -> tuple[dict[int, Any], list[Any]]:
    """The nodes that can be read, mended where they must be, by their place; and those that cannot."""
    kept, lost = {}, []
    for at, node in enumerate(given):
        parts = broken.get(at, set())
        if not isinstance(node, Mapping) or (parts & _NODE_PARTS) - _STAND_INS.keys() or "" in parts:
            lost.append(node)
        else:
            mended = {name: value for name, value in node.items() if name not in parts}
            kept[at] = mended | {name: _STAND_INS[name] for name in parts & _STAND_INS.keys()}
    return kept, lost


def _places(given: object) -> range:
    return range(len(given)) if isinstance(given, list) else range(0)


def _id(node: object) -> str | None:
    id = node.get("id") if isinstance(node, Mapping) else None
    return id if isinstance(id, str) else None


def _kinds(node: object) -> Iterable[NodeKind]:
    """The kinds that a node may have had."""
    kind = node.get("kind") if isinstance(node, Mapping) else None
    return [known for known in NodeKind if known == kind] or list(NodeKind)
