"""Celeriac: durable workflow graphs for people who already run Celery. This is the face a producer imports.

The names are imported when they are first asked for, so that a program pays for database and broker only when it
uses them, and `celeriac --help` for neither.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from orchestrator import graph
    from orchestrator.client import Orchestrator
    from orchestrator.core.graph import Definition as WorkflowDefinition
    from orchestrator.core.journal import JournalEntry
    from orchestrator.core.outcomes import Ambiguous, Failed, Skipped, Succeeded, Suspended
    from orchestrator.core.snapshot import RunSnapshot
    from orchestrator.engine.starting import Started
    from orchestrator.errors import (
        BadData,
        BadSettings,
        BrokerUnavailable,
        CeleriacError,
        InvalidCronExpression,
        NotFound,
        Reason,
        Refused,
        Rejected,
        StoreUnavailable,
        WaitClosed,
    )

__all__ = [
    "Ambiguous",
    "BadData",
    "BadSettings",
    "BrokerUnavailable",
    "CeleriacError",
    "Failed",
    "InvalidCronExpression",
    "JournalEntry",
    "NotFound",
    "Orchestrator",
    "Reason",
    "Refused",
    "Rejected",
    "RunSnapshot",
    "Skipped",
    "Started",
    "StoreUnavailable",
    "Succeeded",
    "Suspended",
    "WaitClosed",
    "WorkflowDefinition",
    "graph",
]

#: Where each name that is not an error is defined.
_HOMES = {
    "Ambiguous": "orchestrator.core.outcomes",
    "Failed": "orchestrator.core.outcomes",
    "JournalEntry": "orchestrator.core.journal",
    "Orchestrator": "orchestrator.client",
    "RunSnapshot": "orchestrator.core.snapshot",
    "Skipped": "orchestrator.core.outcomes",
    "Started": "orchestrator.engine.starting",
    "Succeeded": "orchestrator.core.outcomes",
    "Suspended": "orchestrator.core.outcomes",
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name == "graph":
        return import_module("orchestrator.graph")
    if name == "WorkflowDefinition":
        return import_module("orchestrator.core.graph").Definition
    return getattr(import_module(_HOMES.get(name, "orchestrator.errors")), name)


def __dir__() -> list[str]:
    return __all__
