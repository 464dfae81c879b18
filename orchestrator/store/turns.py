"""Whose turn it is: transactions never nest in a thread, and where a store has one writer its threads queue here."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

from orchestrator.errors import Conflict


class Turns:
    """Lets a thread in when it has no transaction of this store open, and, one at a time, when no other thread has."""

    def __init__(self, *, one_at_a_time: bool, patience: timedelta = timedelta(seconds=10)) -> None:
        self._lock = threading.Lock() if one_at_a_time else None
        self._patience = patience.total_seconds()
        self._here = threading.local()

    @contextmanager
    def taken(self) -> Iterator[None]:
        """Raises RuntimeError for a transaction inside a transaction, which would wait for itself, and `Conflict` when
        others do not come to an end."""
        if getattr(self._here, "inside", False):
            raise RuntimeError("a transaction is open in this thread already: transactions do not nest")
        if self._lock is not None and not self._lock.acquire(timeout=self._patience):
            raise Conflict("another thread has kept the database to itself for too long: try again")
        self._here.inside = True
        try:
            yield
        finally:
            self._here.inside = False
            if self._lock is not None:
                self._lock.release()
