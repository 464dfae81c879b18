"""Celeriac: durable workflow graphs for people who already run Celery. This is the face a producer imports."""

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
    CeleriacError,
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
    "CeleriacError",
    "Failed",
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
