"""Crashes on purpose: a store that dies at the k-th append or the k-th commit, before it or right after it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Literal, cast

from orchestrator.ports.records import Change
from orchestrator.ports.store import Store, Transaction


class SimulatedCrash(BaseException):
    """The process ended here. Not an Exception: nothing may catch it and go on, as nothing can after `kill -9`."""


class CrashingStore:
    """Wraps a store and crashes once, `before` or `after` the commit of the transaction with the k-th append.

    With `of="commit"` every commit counts, also those that append no fact: claims, leases, what beat takes.
    """

    def __init__(
        self,
        store: Store,
        *,
        at: int,
        when: Literal["before", "after"],
        of: Literal["append", "commit"] = "append",
    ) -> None:
        if when not in ("before", "after"):
            raise ValueError("when is 'before' or 'after'")
        if of not in ("append", "commit"):
            raise ValueError("of is 'append' or 'commit'")
        self._store = store
        self._at = at
        self._when = when
        self._of = of
        #: How many appends were seen, and how many commits.
        self.appends = 0
        self.commits = 0
        self.crashed = False

    @contextmanager
    def transaction(self) -> Iterator[Transaction]:
        """As the store's own, up to the crash."""
        with self._store.transaction() as tx:
            counting = _Counting(tx)
            yield cast(Transaction, counting)
            self.appends += counting.appends
            self.commits += 1
            seen, counts = (self.appends, counting.appends > 0) if self._of == "append" else (self.commits, True)
            due = counts and not self.crashed and seen >= self._at
            self.crashed = self.crashed or due
            if due and self._when == "before":
                raise SimulatedCrash
        if due:
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
