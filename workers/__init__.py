"""Workers: performing attempts of workflows in Celery's workers, with any of its pools. Law: the parent process of a
worker speaks to store and broker, its children run performers and nothing else.

This is the face for those who write performers. The application (``celery -A workers worker``) is made when it is asked
for, so that importing a mark costs nothing and reads no settings.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.core.outcomes import Ambiguous, Failed, Skipped, Succeeded, Suspended
from orchestrator.performers.invocation import Invocation
from orchestrator.performers.performer import performer

if TYPE_CHECKING:
    from celery import Celery

    app: Celery

__all__ = ["Ambiguous", "Failed", "Invocation", "Skipped", "Succeeded", "Suspended", "app", "performer"]


def __getattr__(name: str) -> object:
    if name not in ("app", "celery"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from workers.application import from_environment

    made = globals()["app"] = globals()["celery"] = from_environment()
    return made


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
