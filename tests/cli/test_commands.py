"""The command line: what it prints, what it answers with, and one sentence for everything that is wrong."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml

from orchestrator.cli.main import NOUNS, application, run
from orchestrator.core.outcomes import Ambiguous, Failed, Suspended
from orchestrator.store.sql.transaction import SqlStore, open_sql_store
from orchestrator.testing.clock import MovableClock
from orchestrator.testing.simulation import Simulation
from tests.definitions import BAD_DEFINITIONS, START, action, document, node

ORDER = document(
    START,
    action("work", "failed"),
    node("review", "approval", "approved", "rejected", configuration={"expiresAfter": "2.00:00:00"}),
    node("paid", "wait", "resumed", configuration={"signal": {"id": "paid", "version": 1}}),
    action("job"),
    edges=("start.next>work", "work.next>review", "review.approved>paid", "paid.resumed>job"),
)

Celeriac = Callable[..., tuple[int, str, str]]


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


def answer(celeriac: Celeriac, *arguments: str) -> Any:
    code, out, err = celeriac(*arguments, "--json")
    assert (0, "") == (code, err)
    return json.loads(out)


def started(celeriac: Celeriac, **options: str) -> str:
    more = [text for name, value in options.items() for text in (f"--{name}", value)]
    run_id: str = answer(celeriac, "runs", "start", "test", *more)["runId"]
    return run_id


def test_an_order_goes_from_the_shell_to_its_end(celeriac: Celeriac, simulation: Simulation, order: str) -> None:
    run_id = started(celeriac, payload='{"a": 1}', subject="order:10248", key="10248")
    assert {"runId": run_id, "created": False} == answer(celeriac, "runs", "start", "test", "--key", "10248")
    _ring(simulation)
    [review] = answer(celeriac, "waits", "list")
    assert ("approval", "review") == (review["kind"], review["node"])
    code, out, err = celeriac("waits", "approve", review["waitId"][:6], "--actor", "ada", "--payload", '{"ok": true}')
    assert (0, "") == (code, err)
    assert review["waitId"] in out
    code, _, err = celeriac("waits", "approve", review["waitId"])
    assert 1 == code
    assert "by ada through 'approved'" in err
    assert 0 == answer(celeriac, "signal", run_id, "other@1")["resumed"]
    assert 1 == answer(celeriac, "signal", run_id[:8], "paid@1", "--payload", "[1]")["resumed"]
    simulation.script("test.job@1", Suspended("job/1"))
    _ring(simulation)
    assert 0 == celeriac("complete", "job/1", "--output", '{"done": 1}')[0]
    [row] = answer(celeriac, "runs", "list", "--status", "Succeeded")
    assert (run_id, {"kind": "order", "id": "10248"}) == (row["runId"], row["subject"])
    journal = answer(celeriac, "runs", "facts", run_id)
    assert ["number", "type", "at", "data"] == list(journal[0])
    assert "WorkflowRunSucceeded" == journal[-1]["type"]
    snapshot = answer(celeriac, "runs", "show", run_id)
    assert ("Succeeded", []) == (snapshot["status"], snapshot["standsOn"])
    assert [] == answer(celeriac, "verify")
    code, out, _ = celeriac("runs", "facts", run_id)
    assert "review is approved by ada" in out


def _ring(simulation: Simulation) -> None:
    """What other processes scheduled is rung by beat."""
    simulation.clock.move(timedelta(seconds=6))
    simulation.tick()
    simulation.settle()


def test_show_says_why_a_run_does_not_move(celeriac: Celeriac, simulation: Simulation, order: str) -> None:
    run_id = started(celeriac)
    assert "a worker that performs test.work@1" in celeriac("runs", "show", run_id)[1]
    simulation.script("test.work@1", Ambiguous("?"))
    _ring(simulation)
    code, out, _ = celeriac("runs", "show", run_id)
    assert "needs a person" in out
    execution = next(
        e["execution"]["id"]
        for e in answer(celeriac, "runs", "show", run_id)["executions"]
        if e["status"] == "ReconciliationRequired"
    )
    code, _, err = celeriac("runs", "reconcile", run_id, execution)
    assert (1, True) == (code, "exactly one of" in err)
    assert 0 == celeriac("runs", "reconcile", run_id, execution[:8], "--succeeded", "next", "--actor", "ada")[0]
    assert "waits for a person to approve or reject" in celeriac("runs", "show", run_id)[1]
    assert 0 == celeriac("runs", "cancel", run_id, "--reason", "enough")[0]
    assert "Cancelled" == answer(celeriac, "runs", "show", run_id)["status"]


def test_a_diagram_is_mermaid_or_svg_and_coloured_by_a_run(
    celeriac: Celeriac, simulation: Simulation, order: str, tmp_path: Path
) -> None:
    run_id = started(celeriac)
    _ring(simulation)
    code, out, _ = celeriac("definitions", "diagram", "test")
    assert (0, True) == (code, out.startswith("flowchart"))
    picture = tmp_path / "order.svg"
    assert 0 == celeriac("definitions", "diagram", "test@1", "--run", run_id, "--svg", str(picture))[0]
    drawn = picture.read_text(encoding="utf-8")
    assert 'data-state="Waiting"' in drawn
    assert 'data-state="Succeeded"' in drawn
    code, _, err = celeriac("definitions", "diagram", "test", "--svg", str(tmp_path / "no" / "such" / "place.svg"))
    assert (1, True) == (code, "cannot be written" in err)


def test_wait_answers_with_the_end_of_the_run(celeriac: Celeriac, simulation: Simulation, order: str) -> None:
    code, _, err = celeriac("runs", "start", "test", "--wait", "--timeout", "0")
    assert 1 == code
    assert "is still Running after 0 s" in err
    simulation.script("test.work@1", Failed("no"))
    _ring(simulation)
    assert ["Failed"] == [row["status"] for row in answer(celeriac, "runs", "list")]


@pytest.mark.parametrize("each", BAD_DEFINITIONS, ids=lambda each: each.name)
def test_every_violation_of_a_document_is_told_and_nothing_is_stored(
    celeriac: Celeriac, tmp_path: Path, each: Any
) -> None:
    path = tmp_path / "bad.json"
    try:
        path.write_text(json.dumps(each.document), encoding="utf-8")
    except (TypeError, ValueError):
        path.write_text("{", encoding="utf-8")
    for verb in ("validate", "publish"):
        code, _, err = celeriac("definitions", verb, str(path))
        assert 1 == code
        assert err
        assert "Traceback" not in err
    assert [] == answer(celeriac, "definitions", "list")


def test_three_faults_of_a_document_are_told_together(celeriac: Celeriac, tmp_path: Path) -> None:
    path = tmp_path / "bad.yaml"
    broken = document(action("a"), action("a"), edges=("a.nowhere>missing",))
    path.write_text(yaml.safe_dump(broken), encoding="utf-8")
    code, _, err = celeriac("definitions", "validate", str(path))
    assert 1 == code
    assert {"NoTrigger", "DuplicateNode", "UnknownNode", "UndeclaredOutlet"} <= set(re.findall(r"[A-Z]\w+", err))


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    (
        (("runs", "start", "nobody.has-this"), 1, "WorkflowNotFound"),
        (("runs", "start", "test", "--payload", "{"), 1, "JSON"),
        (("runs", "start", "test", "--payload", '{"a": 1, "a": 2}'), 1, "twice"),
        (("runs", "start", "test", "--payload", "[" * 100_000), 1, "64"),
        (("runs", "start", "test", "--payload", "@no-such-file"), 1, "cannot be read"),
        (("runs", "start", "test", "--subject", "order"), 1, "KIND:ID"),
        (("runs", "show", "no-such-run"), 1, "there is no run"),
        (("runs", "list", "--status", "Happy"), 1, "Running"),
        (("runs", "list", "--limit", "0"), 2, "limit"),
        (("waits", "approve", "no-such-wait"), 1, "there is no wait"),
        (("waits", "list", "--kind", "party"), 1, "approval"),
        (("complete", "no-such-key"), 1, "there is no completion key"),
        (("definitions", "show", "nobody.has-this"), 1, "there is no definition"),
        (("definitions", "activate", "test"), 1, "which version"),
        (("definitions", "publish", "no-such-file.yaml"), 1, "no-such-file.yaml"),
        (("schedules", "preview", "* * * *"), 1, "five"),
        (("schedules", "preview", "* * * * *", "--timezone", "Mars/Olympus"), 1, "UTC"),
        (("schedules", "preview", "* * * * *", "--from", "yesterday"), 1, "--from"),
        (("nonsense",), 2, "nonsense"),
        (("runs", "nonsense"), 2, "nonsense"),
        (("runs", "list", "--database-url", "postgresql://postgres:secret@127.0.0.1:1/x"), 1, "does not answer"),
        (("runs", "list", "--database-url", "oracle://x/y"), 1, "postgresql://"),
        (("db", "upgrade", "--database-url", "sqlite:////no/such/folder/x.db"), 1, "does not answer"),
    ),
)
def test_what_cannot_be_is_one_sentence_and_an_exit_code(
    celeriac: Celeriac, order: str, arguments: tuple[str, ...], code: int, sentence: str
) -> None:
    found, out, err = celeriac(*arguments)
    assert (code, "") == (found, out)
    assert sentence in err
    assert "Traceback" not in err
    assert "secret" not in err


def test_odd_ids_are_shown_as_they_are(celeriac: Celeriac, simulation: Simulation, order: str) -> None:
    key = "ключ/[red]\"'✓"
    started(celeriac, key=key, subject="order:[bold]/x")
    assert key == answer(celeriac, "runs", "list")[0]["key"]
    assert "order:[bold]/x" in celeriac("runs", "list")[1]


def test_a_beginning_that_fits_several_ids_is_refused_with_them(
    celeriac: Celeriac, simulation: Simulation, order: str
) -> None:
    ids = {started(celeriac) for _ in range(17)}
    code, _, err = celeriac("runs", "show", "")
    assert 1 == code
    assert any(id in err for id in ids)


def test_another_scope_sees_nothing(celeriac: Celeriac, simulation: Simulation, order: str) -> None:
    run_id = started(celeriac)
    for arguments in (("runs", "show", run_id), ("runs", "cancel", run_id), ("signal", run_id, "paid@1")):
        code, _, err = celeriac(*arguments, "--scope", "other")
        assert 1 == code
        assert "there is no run" in err
    assert [] == answer(celeriac, "runs", "list", "--scope", "other")


def test_repair_writes_what_the_journals_ask_for(celeriac: Celeriac, simulation: Simulation, order: str) -> None:
    started(celeriac)
    store = simulation.store
    assert isinstance(store, SqlStore)
    with store.engine.begin() as connection:
        connection.exec_driver_sql("DELETE FROM attempts")
        connection.exec_driver_sql("UPDATE runs SET status = 'Waiting'")
    code, out, _ = celeriac("verify")
    assert (1, 2) == (code, len(out.splitlines()))
    assert 1 == celeriac("repair")[0]
    assert 1 == celeriac("verify")[0]
    assert 0 == celeriac("repair", "--apply")[0]
    assert 0 == celeriac("verify")[0]
    _ring(simulation)
    assert "Waiting" == answer(celeriac, "runs", "list")[0]["status"]


def test_preview_lists_instants(celeriac: Celeriac) -> None:
    instants = ("schedules", "preview", "0 6 * * 1-5", "--count", "2", "--from", "2026-11-27T06:00:00Z")
    assert ["2026-11-30T06:00:00Z", "2026-12-01T06:00:00Z"] == answer(celeriac, *instants)
    assert [] == answer(celeriac, "schedules", "preview", "0 0 31 2 *")
    assert "never\n" == celeriac("schedules", "preview", "0 0 31 2 *")[1]


def test_doctor_says_what_to_do(celeriac: Celeriac, simulation: Simulation, monkeypatch: pytest.MonkeyPatch) -> None:
    assert 0 == celeriac("doctor")[0]
    monkeypatch.setenv("CELERIAC_PERFORMERS", "no.such.module")
    monkeypatch.setenv("CELERIAC_BROKER_URL", "redis://127.0.0.1:1/0")
    code, out, _ = celeriac("doctor")
    assert 1 == code
    assert re.search(r"^fail  broker: .*CELERIAC_BROKER_URL", out, re.MULTILINE)
    assert re.search(r"^fail  performers: .*no.such.module", out, re.MULTILINE)


def test_the_schema_is_the_published_one(celeriac: Celeriac, project: Path) -> None:
    published = (project / "docs" / "definition.schema.json").read_text(encoding="utf-8")
    assert json.loads(published) == json.loads(celeriac("schema")[1])


def test_help_shows_every_noun_and_loads_neither_celery_nor_the_database() -> None:
    program = (
        "import sys; sys.argv = ['celeriac', '--help']\n"
        "from orchestrator.cli.main import main\n"
        "try: main()\n"
        "except SystemExit as end: assert not end.code, end.code\n"
        "assert not {'celery', 'sqlalchemy', 'pydantic'} & set(sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert 0 == done.returncode, done.stderr
    assert set(NOUNS) <= set(re.findall(r"^  (\w+)", done.stdout, re.MULTILINE))


def test_the_page_of_the_command_line_names_every_command(celeriac: Celeriac, project: Path) -> None:
    page = (project / "docs" / "cli.md").read_text(encoding="utf-8")
    # The roles hand even --help over to Celery, which takes the place of this process.
    for noun in NOUNS.keys() - {"worker", "beat"}:
        code, out, _ = celeriac(noun, "--help")
        assert 0 == code
        commands = re.findall(r"^  ([\w-]+)  ", out.partition("Commands:")[2], re.MULTILINE)
        for name in [f"{noun} {command}" for command in commands] or [noun]:
            assert f"celeriac {name}" in page, name
