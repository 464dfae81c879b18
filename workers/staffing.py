"""Which performers and which engine the worker of an application has."""

from __future__ import annotations

import weakref
from dataclasses import dataclass

from celery import Celery

from orchestrator.engine.engine import Engine
from orchestrator.performers.table import PerformerTable
from orchestrator.settings import Settings


@dataclass(frozen=True, slots=True)
class Staff:
    """What a worker is made with."""

    settings: Settings
    table: PerformerTable
    #: An engine that is shared with others in this process; else the worker opens its own.
    shared: Engine | None = None


_STAFF: weakref.WeakKeyDictionary[Celery, Staff] = weakref.WeakKeyDictionary()


def staff(app: Celery, given: Staff) -> None:
    """Note what the worker of this application is made with."""
    _STAFF[app] = given


def staff_of(app: Celery) -> Staff:
    """What the worker of this application is made with."""
    return _STAFF[app]
