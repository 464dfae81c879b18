"""Several that act at the same moment."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")


def at_once(act: Callable[[T], R], things: Sequence[T]) -> list[R]:
    """Do it for all of these in threads of their own that start together."""
    barrier = threading.Barrier(len(things))

    def together(thing: T) -> R:
        barrier.wait()
        return act(thing)

    with ThreadPoolExecutor(len(things)) as pool:
        return list(pool.map(together, things))
