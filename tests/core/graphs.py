"""The few shapes of workflow that most tests of the core need, put together from parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from tests.definitions import START, action, document, for_each, join, node


def chain(*nodes: Mapping[str, Any], edges: Sequence[str] = ()) -> dict[str, Any]:
    """The nodes one after another, each left through the first of its outlets; and further edges."""
    return document(START, *nodes, edges=(*_line(START, *nodes), *edges))


def single(given: Mapping[str, Any], *others: Mapping[str, Any], edges: Sequence[str] = ()) -> dict[str, Any]:
    """One node after the trigger; the others only where edges lead."""
    return document(START, given, *others, edges=(f"start.next>{given['id']}", *edges))


def gathered(
    *body: Mapping[str, Any],
    edges: Sequence[str] | None = None,
    bound: int | None = 10,
    fan: Mapping[str, Any] | None = None,
    gather: Mapping[str, Any] | None = None,
    others: Sequence[Mapping[str, Any]] = (),
    **mode: Any,
) -> dict[str, Any]:
    """Start, a fan-out over `lines` with this body, its join, then `after` or `rest`.

    Where no edges are given the body is one line from `each` to the join; else they say all of it, and more.
    """
    first = for_each(configuration={} if bound is None else {"maxParallelism": bound}, **(fan or {}))
    last = join(configuration=mode, **(gather or {}))
    ways = [f"gather.{outlet}>{to}" for outlet, to in _AFTER if outlet in last["outlets"]]
    inner = _line(first, *body, last) if edges is None else edges
    nodes = (START, first, *body, last, action("after"), action("rest"), *others)
    return document(*nodes, edges=("start.next>fan", *inner, *ways))


_AFTER = (("completed", "after"), ("partial", "rest"))


def _line(*nodes: Mapping[str, Any]) -> list[str]:
    return [f"{a['id']}.{a['outlets'][0]}>{b['id']}" for a, b in pairwise(nodes)]


def lines(*keys: str, **more: Any) -> dict[str, Any]:
    """A payload with an item for each key."""
    return {"lines": [{"key": key, **more} for key in keys]}


def tries(attempts: int, **policy: Any) -> dict[str, Any]:
    """A policy with maxAttempts; the delay is the default of 30 s unless it is given."""
    return {"maxAttempts": attempts, **policy}


def signal_wait(id: str = "w", *outlets: str, **configuration: Any) -> dict[str, Any]:
    """A wait for a signal with the usual outlets, or these."""
    return node(id, "wait", *(outlets or ("resumed", "cancelled", "expired")), configuration=configuration)


def timer(id: str = "t", after: str = "00:01:00", *outlets: str) -> dict[str, Any]:
    """A timer with its one outlet, or these."""
    return node(id, "wait", *(outlets or ("elapsed",)), configuration={"kind": "timer", "after": after})


def approval(id: str = "ok", *outlets: str, **configuration: Any) -> dict[str, Any]:
    """An approval with the usual outlets, or these."""
    return node(id, "approval", *(outlets or ("approved", "rejected", "expired")), configuration=configuration)
