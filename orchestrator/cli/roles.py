"""`celeriac worker` and `celeriac beat`: thin, they hand over to Celery with our apps."""

from __future__ import annotations

import os
import sys

import typer

#: Options behind the role are Celery's.
HANDED_ON = {"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []}


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("worker", context_settings=HANDED_ON)(worker)
    app.command("beat", context_settings=HANDED_ON)(beat)


def worker(context: typer.Context) -> None:
    """Run a worker: Celery's own, with our app; its options are handed on (--help shows them)."""
    _become("workers", "worker", context.args)


def beat(context: typer.Context) -> None:
    """Run beat: Celery's own, with our app; its options are handed on (--help shows them)."""
    _become("beat", "beat", context.args)


def _become(app: str, role: str, arguments: list[str]) -> None:
    from orchestrator.settings import Settings

    Settings()
    os.execv(  # noqa: S606 - it is our own interpreter, and no shell is wanted
        sys.executable, [sys.executable, "-m", "celery", "-A", app, role, *arguments]
    )
