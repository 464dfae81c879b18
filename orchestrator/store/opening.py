"""Where URLs are opened: the table of storage backends."""

from __future__ import annotations

from orchestrator.ports.store import Store
from orchestrator.store.memory import MemoryStore
from orchestrator.store.sql.transaction import open_sql_store


def open_store(url: str, *, pool_size: int = 5) -> Store:
    """The store behind a URL: ``memory:``, ``sqlite:…`` or ``postgresql:…``. Raises `BadSettings` for any other."""
    if url == "memory:":
        return MemoryStore()
    return open_sql_store(url, pool_size=pool_size)
