"""Calls from the desk's thread to the thread that owns the worker's connections and pool."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

import structlog
from vine import promise

log = structlog.stdlib.get_logger(__name__)


class LoopCalls:
    """Where Celery runs an event loop, calls are queued, in order, and the loop is woken; without one they are made at
    once, by whoever asks, as Celery's own callbacks are there."""

    def __init__(self, hub: Any | None) -> None:
        self._hub = hub
        self._calls: deque[Callable[[], None]] = deque()
        # One object, so that the loop holds at most one pending wake-up of ours.
        self._wake = promise(self.make)

    def __call__(self, call: Callable[[], None]) -> None:
        """Have something called."""
        self._calls.append(call)
        if self._hub is None:
            self.make()
        else:
            self._hub.call_soon(self._wake)

    def make(self) -> None:
        """Make every call that is queued; none of them harms another."""
        while self._calls:
            try:
                call = self._calls.popleft()
            except IndexError:  # another thread took it
                return
            try:
                call()
            except Exception:
                log.exception("call_failed", call=repr(call))
