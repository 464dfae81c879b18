"""Ringing over Celery: what a message holds, and what a caller pays when the broker is away, silent or back."""

from __future__ import annotations

import json
import os
import signal
import socket
import time
import uuid
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
import redis
from kombu import Connection
from structlog.testing import capture_logs

from orchestrator.dispatch.celery import CeleryDispatcher
from orchestrator.ports.dispatch import Doorbell
from orchestrator.settings import Settings
from orchestrator.wiring import celery_app
from tests.services.presence import free_port
from tests.services.redis import RedisServer

#: One call may cost a caller no more than this, in seconds, whatever the broker does.
DEAREST = 2.0


def bell(number: int = 1, *, capability: str = "orders.ship-line@1") -> Doorbell:
    return Doorbell(f"e{number}.1", "run-1", capability, timedelta(seconds=30))


Make = Callable[..., CeleryDispatcher]


@pytest.fixture
def made() -> Iterator[Make]:
    """Makes dispatchers, and closes them."""
    dispatchers: list[CeleryDispatcher] = []

    def make(broker_url: str, **settings: Any) -> CeleryDispatcher:
        given = Settings(broker_url=broker_url, **settings)
        dispatchers.append(CeleryDispatcher(celery_app(given), given.routing))
        return dispatchers[-1]

    yield make
    for dispatcher in dispatchers:
        dispatcher.close()


def taken(url: str, queue: str) -> Any:
    """The next message of a queue."""
    with Connection(url) as connection, connection.SimpleQueue(queue) as messages:
        message = messages.get(timeout=10)
        message.ack()
        return message


@pytest.fixture(params=("memory", "redis", "rabbitmq"))
def broker(request: pytest.FixtureRequest) -> str:
    """The URL of each broker in turn."""
    if request.param == "memory":
        return "memory://localhost"
    return str(request.getfixturevalue(f"{request.param}_url"))


def test_a_message_is_named_by_its_capability_and_holds_ids_alone(made: Make, broker: str) -> None:
    queue = f"q-{uuid.uuid4().hex}"
    assert 1 == made(broker, queue=queue).ring([bell()])
    message = taken(broker, queue)
    assert ("orders.ship-line@1", "e1.1", "attempt", [30.0, None]) == tuple(
        message.headers[name] for name in ("task", "id", "celeriac", "timelimit")
    )
    arguments, keywords, _ = json.loads(message.body)
    assert (["e1.1"], {"run": "run-1"}) == (arguments, keywords)


def test_a_doorbell_goes_to_the_queue_of_its_capability(made: Make, broker: str) -> None:
    slow = f"slow-{uuid.uuid4().hex}"
    rest = f"rest-{uuid.uuid4().hex}"
    assert 2 == made(broker, queue=rest, routes=f"slow.*={slow}").ring([bell(1), bell(2, capability="slow.x@1")])
    assert ("e1.1", "e2.1") == (taken(broker, rest).headers["id"], taken(broker, slow).headers["id"])


def test_a_broker_that_is_away_costs_little_once_and_nothing_after(made: Make) -> None:
    for url in (f"redis://127.0.0.1:{free_port()}/0", f"amqp://127.0.0.1:{free_port()}//"):
        dispatcher = made(url)
        with capture_logs() as lines:
            assert (0, 0) == (dispatcher.ring([bell(1), bell(2)]), dispatcher.ring([bell(3)]))
            dispatcher.call_off(["e1.1"])
        assert ["broker_away"] == [line["event"] for line in lines]


@pytest.mark.parametrize("scheme", ("redis", "amqp"))
def test_a_broker_that_accepts_and_says_nothing_is_given_up(made: Make, scheme: str) -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        dispatcher = made(f"{scheme}://127.0.0.1:{silent.getsockname()[1]}//")
        began = time.monotonic()
        assert 0 == dispatcher.ring([bell(1), bell(2)])
        assert time.monotonic() - began < DEAREST
        began = time.monotonic()
        assert 0 == dispatcher.ring([bell(1)] * 100)
        assert time.monotonic() - began < 0.1


def test_a_broker_that_falls_silent_is_given_up_and_found_again(made: Make, redis_server: RedisServer) -> None:
    dispatcher = made(redis_server.url)
    assert 1 == dispatcher.ring([bell()])
    with redis.Redis.from_url(redis_server.url) as client:
        pid = int(client.info("server")["process_id"])
    os.kill(pid, signal.SIGSTOP)
    try:
        began = time.monotonic()
        assert 0 == dispatcher.ring([bell(2)])
        assert time.monotonic() - began < DEAREST
    finally:
        os.kill(pid, signal.SIGCONT)
    rested(dispatcher)
    assert 1 == dispatcher.ring([bell(3)])


def test_a_broker_that_was_started_again_gets_the_very_next_doorbell(made: Make, redis_server: RedisServer) -> None:
    dispatcher = made(redis_server.url)
    assert 1 == dispatcher.ring([bell()])
    redis_server.stop()
    redis_server.start()
    assert 1 == dispatcher.ring([bell(2)])


def test_an_outage_is_told_once_and_its_end_too(made: Make, redis_server: RedisServer) -> None:
    dispatcher = made(redis_server.url)
    redis_server.stop()
    try:
        with capture_logs() as lines:
            for _ in range(3):
                assert 0 == dispatcher.ring([bell()])
                rested(dispatcher)
            redis_server.start()
            assert 1 == dispatcher.ring([bell()])
    finally:
        redis_server.start()
    assert ["broker_away", "broker_back"] == [line["event"] for line in lines]


def rested(dispatcher: CeleryDispatcher) -> None:
    """Let the rest after a failure be over."""
    dispatcher._resting_until = 0.0


def test_a_password_is_not_logged(made: Make) -> None:
    with capture_logs() as lines:
        made(f"redis://:secret@127.0.0.1:{free_port()}/0").ring([bell()])
    assert "secret" not in str(lines)


def test_a_dispatcher_that_was_inherited_by_a_fork_opens_a_line_of_its_own(made: Make, redis_url: str) -> None:
    queue = f"q-{uuid.uuid4().hex}"
    dispatcher = made(redis_url, queue=queue)
    assert 1 == dispatcher.ring([bell(1)])
    child = os.fork()
    if child == 0:
        os._exit(0 if dispatcher.ring([bell(2)]) == 1 else 1)
    assert 0 == os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert 1 == dispatcher.ring([bell(3)])
    assert {"e1.1", "e2.1", "e3.1"} == {taken(redis_url, queue).headers["id"] for _ in range(3)}
