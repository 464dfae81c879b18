"""What people see of runs: the page of one run, the list page by page, and tables in a narrow terminal."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
import yaml

from orchestrator.core.outcomes import Failed
from orchestrator.testing.simulation import Simulation
from tests.cli.shell import Celeriac, answer, ring, started
from tests.definitions import START, action, document, for_each, join

LINES = document(
    START,
    for_each(),
    action("ship", configuration={"retry": {"maxAttempts": 1}}),
    join(),
    edges=("start.next>fan", "fan.each>ship", "ship.next>gather"),
    workflow="lines",
)


def test_the_page_of_a_run_tells_its_trigger_and_its_open_waits(
    celeriac: Celeriac, simulation: Simulation, order: str
) -> None:
    run_id = started(celeriac, subject="order:10248", key="a/b", correlation="[red]c")
    ring(simulation)
    [wait] = answer(celeriac, "waits", "list")
    code, out, err = celeriac("runs", "show", run_id)
    assert (0, "") == (code, err)
    lines = [" ".join(line.split()) for line in out.splitlines()]
    assert f"{run_id} test@1 Waiting" == lines[0]
    assert ["trigger manual about order:10248", "key a/b", "correlation [red]c"] == lines[1:4]
    table = lines[lines.index("open waits:") + 1 :]
    assert "wait kind node branch signal or key until (UTC)" == table[0]
    deadline = f"{wait['deadline'][5:10]} {wait['deadline'][11:16]}"
    assert f"{wait['waitId'][:12]} approval review {deadline}" == table[1]


def test_the_page_of_a_run_tells_every_failure_with_its_branch(
    celeriac: Celeriac, simulation: Simulation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    path = tmp_path / "lines.yaml"
    path.write_text(yaml.safe_dump(LINES), encoding="utf-8")
    assert 0 == celeriac("definitions", "publish", str(path))[0]
    simulation.script("test.ship@1", Failed("the shelf is [bold]empty", code="out-of-stock"))
    payload = '{"lines": [{"key": "a/[x]"}, {"key": "é"}]}'
    run_id = answer(celeriac, "runs", "start", "lines", "--payload", payload)["runId"]
    ring(simulation)
    _, out, _ = celeriac("runs", "show", run_id)
    told = out.splitlines()
    failures = told[told.index("failures:") + 1 :]
    assert "  ship [a/[x]]: out-of-stock: the shelf is [bold]empty" == failures[0]
    assert "  ship [é]: out-of-stock: the shelf is [bold]empty" == failures[1]
    assert all(len(line) <= 80 for line in told)


def test_the_list_of_runs_goes_on_page_by_page(celeriac: Celeriac, simulation: Simulation, order: str) -> None:
    runs = [started(celeriac) for _ in range(5)]
    whole = [row["runId"] for row in answer(celeriac, "runs", "list")]
    assert sorted(runs) == sorted(whole)
    seen: list[str] = []
    page = answer(celeriac, "runs", "list", "--limit", "2")
    while page:
        seen += [row["runId"] for row in page]
        page = answer(celeriac, "runs", "list", "--limit", "2", "--before", seen[-1])
    assert whole == seen
    assert f"--before {whole[1][:12]}" in celeriac("runs", "list", "--limit", "2")[1]
    assert "--before" not in celeriac("runs", "list")[1]


def test_the_list_of_runs_begins_at_an_instant(celeriac: Celeriac, simulation: Simulation, order: str) -> None:
    started(celeriac)
    now = simulation.clock.now()
    for since, found in ((now - timedelta(hours=1), 1), (now + timedelta(hours=1), 0)):
        assert found == len(answer(celeriac, "runs", "list", "--since", f"{since:%Y-%m-%dT%H:%M:%SZ}"))
    code, _, err = celeriac("runs", "list", "--since", "yesterday")
    assert (2, True) == (code, "--since" in err)


@pytest.mark.parametrize(
    "arguments", (("runs", "list"), ("waits", "list"), ("definitions", "list")), ids=lambda each: each[0]
)
def test_a_narrow_terminal_breaks_no_table(
    celeriac: Celeriac, simulation: Simulation, order: str, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]
) -> None:
    run_id = started(celeriac, subject="a-kind-with-a-long-name:an-id-that-is-even-longer-than-its-kind", key="k")
    ring(simulation)
    monkeypatch.setenv("COLUMNS", "80")
    code, out, _ = celeriac(*arguments)
    assert 0 == code
    assert all(len(line) <= 80 for line in out.splitlines())
    if arguments[0] != "definitions":
        assert run_id[:12] in out


def test_nothing_is_coloured_for_a_program(celeriac: Celeriac, simulation: Simulation, order: str) -> None:
    run_id = started(celeriac)
    ring(simulation)
    for arguments in (("runs", "list"), ("runs", "show", run_id), ("runs", "facts", run_id), ("waits", "list")):
        assert "\x1b" not in celeriac(*arguments)[1]
