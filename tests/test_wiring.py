"""From settings to an engine: nothing is connected to, and what cannot be is said."""

from __future__ import annotations

import logging

import pytest
from celery import Celery

from orchestrator.errors import BadSettings
from orchestrator.settings import Settings
from orchestrator.wiring import _as_record, celery_app, engine_from, remember, settings_of


def test_an_engine_is_made_without_a_word_to_database_or_broker() -> None:
    engine = engine_from(Settings(database_url="postgresql://nobody@127.0.0.1:1/x", broker_url="redis://127.0.0.1:1/0"))
    engine.store.close()


def test_a_database_that_cannot_be_one_is_said() -> None:
    with pytest.raises(BadSettings, match="CELERIAC_DATABASE_URL"):
        engine_from(Settings(database_url="mysql://h/d"))


def test_an_application_remembers_its_settings_and_others_have_those_of_the_environment() -> None:
    settings = Settings(queue="mine")
    assert settings is settings_of(celery_app(settings))
    other = Celery(set_as_current=False)
    assert "celeriac" == settings_of(other).queue
    remember(other, settings)
    assert settings is settings_of(other)


def test_a_log_line_is_the_event_and_what_is_bound_to_it() -> None:
    error = ValueError()
    arguments, options = _as_record(None, "info", {"event": "claim_lost", "attempt": "e.1", "exc_info": error})
    assert (("claim_lost attempt='e.1'",), {"exc_info": error}) == (arguments, options)
    logging.getLogger("celeriac.test").debug(*arguments)
