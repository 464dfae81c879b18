"""Crashes on purpose: a store that dies at the k-th append, before it or right after its commit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, cast

from orchestrator.ports.records import Change
from orchestrator.ports.store import Store, Transaction


class SimulatedCrash(BaseException):
    """The process ended here. Not an Exception: nothing may catch it and go on, as nothing can after `kill -9`."""


class CrashingStore:
    """Wraps a store and crashes once, `before` or `after` the commit of the transaction with the k-th append."""

    def __init__(self, store: Store, *, at: int, when: str) -> None:
        if when not in ("before", "after"):
            raise ValueError("when is 'before' or 'after'")
        self._store = store
        self._at = at
        self._when = when
        #: How many appends were seen.
        self.appends = 0
        self.crashed = False

    @contextmanager
    def transaction(self) -> Iterator[Transaction]:
        """As the store's own, up to the crash."""
        due = False
        with self._store.transaction() as tx:
            counting = _Counting(tx)
            yield cast(Transaction, counting)
            self.appends += counting.appends
            due = not self.crashed and counting.appends > 0 and self.appends >= self._at
            if due and self._when == "before":
                self.crashed = True
                raise SimulatedCrash
        if due:
            self.crashed = True
            raise SimulatedCrash

    def reading(self) -> Any:
        """As the store's own."""
        return self._store.reading()

    def close(self) -> None:
        """As the store's own."""
        self._store.close()


class _Counting:
    """A transaction that counts its appends."""

    def __init__(self, tx: Transaction) -> None:
        self._tx = tx
        self.appends = 0

    def append(self, changes: Sequence[Change]) -> None:
        self.appends += 1
        self._tx.append(changes)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._tx, name)
