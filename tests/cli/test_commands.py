"""The command line: what each command prints for people and for programs, and what it does."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest
import yaml

from orchestrator.cli.main import NOUNS
from orchestrator.core.outcomes import Ambiguous, Failed, Suspended
from orchestrator.store.sql.transaction import SqlStore
from orchestrator.testing.simulation import Simulation
from tests.cli.shell import ORDER, Celeriac, answer, ring, started


def test_an_order_goes_from_the_shell_to_its_end(celeriac: Celeriac, simulation: Simulation, order: str) -> None:
    run_id = started(celeriac, payload='{"a": 1}', subject="order:10248", key="10248")
    assert {"runId": run_id, "created": False} == answer(celeriac, "runs", "start", "test", "--key", "10248")
    ring(simulation)
    [review] = answer(celeriac, "waits", "list")
    assert ("approval", "review") == (review["kind"], review["node"])
    code, out, err = celeriac("waits", "approve", review["waitId"][:6], "--actor", "ada", "--payload", '{"ok": true}')
    assert (0, "") == (code, err)
    assert review["waitId"] in out
    code, _, err = celeriac("waits", "approve", review["waitId"][:12])
    assert 1 == code
    assert "by ada through 'approved'" in err
    assert 0 == answer(celeriac, "signal", run_id, "other@1")["resumed"]
    assert 1 == answer(celeriac, "signal", run_id[:8], "paid@1", "--payload", "[1]")["resumed"]
    simulation.script("test.job@1", Suspended("job/1"))
    ring(simulation)
    assert "Succeeded" == answer(celeriac, "complete", "job/1", "--output", '{"done": 1}')["outcome"]
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


def test_show_says_why_a_run_does_not_move(celeriac: Celeriac, simulation: Simulation, order: str) -> None:
    run_id = started(celeriac)
    assert "a worker that performs test.work@1" in celeriac("runs", "show", run_id)[1]
    simulation.script("test.work@1", Ambiguous("?"))
    ring(simulation)
    code, out, _ = celeriac("runs", "show", run_id)
    assert "needs a person" in out
    execution = next(
        e["execution"]["id"]
        for e in answer(celeriac, "runs", "show", run_id)["executions"]
        if e["status"] == "ReconciliationRequired"
    )
    code, _, err = celeriac("runs", "reconcile", run_id, execution)
    assert (2, True) == (code, "exactly one of" in err)
    told = answer(celeriac, "runs", "reconcile", run_id, execution[:8], "--succeeded", "next", "--actor", "ada")
    assert run_id == told["runId"]
    assert "waits for a person to approve or reject" in celeriac("runs", "show", run_id)[1]
    assert "Cancelled" == answer(celeriac, "runs", "cancel", run_id, "--reason", "enough")["status"]
    assert "Cancelled" == answer(celeriac, "runs", "show", run_id)["status"]


def test_a_diagram_is_mermaid_or_svg_and_coloured_by_a_run(
    celeriac: Celeriac, simulation: Simulation, order: str, tmp_path: Path
) -> None:
    run_id = started(celeriac)
    ring(simulation)
    code, out, _ = celeriac("definitions", "diagram", "test")
    assert (0, True) == (code, out.startswith("flowchart"))
    assert out == answer(celeriac, "definitions", "diagram", "test")["mermaid"]
    picture = tmp_path / "order.svg"
    assert 0 == celeriac("definitions", "diagram", "test@1", "--run", run_id, "--svg", str(picture))[0]
    drawn = picture.read_text(encoding="utf-8")
    assert 'data-state="Waiting"' in drawn
    assert 'data-state="Succeeded"' in drawn
    code, _, err = celeriac("definitions", "diagram", "test", "--svg", str(tmp_path / "no" / "such" / "place.svg"))
    assert (1, True) == (code, "cannot be written" in err)


def test_wait_answers_with_the_end_of_the_run(celeriac: Celeriac, simulation: Simulation, order: str) -> None:
    code, out, err = celeriac("runs", "start", "test", "--wait", "--timeout", "0")
    assert (1, True) == (code, out.endswith(" started\n"))
    assert "is still Running after 0 s" in err
    simulation.script("test.work@1", Failed("no"))
    ring(simulation)
    assert ["Failed"] == [row["status"] for row in answer(celeriac, "runs", "list")]


def test_odd_ids_are_shown_as_they_are(celeriac: Celeriac, simulation: Simulation, order: str) -> None:
    key = "ключ/[red]\"'✓"
    started(celeriac, key=key, subject="order:[bold]/x")
    assert key == answer(celeriac, "runs", "list")[0]["key"]
    assert "order:[bold]/x" in celeriac("runs", "list")[1]


def test_what_steers_a_terminal_is_taken_out_of_what_people_see(
    celeriac: Celeriac, simulation: Simulation, order: str
) -> None:
    odd = "\x1b[31mred\n\u202e"
    run_id = started(celeriac, subject=f"order:{odd}")
    for arguments in (("runs", "list"), ("runs", "show", run_id), ("runs", "facts", run_id)):
        out = celeriac(*arguments)[1]
        assert "[31mred" in out
        assert not set("\x1b\u202e") & set(out)
    assert odd == answer(celeriac, "runs", "list")[0]["subject"]["id"]


def test_tables_fit_eighty_columns_and_their_ids_can_be_given_back(
    celeriac: Celeriac, simulation: Simulation, order: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    run_id = started(celeriac, subject=f"order:{'long ' * 40}")
    ring(simulation)
    runs, waits = (celeriac(noun, "list")[1].splitlines() for noun in ("runs", "waits"))
    assert 80 >= max(map(len, runs + waits))
    short_wait, short_run = waits[1].split()[:2]
    assert run_id.startswith(short_run)
    assert 0 == celeriac("runs", "show", short_run)[0]
    assert 0 == celeriac("waits", "approve", short_wait)[0]


def test_no_color_leaves_the_text_alone(
    celeriac: Celeriac, simulation: Simulation, order: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("NO_COLOR", "1")
    started(celeriac)
    assert "\x1b[3" not in celeriac("runs", "list")[1]


def test_one_bad_file_keeps_all_from_being_published(celeriac: Celeriac, order: str, tmp_path: Path) -> None:
    other, bad = tmp_path / "other.yaml", tmp_path / "bad.yaml"
    other.write_text(yaml.safe_dump(ORDER | {"workflow": "other"}), encoding="utf-8")
    bad.write_text("workflow: bad", encoding="utf-8")
    code, _, err = celeriac("definitions", "publish", str(other), str(bad), "no-such-file.yaml")
    assert 1 == code
    assert str(bad) in err
    assert "no-such-file.yaml" in err
    assert ["test"] == [row["workflow"] for row in answer(celeriac, "definitions", "list")]
    changed = tmp_path / "changed.yaml"
    changed.write_text(yaml.safe_dump(ORDER | {"area": "elsewhere"}), encoding="utf-8")
    code, _, err = celeriac("definitions", "publish", str(other), str(changed))
    assert 1 == code
    assert f"1 of 2 files are published; {changed}: " in err
    assert ["other", "test"] == [row["workflow"] for row in answer(celeriac, "definitions", "list")]


def test_a_deactivated_workflow_starts_no_more_runs(celeriac: Celeriac, order: str) -> None:
    assert not answer(celeriac, "definitions", "deactivate", "test")["active"]
    assert 1 == celeriac("runs", "start", "test")[0]
    assert 1 == answer(celeriac, "definitions", "activate", "test@1")["version"]
    assert 0 == celeriac("runs", "start", "test")[0]
    assert ORDER["graph"] == answer(celeriac, "definitions", "show", "test")["graph"]


def test_an_sqlite_file_gets_its_schema_by_itself(celeriac: Celeriac) -> None:
    assert 1 == celeriac("db", "current")[0]
    assert [] == answer(celeriac, "runs", "list")
    current = answer(celeriac, "db", "current")
    assert current["needed"] == current["current"]
    assert current["needed"] == answer(celeriac, "db", "upgrade")["before"]


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
    assert [True, True] == [row["mended"] for row in answer(celeriac, "repair", "--apply")]
    assert 0 == celeriac("verify")[0]
    ring(simulation)
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


def test_doctor_finds_performers_beside_the_user(
    celeriac: Celeriac, simulation: Simulation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.path", [entry for entry in sys.path if entry not in {"", str(tmp_path)}])
    source = "from workers import performer\n\n\n@performer('beside.me', version=1)\ndef work(call): ...\n"
    (tmp_path / "performers_beside_the_user.py").write_text(source, encoding="utf-8")
    monkeypatch.setenv("CELERIAC_PERFORMERS", "performers_beside_the_user")
    code, out, _ = celeriac("doctor")
    assert (0, True) == (code, "beside.me@1" in out)


def test_doctor_tells_of_an_attempt_that_nobody_claims(celeriac: Celeriac, simulation: Simulation, order: str) -> None:
    started(celeriac)
    store = simulation.store
    assert isinstance(store, SqlStore)
    with store.engine.begin() as connection:
        connection.exec_driver_sql("UPDATE attempts SET owed_at = owed_at - 600000000")
    code, out, _ = celeriac("doctor")
    assert 0 == code
    assert "warn  queue: an attempt of test.work@1 has waited 10 minutes" in out


def test_the_schema_is_the_published_one(celeriac: Celeriac, project: Path) -> None:
    published = (project / "docs" / "definition.schema.json").read_text(encoding="utf-8")
    assert json.loads(published) == json.loads(celeriac("schema")[1])


def test_the_page_of_the_command_line_names_every_command(celeriac: Celeriac, project: Path) -> None:
    page = (project / "docs" / "cli.md").read_text(encoding="utf-8")
    # The roles hand even --help over to Celery, which takes the place of this process.
    for noun in NOUNS.keys() - {"worker", "beat"}:
        code, out, _ = celeriac(noun, "--help")
        assert 0 == code
        commands = re.findall(r"^  ([\w-]+)  ", out.partition("Commands:")[2], re.MULTILINE)
        for name in [f"{noun} {command}" for command in commands] or [noun]:
            assert f"celeriac {name}" in page, name
