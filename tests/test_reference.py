"""The reference page and the published schema say what the code does."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestrator.core.document import definition_from
from orchestrator.core.document_schema import schema_text
from orchestrator.core.graph import Outlet
from orchestrator.core.kinds.kind import ViolationKind
from orchestrator.core.yaml_text import parse_yaml
from orchestrator.reference import EXAMPLE, OUTLETS, PAGE, SCHEMA, VIOLATIONS, page, write


@pytest.mark.parametrize(("name", "made"), ((PAGE, page), (SCHEMA, schema_text)))
def test_the_published_files_are_those_that_make_docs_writes(project: Path, name: str, made: object) -> None:
    assert callable(made)
    stored = (project / "docs" / name).read_text(encoding="utf-8")
    assert made() == stored, f"docs/{name} is stale; run make docs"


def test_writing_makes_both_files(tmp_path: Path) -> None:
    write(tmp_path)
    assert {PAGE, SCHEMA} == {file.name for file in tmp_path.iterdir()}


def test_the_example_of_the_page_is_admitted() -> None:
    assert "orders.fulfil" == definition_from(parse_yaml(EXAMPLE)).workflow


def test_every_outlet_and_every_violation_is_explained() -> None:
    assert {value for name, value in vars(Outlet).items() if name.isupper()} == set(OUTLETS)
    assert list(ViolationKind) == list(VIOLATIONS)
