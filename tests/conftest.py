"""What every test may ask for: the services, the outside cases; and how a run of the tests reports what it left out."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.services.postgres import postgres_database
from tests.services.presence import LEFT_OUT, in_ci, leave_out
from tests.services.rabbitmq import rabbitmq_virtual_host
from tests.services.redis import RedisServer, own_redis, redis_database

PROJECT = Path(__file__).resolve().parents[1]

#: Fixture to marker, so that `pytest -m "not rabbitmq"` chooses without anyone having to remember the marker.
SERVICES = {"postgres_url": "postgres", "redis_url": "redis", "redis_server": "redis", "rabbitmq_url": "rabbitmq"}

settings.register_profile("dev", max_examples=25, deadline=None)
settings.register_profile(
    "ci", max_examples=100, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE") or ("ci" if in_ci() else "dev"))


# --- what a test may ask for ------------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def project() -> Path:
    """The checkout."""
    return PROJECT


@pytest.fixture(scope="session")
def cases() -> Path:
    """The folder of cases from outside, which the project does not ship."""
    folder = Path(os.environ.get("CELERIAC_TEST_CASES") or PROJECT.parent / "shared" / "cases")
    if not folder.is_dir():
        leave_out("the outside cases", "no folder shared/cases beside the checkout, nor named by CELERIAC_TEST_CASES")
    return folder


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """A PostgreSQL database of this test process alone, empty at first. Tests share it: use ids of your own."""
    with postgres_database() as url:
        yield url


@pytest.fixture(scope="session")
def redis_server() -> Iterator[RedisServer]:
    """A Redis of this test process alone that a test may stop, start and flush; leave it running."""
    with own_redis() as server:
        yield server


@pytest.fixture(scope="session")
def redis_url() -> Iterator[str]:
    """A Redis database of this test process alone; nobody stops it (see `redis_server`)."""
    with redis_database() as url:
        yield url


@pytest.fixture(scope="session")
def rabbitmq_url() -> Iterator[str]:
    """A RabbitMQ virtual host of this test process alone where one can be made: use queue names of your own."""
    with rabbitmq_virtual_host() as url:
        yield url


# --- how a run of the tests is made and reported ----------------------------------------------------------------------


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark each test with the services that its fixtures need."""
    for item in items:
        for fixture in getattr(item, "fixturenames", ()):
            if fixture in SERVICES:
                item.add_marker(SERVICES[fixture])


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> Generator[None]:
    """Say in the last lines what was left out, and how many tests that were."""
    yield
    left_out: Counter[str] = Counter()
    for report in terminalreporter.stats.get("skipped", []):
        if isinstance(report.longrepr, tuple) and LEFT_OUT in report.longrepr[2]:
            left_out[LEFT_OUT + report.longrepr[2].partition(LEFT_OUT)[2]] += 1
    terminalreporter.ensure_newline()
    for reason, count in sorted(left_out.items()):
        terminalreporter.write_line(f"{reason}: {count} tests" if count > 1 else f"{reason}: 1 test", yellow=True)
    if not left_out and not terminalreporter.stats.get("error"):
        terminalreporter.write_line("nothing was left out")
