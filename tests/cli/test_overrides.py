"""What stands before the environment: --database-url, --broker-url, --scope and --debug."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from orchestrator.errors import NotFound
from orchestrator.testing.simulation import Simulation
from tests.cli.shell import Celeriac, answer, ring, started
from tests.cli.test_entry_point import shell

#: Nobody listens there.
NOWHERE = "redis://127.0.0.1:1/0"


def test_a_named_broker_stands_before_the_environment(
    celeriac: Celeriac, simulation: Simulation, order: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CELERIAC_BROKER_URL", "carrier-pigeon://x")
    code, _, err = celeriac("runs", "start", "test")
    assert (1, True) == (code, "CELERIAC_BROKER_URL" in err)
    run_id = answer(celeriac, "runs", "start", "test", "--broker-url", "memory://")["runId"]
    code, _, err = celeriac("signal", run_id, "paid@1", "--broker-url", "memory://")
    assert (0, "") == (code, err)


def test_every_command_that_moves_a_run_takes_a_broker(celeriac: Celeriac) -> None:
    moving = (
        *(("runs", verb) for verb in ("start", "cancel", "reconcile")),
        *(("waits", verb) for verb in ("approve", "reject", "resume", "cancel")),
        ("signal",),
        ("complete",),
        ("doctor",),
    )
    for arguments in moving:
        _, out, _ = celeriac(*arguments, "--help")
        assert {"--broker-url", "--database-url"} <= set(out.split()), arguments


def test_doctor_looks_at_the_broker_that_is_named(celeriac: Celeriac, simulation: Simulation) -> None:
    assert 0 == celeriac("doctor")[0]
    code, out, _ = celeriac("doctor", "--broker-url", NOWHERE)
    assert 1 == code
    assert re.search(r"^fail  broker: redis://\S*127\.0\.0\.1:1/0 does not answer", out, re.MULTILINE)


def test_doctor_tells_of_settings_that_cannot_be_used(celeriac: Celeriac, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CELERIAC_LEASE", "banana")
    code, out, err = celeriac("doctor")
    assert (1, "") == (code, err)
    assert out.startswith("fail  settings: CELERIAC_LEASE is 'banana'")
    assert 1 == len(out.splitlines())
    code, out, _ = celeriac("doctor", "--json")
    assert (1, True) == (code, out.startswith('[{"what": "settings", "state": "fail"'))


def test_the_scope_may_come_from_the_environment(
    celeriac: Celeriac, simulation: Simulation, order: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_id = started(celeriac)
    monkeypatch.setenv("CELERIAC_SCOPE", "other")
    assert [] == answer(celeriac, "runs", "list")
    assert [run_id] == [row["runId"] for row in answer(celeriac, "runs", "list", "--scope", "default")]
    ring(simulation)
    assert [] == answer(celeriac, "waits", "list")


def test_debug_before_the_noun_shows_where_an_error_came_from(celeriac: Celeriac, order: str) -> None:
    with pytest.raises(NotFound):
        celeriac("--debug", "runs", "show", "no-such-run")
    assert 1 == celeriac("runs", "show", "no-such-run")[0]


def test_debug_that_is_switched_off_is_off(celeriac: Celeriac, order: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CELERIAC_DEBUG", "0")
    assert 1 == celeriac("runs", "show", "no-such-run")[0]


@pytest.mark.parametrize("role", ("worker", "beat"))
def test_a_role_takes_its_urls_and_hands_the_rest_on(role: str, tmp_path: Path) -> None:
    own = ("--database-url", f"sqlite:///{tmp_path}/celeriac.db", "--broker-url", "memory://")
    done = shell(role, *own, "--help", CELERIAC_BROKER_URL=NOWHERE)
    assert (0, True) == (done.returncode, "--loglevel" in done.stdout)
    done = shell(role, "--broker-url", "carrier-pigeon://x", "--help")
    assert (1, "") == (done.returncode, done.stdout)
    assert "CELERIAC_BROKER_URL" in done.stderr


def test_usage_speaks_of_celeriac_however_it_was_called() -> None:
    done = shell("runs", "start")
    assert 2 == done.returncode
    assert done.stderr.startswith("Usage: celeriac runs start")
    assert "Traceback" not in done.stderr
