"""Connections and forks: a child must neither use its parent's connections nor say goodbye on them."""

from __future__ import annotations

import os
import weakref
from typing import Any, Final

from sqlalchemy import Engine

#: The PostgreSQL connections of each engine, with the process that opened them.
_OPENED: weakref.WeakKeyDictionary[Engine, weakref.WeakKeyDictionary[Any, int]] = weakref.WeakKeyDictionary()

#: The pools a child has inherited, kept for ever: to be collected would be to be closed, and an SQLite handle that is
#: closed here takes the parent's database for abandoned.
_INHERITED: Final[list[object]] = []


def remember(engine: Engine, connection: Any) -> None:
    """A connection was opened by this process."""
    _OPENED.setdefault(engine, weakref.WeakKeyDictionary())[connection] = os.getpid()


def forget_inherited(engine: Engine) -> None:
    """In a forked child: let go of the parent's connections without a word to the server; nothing in the parent.

    The sockets are closed in this process only, so that the server notices when the parent dies: their numbers lead
    nowhere before libpq says goodbye on them.
    """
    opened = _OPENED.get(engine)
    inherited = [connection for connection, process in (opened or {}).items() if process != os.getpid()]
    for connection in inherited:
        if not connection.closed:
            nowhere = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
            os.dup2(nowhere, connection.fileno(), inheritable=False)
            os.close(nowhere)
            connection.close()
    _INHERITED.append(engine.pool)
    engine.dispose(close=False)
