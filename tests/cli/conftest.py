"""A database in a folder of its own, `celeriac` on it, and workers and beat that stand still until they are told."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
import yaml

from orchestrator.cli.main import application, run
from orchestrator.store.sql.transaction import SqlStore, open_sql_store
from orchestrator.testing.clock import MovableClock
from orchestrator.testing.simulation import Simulation
from tests.cli.shell import ORDER, Celeriac


@pytest.fixture
def celeriac(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Celeriac:
    """Run a command in this process: exit code, output, error output."""
    for name in [name for name in os.environ if name.startswith("CELERIAC_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("CELERIAC_DATABASE_URL", f"sqlite:///{tmp_path}/celeriac.db")
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.chdir(tmp_path)

    def call(*arguments: str) -> tuple[int, str, str]:
        code = run(arguments, application(arguments))
        told = capfd.readouterr()
        return code, told.out, told.err

    return call


@pytest.fixture
def simulation(celeriac: Celeriac, tmp_path: Path) -> Iterator[Simulation]:
    """Workers and beat on the same database."""
    celeriac("db", "upgrade")
    store: SqlStore = open_sql_store(f"sqlite:///{tmp_path}/celeriac.db")
    yield Simulation(store=store, clock=MovableClock(datetime.now(UTC)), scripts={"test.work@1": {"n": 1}})
    store.close()


@pytest.fixture
def order(celeriac: Celeriac, tmp_path: Path) -> str:
    """A published workflow and the path of its document."""
    path = tmp_path / "order.yaml"
    path.write_text(yaml.safe_dump(ORDER), encoding="utf-8")
    assert 0 == celeriac("definitions", "publish", str(path))[0]
    return str(path)
