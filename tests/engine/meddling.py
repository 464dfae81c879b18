"""A store on which somebody else does something at the worst moment: right before a step of a transaction is done."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from typing import Any, cast

from orchestrator.ports.store import Store, Transaction


class Meddled:
    """Wraps a store; at the first call of the named step, `meddle` is done first, once, in a thread of its own."""

    def __init__(self, store: Store, step: str, meddle: Callable[[], object]) -> None:
        self._store = store
        self._step = step
        self._meddle: Callable[[], object] | None = meddle

    @contextmanager
    def transaction(self) -> Iterator[Transaction]:
        with self._store.transaction() as tx:
            yield cast(Transaction, _Step(tx, self))

    def reading(self) -> AbstractContextManager[Transaction]:
        return self._store.reading()

    def close(self) -> None:
        self._store.close()

    def before(self, step: str) -> None:
        if step == self._step and self._meddle is not None:
            meddle, self._meddle = self._meddle, None
            with ThreadPoolExecutor(1) as other:
                other.submit(meddle).result()


class _Step:
    def __init__(self, tx: Transaction, meddled: Meddled) -> None:
        self._tx = tx
        self._meddled = meddled

    def __getattr__(self, name: str) -> Any:
        self._meddled.before(name)
        return getattr(self._tx, name)
