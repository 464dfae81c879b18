"""The store in memory, for tests and the testing kit: one writer at a time; readers see what was committed when they
began and wait for nobody. How rows are kept is said in `in_memory`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from orchestrator.errors import Conflict
from orchestrator.store.in_memory.attempts import Attempts
from orchestrator.store.in_memory.definitions import Definitions
from orchestrator.store.in_memory.journal import Journal
from orchestrator.store.in_memory.read_models import ReadModels
from orchestrator.store.in_memory.tables import Tables
from orchestrator.store.in_memory.timers import Timers
from orchestrator.store.turns import Turns


class MemoryTransaction(Definitions, Journal, Attempts, Timers, ReadModels):
    """`ports.store.Transaction` on tables of its own, which take the place of the store's at the commit."""


class MemoryStore:
    """`ports.store.Store` in memory; thread-safe."""

    def __init__(self) -> None:
        self._tables = Tables()
        self._turns = Turns(one_at_a_time=True)

    @contextmanager
    def transaction(self) -> Iterator[MemoryTransaction]:
        """Read and write; see the port."""
        with self._turns.taken():
            transaction = MemoryTransaction(self._tables.copy(), writable=True)
            yield transaction
            if transaction.failed:
                raise Conflict("a step of this transaction failed, so nothing of it was stored: begin a new one")
            self._tables = transaction.read

    @contextmanager
    def reading(self) -> Iterator[MemoryTransaction]:
        """One consistent view; see the port."""
        yield MemoryTransaction(self._tables, writable=False)

    def close(self) -> None:
        """Nothing to give up."""
