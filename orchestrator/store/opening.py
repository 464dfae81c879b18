"""Where URLs are opened: the table of storage backends."""

from __future__ import annotations

from datetime import timedelta

from orchestrator.ports.store import Store
from orchestrator.store.memory import MemoryStore
from orchestrator.store.sql.connecting import PATIENCE
from orchestrator.store.sql.transaction import open_sql_store


def open_store(url: str, *, pool_size: int = 5, echo: bool = False, patience: timedelta = PATIENCE) -> Store:
    """The store behind a URL: ``memory:``, ``sqlite:…`` or ``postgresql:…``; nothing is connected to yet.

    `patience` is how long a lock is waited for; a statement has three times as long, and a session that rests inside a
    transaction is ended after six times as long. Raises `BadSettings` for any other URL.
    """
    if url == "memory:":
        return MemoryStore()
    return open_sql_store(url, pool_size=pool_size, echo=echo, patience=patience)
