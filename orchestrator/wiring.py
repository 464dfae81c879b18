"""From settings to a working engine: which adapter stands behind which port. The one place that knows all of them."""

from __future__ import annotations

import weakref
from collections.abc import MutableMapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

import structlog
from celery import Celery

from orchestrator.core.admission import AdmissionPolicy
from orchestrator.dispatch.carrier import carrier_settings
from orchestrator.dispatch.celery import CeleryDispatcher
from orchestrator.engine.engine import Engine
from orchestrator.settings import Settings
from orchestrator.store.opening import open_store


class SystemClock:
    """The clock port over the clock of this machine."""

    def now(self) -> datetime:
        """Aware, UTC."""
        return datetime.now(UTC)


CLOCK: Final = SystemClock()

_SETTINGS: weakref.WeakKeyDictionary[Celery, Settings] = weakref.WeakKeyDictionary()


def engine_from(settings: Settings, *, app: Celery | None = None, policies: Sequence[AdmissionPolicy] = ()) -> Engine:
    """An engine over what the settings name; nothing is connected to yet. Doorbells are published through `app`, or
    through an application of its own. Raises `BadSettings`."""
    return Engine(
        open_store(settings.database_url, pool_size=settings.database_pool),
        CeleryDispatcher(app or celery_app(settings), settings.routing),
        CLOCK,
        limits=settings.data_limits,
        lease=settings.lease,
        policies=policies,
        cached_runs=settings.cached_runs,
    )


def close(engine: Engine) -> None:
    """Give up the connections of an engine: to the database, and to the broker."""
    engine.store.close()
    if isinstance(engine.dispatcher, CeleryDispatcher):
        engine.dispatcher.close()


def celery_app(settings: Settings, kind: type[Celery] = Celery) -> Celery:
    """A Celery application that publishes and has no tasks; it is not made the current one."""
    app = kind("celeriac", set_as_current=False)
    app.conf.update(
        carrier_settings(
            settings.broker_url,
            settings.routing,
            prefetch=settings.prefetch,
            visibility_timeout=settings.visibility_timeout,
        )
    )
    remember(app, settings)
    return app


def remember(app: Celery, settings: Settings) -> None:
    """Note which settings an application runs with, for whoever is only given the application."""
    _SETTINGS[app] = settings


def settings_of(app: Celery) -> Settings:
    """The settings an application runs with: those remembered for it, else those of the environment."""
    return _SETTINGS.get(app) or Settings()


def log_through_logging() -> None:
    """Let our log lines go through the standard library's logging, and so through Celery's handlers and levels; an
    application that has configured structlog itself keeps what it has."""
    if not structlog.is_configured():
        structlog.configure(
            processors=[structlog.stdlib.filter_by_level, _as_record],
            logger_factory=structlog.stdlib.LoggerFactory(),
            wrapper_class=structlog.stdlib.BoundLogger,
            cache_logger_on_first_use=True,
        )


def _as_record(_: Any, __: str, event: MutableMapping[str, Any]) -> tuple[tuple[str], dict[str, Any]]:
    """One line: the event, then what is bound to it."""
    error = event.pop("exc_info", None)
    text = " ".join((str(event.pop("event")), *(f"{name}={value!r}" for name, value in event.items())))
    return (text,), {"exc_info": error}
