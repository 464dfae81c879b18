"""Beat: Celery's metronome over the engine's loops (``celery -A beat beat``). Law: whatever it does is one batch of a
pump, and any number of beats may run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from celery import Celery

    app: Celery

__all__ = ["app"]


def __getattr__(name: str) -> object:
    if name not in ("app", "celery"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from beat.application import from_environment

    made = globals()["app"] = globals()["celery"] = from_environment()
    return made


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
