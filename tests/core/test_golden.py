"""Recorded journals of yesterday: what is stored still reads, folds and shows as it did."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from orchestrator.core.codec import fact_data, fact_from
from orchestrator.core.evolve import fold
from orchestrator.core.facts import FACT_TYPES, value_of
from orchestrator.core.journal import entries
from orchestrator.core.snapshot import large_outputs, snapshot
from orchestrator.errors import CeleriacError
from tests.core.rich import GOLDEN, examples, read, record, succeeded, written


def golden(name: str) -> Any:
    """What was recorded under this name."""
    return json.loads((GOLDEN / f"{name}.json").read_text(encoding="utf-8"))


@pytest.mark.behaviour("B101")
def test_every_type_of_fact_has_its_golden_documents_and_no_other_has() -> None:
    assert sorted(FACT_TYPES) == sorted(path.stem for path in (GOLDEN / "facts").glob("*.json"))


@pytest.mark.parametrize("type_", sorted(FACT_TYPES))
def test_a_stored_fact_reads_and_is_written_as_it_was(type_: str) -> None:
    for form in golden(f"facts/{type_}"):
        stored = form["stored"]
        text = json.dumps(stored["data"], ensure_ascii=False, separators=(",", ":"))
        fact = fact_from(stored["type"], text, stored["value"])
        assert isinstance(fact, FACT_TYPES[type_])
        assert text == fact_data(fact)


@pytest.mark.parametrize("type_", sorted(FACT_TYPES))
def test_facts_of_today_are_stored_and_shown_as_they_were(type_: str) -> None:
    """What a change of a fact's shape must not do unnoticed: it needs a step that lifts the documents of the past."""
    assert golden(f"facts/{type_}") == examples()[type_]


def test_the_recorded_journal_folds_to_the_recorded_snapshot() -> None:
    journal = read(golden("rich-run.journal"))
    state = fold(journal)
    values = {r.number: value for r in journal if (value := value_of(r.fact)) is not None}
    assert large_outputs(state), "the run has outputs that are kept by reference"
    seen = snapshot(state, lambda output: output.text or values[output.number])
    assert golden("rich-run.snapshot") == seen.document()


def test_the_recorded_journal_is_decided_again_fact_by_fact() -> None:
    """The same things happening to the same definition lead to the same facts as when they were recorded."""
    assert golden("rich-run.journal") == written(succeeded().journal)


def test_the_recorded_journal_is_shown_with_its_values() -> None:
    shown = [entry.document() for entry in entries(read(golden("rich-run.journal")))]
    assert [entry.document() for entry in succeeded().entries()] == shown
    assert {"order": "A-17", "total": 12.5} == shown[0]["data"]["trigger"]["payload"]


@pytest.mark.parametrize("gone", (1, 2, 30))
def test_a_journal_with_a_gap_does_not_fold(gone: int) -> None:
    journal = [recorded for recorded in read(golden("rich-run.journal")) if recorded.number != gone]
    with pytest.raises(CeleriacError, match=r"a journal begins with|the journal has a gap"):
        fold(journal)


def test_the_golden_documents_can_be_recorded_anew(tmp_path: Path) -> None:
    record(tmp_path)
    made = {path.relative_to(tmp_path): path.read_text(encoding="utf-8") for path in tmp_path.rglob("*.json")}
    kept = {path.relative_to(GOLDEN): path.read_text(encoding="utf-8") for path in GOLDEN.rglob("*.json")}
    assert kept == made
