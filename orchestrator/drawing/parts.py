"""The values a layout is planned with: a connected part of a graph, and the plan that gives it coordinates.

Nodes of a part are numbered from 0 in the author's order; how the plan is made is `plan`, what it becomes `routes`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from orchestrator.core.graph import Node
from orchestrator.drawing.cards import Card
from orchestrator.drawing.ordering import Weave
from orchestrator.drawing.ports import Port


class Tie(NamedTuple):
    """An edge between two nodes of the part: its number in the graph, its ends in the part, and its outlet."""

    edge: int
    source: int
    target: int
    outlet: str


@dataclass(frozen=True, slots=True)
class Part:
    """A connected part of a graph: its nodes with their numbers in the graph, and its ties in the author's order."""

    numbers: tuple[int, ...]
    nodes: tuple[Node, ...]
    cards: tuple[Card, ...]
    ties: tuple[Tie, ...]
    #: By node, see `bodies`; the closing joins by the number of the forEach.
    group: tuple[int, ...]
    closing: Mapping[int, frozenset[int]]
    #: What stands to the left of what without an edge, see `bodies`.
    order: tuple[tuple[int, int], ...]


@dataclass(slots=True)
class Plan:
    """A part with coordinates; filled once by `plan`, then only read. Lists are by node, item, tie or column."""

    part: Part
    weave: Weave
    #: By tie: its items from left to right; None for a loop to itself and for one that goes around everything.
    chains: list[list[int] | None]
    backward: list[bool]
    #: By tie: how far below the middle of its source and its target a loop runs.
    lanes: dict[int, tuple[int, int]]
    ports: list[tuple[Port, ...]]
    half: list[int]
    spans: list[tuple[int, int]]
    height: list[int]
    #: How far the names of its outlets reach to the right of a node.
    reach: list[int]
    #: How many loops run below a node.
    below: list[int]
    #: Ties that go around everything, and how high they do.
    around: dict[int, int]
    #: By column: the left side of its nodes, their width, and where the channel to the next begins.
    left: list[int] = field(default_factory=list)
    wide: list[int] = field(default_factory=list)
    right: list[int] = field(default_factory=list)
    width: int = 0
    top: int = 0
    bottom: int = 0
