"""The containers keep to themselves: what they publish is on loopback, and no secret is written down."""

from __future__ import annotations

import re
from typing import Any

import pytest
import yaml

from tests.house.sources import PROJECT


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    """The compose file."""
    document: dict[str, Any] = yaml.safe_load((PROJECT / "docker-compose.yml").read_text(encoding="utf-8"))
    return document


def test_every_published_port_is_on_loopback(compose: dict[str, Any]) -> None:
    ports = [port for service in compose["services"].values() for port in service.get("ports", ())]
    assert ports
    assert [] == [port for port in ports if not port.startswith("127.0.0.1:")]


def test_every_secret_comes_from_the_environment(compose: dict[str, Any]) -> None:
    settings = [pair for service in compose["services"].values() for pair in service.get("environment", {}).items()]
    secrets = [value for name, value in settings if name.endswith(("PASSWORD", "PASS"))]
    in_addresses = [value.split("@")[0].split(":", 2)[2] for _, value in settings if re.match(r"\w+://\w+:.+@", value)]
    logins = [word.split("=")[1] for word in compose["services"]["flower"]["command"] if "auth" in word]
    assert all((secrets, in_addresses, logins))
    assert [] == [text for text in (*secrets, *in_addresses, *logins) if not text.startswith("${")]


def test_every_service_that_is_waited_for_is_there(compose: dict[str, Any]) -> None:
    services = compose["services"]
    waited_for = {name for service in services.values() for name in service.get("depends_on", ())}
    assert {"migrate", "postgres", "redis", "rabbitmq"} == waited_for
    assert waited_for <= set(services)


def test_two_beats_share_the_work(compose: dict[str, Any]) -> None:
    assert 2 == compose["services"]["beat"]["deploy"]["replicas"]
