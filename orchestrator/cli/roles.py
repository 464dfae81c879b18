"""`celeriac worker` and `celeriac beat`: thin, they hand over to Celery with our apps."""

from __future__ import annotations

import os
import sys

import typer

from orchestrator.cli.terminal import BrokerUrl, DatabaseUrl, settings_for

#: Options behind the role are Celery's.
HANDED_ON = {"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []}


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("worker", context_settings=HANDED_ON)(worker)
    app.command("beat", context_settings=HANDED_ON)(beat)


def worker(context: typer.Context, database_url: DatabaseUrl = None, broker_url: BrokerUrl = None) -> None:
    """Run a worker: Celery's own, with our app; its options are handed on (--help shows them)."""
    _become("workers", "worker", context.args, urls=(database_url, broker_url))


def beat(context: typer.Context, database_url: DatabaseUrl = None, broker_url: BrokerUrl = None) -> None:
    """Run beat: Celery's own, with our app; its options are handed on (--help shows them)."""
    _become("beat", "beat", context.args, urls=(database_url, broker_url))


def _become(app: str, role: str, arguments: list[str], *, urls: tuple[str | None, str | None]) -> None:
    """What is named here reaches Celery's process through its environment."""
    settings_for(*urls)
    for name, url in zip(("CELERIAC_DATABASE_URL", "CELERIAC_BROKER_URL"), urls, strict=True):
        if url is not None:
            os.environ[name] = url
    os.execv(  # noqa: S606 - it is our own interpreter, and no shell is wanted
        sys.executable, [sys.executable, "-m", "celery", "-A", app, role, *arguments]
    )
