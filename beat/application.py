"""The Celery application of ``celery -A beat``; it has no tasks of its own."""

from __future__ import annotations

from celery import Celery

from orchestrator.settings import Settings
from orchestrator.wiring import celery_app, log_through_logging


def from_environment() -> Celery:
    """From the settings of the environment, made current. Raises `BadSettings`."""
    app = celery_app(Settings())
    log_through_logging()
    app.set_default()
    app.set_current()
    return app
