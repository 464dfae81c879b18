"""The values a layout is made of, in whole pixels from the top left corner. How they look is `svg`'s concern."""

from __future__ import annotations

from dataclasses import dataclass

from orchestrator.drawing.cards import Card


@dataclass(frozen=True, slots=True)
class Box:
    """A node: `number` in the graph, its rectangle, and what is written on it."""

    number: int
    x: int
    y: int
    width: int
    height: int
    card: Card


@dataclass(frozen=True, slots=True)
class Label:
    """The name of an outlet: `x` is its left and `y` its middle; an end has no edge, its stub stops at `end`."""

    node: int
    outlet: str
    text: str
    x: int
    y: int
    width: int
    start: int
    end: int | None
    declared: bool


@dataclass(frozen=True, slots=True)
class Route:
    """The line of an edge: `number` in the graph, an SVG path, and the tip of its arrow, which points right."""

    number: int
    path: str
    tip: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Region:
    """The shade behind the body of the fan-out of node `node`, with the room for a caption."""

    node: int
    path: str
    x: int
    y: int
    width: int


@dataclass(frozen=True, slots=True)
class Layout:
    """A whole picture, ready to be drawn."""

    boxes: tuple[Box, ...]
    labels: tuple[Label, ...]
    routes: tuple[Route, ...]
    regions: tuple[Region, ...]
    width: int
    height: int
