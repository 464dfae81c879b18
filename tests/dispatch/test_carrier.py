"""The Celery settings: what must hold for every broker."""

from __future__ import annotations

from datetime import timedelta

import pytest

from orchestrator.dispatch.carrier import carrier_settings, impatient_options, scheme_of, transport_options
from orchestrator.dispatch.routes import Routes

HOUR = timedelta(hours=1)


@pytest.mark.parametrize("url", ("redis://h/0", "amqp://h//", "memory://"))
def test_a_message_is_json_acknowledged_late_and_has_no_result(url: str) -> None:
    made = carrier_settings(url, Routes(), prefetch=4, visibility_timeout=HOUR)
    assert (["json"], "json", True, False, None) == (
        made["accept_content"],
        made["task_serializer"],
        made["task_acks_late"],
        made["task_reject_on_worker_lost"],
        made["result_backend"],
    )


def test_redis_brings_back_a_dead_workers_messages_in_seconds() -> None:
    options = transport_options("redis://h/0", visibility_timeout=HOUR)
    assert (3600, 5, 1) == tuple(
        options[name] for name in ("visibility_timeout", "unacked_restore_interval", "unacked_restore_throttle")
    )


def test_memory_is_looked_at_often_enough() -> None:
    assert {"polling_interval": 0.02} == transport_options("memory://", visibility_timeout=HOUR)


@pytest.mark.parametrize("url", ("redis://h/0", "rediss://h/0", "amqp://h//", "pyamqp://h//"))
def test_a_producer_tries_nothing_twice(url: str) -> None:
    assert 0 == impatient_options(url, 1.0)["max_retries"]


def test_of_several_urls_the_first_says_which_broker_it_is() -> None:
    assert "amqp" == scheme_of("amqp://a//;amqp://b//")
