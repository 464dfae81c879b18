"""Beat: Celery's beat with a scheduler of ours, which looks at what is due: ``celery -A beat beat``. Law: whatever it
does is one batch of a pump, and any number of beats may run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from celery import Celery

    app: Celery

__all__ = ["app"]


def __getattr__(name: str) -> Any:
    if name not in ("app", "celery"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from beat.application import application

    return application()


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
