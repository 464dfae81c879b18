"""Settings: what the environment may say, and the sentence that answers what it may not."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from orchestrator.errors import BadSettings
from orchestrator.settings import Settings


@pytest.fixture(autouse=True)
def _an_empty_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in Settings.model_fields:
        monkeypatch.delenv(f"CELERIAC_{name.upper()}", raising=False)


def test_what_is_not_said_is_the_embedded_default() -> None:
    made = Settings()
    assert ("sqlite:///celeriac.db", "memory://", "celeriac") == (made.database_url, made.broker_url, made.queue)


def test_the_environment_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CELERIAC_PERFORMERS", "orders.performers, billing")
    monkeypatch.setenv("CELERIAC_ROUTES", "slow.*=slow")
    monkeypatch.setenv("CELERIAC_LIMITS", "billing.*=2")
    monkeypatch.setenv("CELERIAC_LEASE", "00:01:00")
    monkeypatch.setenv("CELERIAC_TICK", "0.5")
    monkeypatch.setenv("CELERIAC_MAX_BYTES", "100000")
    made = Settings()
    assert ("orders.performers", "billing") == made.performers
    assert ("slow", "celeriac") == (made.routing.queue("slow.x@1"), made.routing.queue("x@1"))
    assert (("billing.*", 2),) == made.limits
    assert (timedelta(minutes=1), timedelta(seconds=0.5)) == (made.lease, made.tick)
    assert 100_000 == made.data_limits.max_bytes


def test_what_is_given_by_hand_counts_more_than_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CELERIAC_QUEUE", "there")
    assert "here" == Settings(queue="here").queue


def test_a_setting_that_is_empty_is_not_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CELERIAC_QUEUE", "")
    assert "celeriac" == Settings().queue


@pytest.mark.parametrize(
    ("given", "sentence"),
    (
        ({"broker_url": "http://x"}, "CELERIAC_BROKER_URL .* use one of redis://"),
        ({"lease": "soon"}, "CELERIAC_LEASE is 'soon', which cannot be used: 'soon' is not a duration"),
        ({"tick": "0"}, "CELERIAC_TICK is '0', which cannot be used: it must be longer than 0 s"),
        ({"lease": "20", "heartbeat": "10"}, "CELERIAC_HEARTBEAT must be at most a third of CELERIAC_LEASE"),
        ({"limits": "a=0"}, "CELERIAC_LIMITS is '0'"),
        ({"limits": "a=many"}, "CELERIAC_LIMITS is 'many'"),
        ({"routes": "slow"}, "CELERIAC_ROUTES is 'slow', .* is not of the form glob=value"),
        ({"prefetch": "0"}, "CELERIAC_PREFETCH is '0'"),
        ({"max_bytes": "1"}, "CELERIAC_MAX_BYTES is '1'"),
        ({"nonsense": "1"}, "there is no setting CELERIAC_NONSENSE"),
    ),
)
def test_a_setting_that_cannot_be_used_is_named(given: dict[str, Any], sentence: str) -> None:
    with pytest.raises(BadSettings, match=sentence):
        Settings(**given)


def test_every_setting_that_cannot_be_used_is_named_at_once() -> None:
    with pytest.raises(BadSettings, match=r"CELERIAC_LEASE.*; CELERIAC_PREFETCH"):
        Settings(lease="x", prefetch=0)


def test_urls_are_not_shown() -> None:
    made = Settings(database_url="postgresql://u:secret@h/d", broker_url="redis://:secret@h/0")
    assert "secret" not in repr(made)
    with pytest.raises(BadSettings) as raised:
        Settings(broker_url="http://:secret@h/0")
    assert "secret" not in str(raised.value)
