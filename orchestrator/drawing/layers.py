"""The first half of the layout: which links run backwards, and which column (layer) each node stands in.

Nodes are numbers here. Nothing is placed yet: the order inside a column is `ordering`, coordinates are `placing`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import TypeAlias

#: From one node to another, by number.
Link: TypeAlias = tuple[int, int]


def components(count: int, links: Sequence[Link]) -> list[list[int]]:
    """The nodes that hang together, each list in the author's order, the lists by their first node."""
    parent = list(range(count))

    def find(node: int) -> int:
        while parent[node] != node:
            parent[node] = parent[parent[node]]
            node = parent[node]
        return node

    for source, target in links:
        a, b = find(source), find(target)
        if a != b:
            parent[max(a, b)] = min(a, b)
    found: dict[int, list[int]] = {}
    for node in range(count):
        found.setdefault(find(node), []).append(node)
    return list(found.values())


def walk(count: int, links: Sequence[Link], roots: Sequence[int]) -> tuple[list[bool], list[int]]:
    """Which links lead back to a node that is still being walked, and the rank in which each node was first met.

    Walking from the trigger in the author's order makes the links that an author would call a loop the backward ones.
    """
    leaving: list[list[tuple[int, int]]] = [[] for _ in range(count)]
    entered = [False] * count
    for number, (source, target) in enumerate(links):
        leaving[source].append((number, target))
        entered[target] = entered[target] or source != target
    backward = [False] * len(links)
    rank = [-1] * count
    open_ = [False] * count
    met = 0
    for start in (*roots, *(node for node in range(count) if not entered[node]), *range(count)):
        if rank[start] >= 0:
            continue
        rank[start] = met
        met += 1
        open_[start] = True
        path = [(start, iter(leaving[start]))]
        while path:
            node, rest = path[-1]
            for number, target in rest:
                if open_[target]:
                    backward[number] = True
                elif rank[target] < 0:
                    rank[target] = met
                    met += 1
                    open_[target] = True
                    path.append((target, iter(leaving[target])))
                    break
            else:
                open_[node] = False
                path.pop()
    return backward, rank


def layer(count: int, arcs: Sequence[Link]) -> list[int]:
    """The column of each node of an acyclic graph: as early as it can be, then later where that shortens links."""
    after: list[list[int]] = [[] for _ in range(count)]
    before = [0] * count
    for source, target in arcs:
        after[source].append(target)
        before[target] += 1
    missing = before.copy()
    column = [0] * count
    ready = deque(node for node in range(count) if not missing[node])
    order = []
    while ready:
        node = ready.popleft()
        order.append(node)
        following = column[node] + 1
        for target in after[node]:
            column[target] = max(column[target], following)
            missing[target] -= 1
            if not missing[target]:
                ready.append(target)
    for node in reversed(order):
        if len(after[node]) > before[node]:
            column[node] = max(column[node], min([column[target] for target in after[node]]) - 1)
    lowest = min(column, default=0)
    return [place - lowest for place in column]
