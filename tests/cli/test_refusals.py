"""What is refused: one sentence on the error output, an exit code, and nothing stored."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import yaml

from orchestrator.cli.main import run
from orchestrator.core.ids import run_id
from orchestrator.errors import NotFound, Rejected
from orchestrator.testing.simulation import Simulation
from tests.cli.shell import Celeriac, answer, started
from tests.definitions import BAD_DEFINITIONS, action, document


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
        (("runs", "start", "test", "--subject", "order"), 2, "KIND:ID"),
        (("runs", "show", "no-such-run"), 1, "there is no run"),
        (("runs", "list", "--status", "Happy"), 2, "Running"),
        (("runs", "list", "--limit", "0"), 2, "limit"),
        (("waits", "approve", "no-such-wait"), 1, "there is no wait"),
        (("waits", "list", "--kind", "party"), 2, "approval"),
        (("complete", "no-such-key"), 1, "there is no completion key"),
        (("definitions", "show", "nobody.has-this"), 1, "there is no definition"),
        (("definitions", "activate", "test"), 2, "which version"),
        (("definitions", "publish", "no-such-file.yaml"), 1, "no-such-file.yaml"),
        (("schedules", "preview", "* * * *"), 1, "five"),
        (("schedules", "preview", "* * * * *", "--timezone", "Mars/Olympus"), 2, "UTC"),
        (("schedules", "preview", "* * * * *", "--from", "yesterday"), 2, "--from"),
        (("definitions", "publish", "bad-\udcff.yaml"), 2, "UTF-8"),
        (("complete", "key", "--failed", "no", "--output", "{}"), 2, "--output"),
        (("runs", "cancel", ""), 2, "empty"),
        (("waits", "approve", ""), 2, "empty"),
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


def test_a_beginning_that_fits_several_ids_is_refused_with_them(
    celeriac: Celeriac, simulation: Simulation, order: str
) -> None:
    ids = sorted(started(celeriac) for _ in range(17))
    beginning = next(a[0] for a, b in pairwise(ids) if a[0] == b[0])
    code, _, err = celeriac("runs", "show", beginning)
    assert 1 == code
    assert "several runs" in err
    assert any(id in err for id in ids)


def test_a_beginning_means_the_one_run_of_its_scope(celeriac: Celeriac, simulation: Simulation, order: str) -> None:
    assert 0 == celeriac("definitions", "publish", order, "--scope", "other")[0]
    here = started(celeriac, key="1")
    key = next(key for key in map(str, range(1_000)) if run_id("other", "test", key)[0] == here[0])
    there = answer(celeriac, "runs", "start", "test", "--scope", "other", "--key", key)["runId"]
    assert here[0] == there[0]
    assert here == answer(celeriac, "runs", "show", here[0])["runId"]


def test_with_debug_an_error_shows_where_it_came_from(
    celeriac: Celeriac, order: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CELERIAC_DEBUG", "1")
    with pytest.raises(NotFound):
        celeriac("runs", "show", "no-such-run")
    with pytest.raises(Rejected):
        celeriac("runs", "start", "nobody.has-this")


def test_what_nobody_foresaw_is_one_sentence_too(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(**_: object) -> None:
        raise ZeroDivisionError("by zero")

    monkeypatch.delenv("CELERIAC_DEBUG", raising=False)
    assert 1 == run((), broken)
    told = "celeriac: this should not have happened: ZeroDivisionError: by zero; CELERIAC_DEBUG=1 shows where"
    assert capfd.readouterr().err.startswith(told)
