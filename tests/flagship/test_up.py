"""`celeriac up` runs everything in one process until it is stopped, and does what other processes start."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest

from orchestrator.cli.up import documents, report
from orchestrator.client import Orchestrator
from orchestrator.core.data import JsonText
from orchestrator.core.state import RunStatus
from orchestrator.errors import BadSettings
from orchestrator.ports.records import DefinitionRow
from orchestrator.settings import Settings

PROJECT = Path(__file__).resolve().parents[2]
ROW = DefinitionRow(
    "default", "hello", 2, "", JsonText("{}"), active=True, published_at=datetime(2026, 1, 1, tzinfo=UTC)
)


@contextmanager
def running(*arguments: str, folder: Path, **environment: str) -> Iterator[tuple[subprocess.Popen[str], list[str]]]:
    """The command, up; with what it said until it was ready."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("CELERIAC_")}
    process = subprocess.Popen(
        [str(Path(sys.executable).parent / "celeriac"), "up", *arguments],
        cwd=folder,
        env={**inherited, "PYTHONUNBUFFERED": "1", **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        said = []
        for line in process.stdout:
            said.append(line.rstrip())
            if "Ctrl-C" in line:
                break
        yield process, said
    finally:
        process.kill()
        process.communicate()


def stopped(process: subprocess.Popen[str], number: signal.Signals) -> str:
    """Stop it as a person or a supervisor does; what it still said."""
    process.send_signal(number)
    out, err = process.communicate(timeout=40)
    assert 0 == process.returncode, out + err
    return out


def test_what_another_process_starts_is_done_until_it_is_stopped(tmp_path: Path) -> None:
    hello = PROJECT / "examples" / "hello"
    with running("--definitions", str(hello), folder=tmp_path, CELERIAC_PERFORMERS="examples.hello.performers") as (
        process,
        said,
    ):
        assert any("Performs: hello.deliver@1, hello.greet@1." in line for line in said)
        with Orchestrator(f"sqlite:///{tmp_path}/celeriac.db", "memory://") as orchestrator:
            run = orchestrator.start("hello", {"name": "Ada"})
            assert RunStatus.SUCCEEDED is orchestrator.wait_for(run.id, timeout=60).status
        assert "Stopping" in stopped(process, signal.SIGINT)


def test_performers_beside_the_user_are_found_and_a_file_is_published(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "from workers import performer\n\n@performer('mine.work', version=1)\ndef work(call):\n    return {}\n"
    )
    (tmp_path / "mine.yaml").write_text(
        "{workflow: mine, version: 1, area: a, graph: {nodes: [{id: start, kind: trigger, outlets: [next]}, "
        "{id: work, kind: action, capability: mine.work@1, outlets: [next]}], "
        "edges: [{from: start, outlet: next, to: work}]}}"
    )
    with running("--pool", "threads", "--definitions", "mine.yaml", folder=tmp_path, CELERIAC_PERFORMERS="mine") as (
        process,
        said,
    ):
        assert any("Workflows: mine@1." in line for line in said)
        stopped(process, signal.SIGTERM)


def test_a_folder_stands_for_the_documents_in_it(tmp_path: Path) -> None:
    for name in ("b.yaml", "a.json", "c.yml", "README.md"):
        (tmp_path / name).touch()
    assert ["a.json", "b.yaml", "c.yml", "README.md"] == [f.name for f in documents([tmp_path, tmp_path / "README.md"])]


def test_a_folder_without_documents_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadSettings, match="holds no"):
        documents([tmp_path])


def test_no_password_is_shown() -> None:
    settings = Settings(
        database_url="postgresql://me:secret@db:5432/x?password=secret", broker_url="redis://:secret@r/0"
    )
    text = "\n".join(str(line) for line in report(settings, ["a@1"], [ROW]))
    assert "secret" not in text
    assert "postgresql://db:5432/x" in text
    assert "CELERIAC_DATABASE_URL=… celeriac runs start hello" in text
    assert "CELERIAC_BROKER_URL is not used here" in text


def test_what_is_missing_is_said() -> None:
    text = "\n".join(str(line) for line in report(Settings(database_url="sqlite:///celeriac.db"), [], []))
    assert "name modules of performers in CELERIAC_PERFORMERS" in text
    assert "No workflow is published yet. From another terminal: celeriac definitions publish FILE" in text
    assert "CELERIAC_BROKER_URL" not in text
