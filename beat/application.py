"""The Celery application of a beat process: it publishes, and performs nothing."""

from __future__ import annotations

from functools import cache

from celery import Celery

from orchestrator.settings import Settings
from orchestrator.wiring import celery_app, log_through_logging


@cache
def application() -> Celery:
    """The one application of this process, by the settings of the environment. Raises `BadSettings`."""
    log_through_logging()
    return celery_app(Settings())
