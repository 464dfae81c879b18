"""Files with definition documents, and files without."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from orchestrator.core.document import definition_from
from orchestrator.definition_files import MAX_FILE_BYTES, load_document
from orchestrator.errors import Rejected
from orchestrator.reference import EXAMPLE
from tests.definitions import fan_out


def refusal_of(path: Path) -> str:
    with pytest.raises(Rejected) as caught:
        load_document(path)
    (reason,) = caught.value.reasons
    assert ("InvalidDocument", str(path)) == (reason.kind, reason.where)
    return reason.message


def test_a_yaml_file_holds_a_document(tmp_path: Path) -> None:
    file = tmp_path / "order.yaml"
    file.write_text(EXAMPLE, encoding="utf-8-sig")
    assert "orders.fulfil" == definition_from(load_document(file)).workflow


def test_a_json_file_holds_the_same_document(tmp_path: Path) -> None:
    file = tmp_path / "order.json"
    file.write_text(json.dumps(fan_out(), indent=4))
    assert fan_out() == load_document(str(file))


@pytest.mark.parametrize(
    ("name", "content", "message"),
    (
        ("a.yaml", b"", "the file is empty"),
        ("a.yaml", b"- 1", "the file holds a list"),
        ("a.yaml", b"order", "the file holds text"),
        ("a.yaml", b"a: \xff", "not UTF-8 at byte 3"),
        ("a.yaml", b"a: 1\na: 2", "line 2, column 1"),
        ("a.yaml", b"a: 1\n---\nb: 1", "one definition a file"),
        ("a.json", b"", "not JSON"),
        ("a.json", b"[]", "the file holds a list"),
        ("a.json", b'{"a": NaN}', "NaN"),
        ("a.json", b'{"a": 1, "a": 2}', "twice"),
        ("a.JSON", b"a: 1", "not JSON"),
    ),
)
def test_a_file_without_a_document_is_refused_and_named(
    tmp_path: Path, name: str, content: bytes, message: str
) -> None:
    file = tmp_path / name
    file.write_bytes(content)
    assert message in refusal_of(file)


def test_a_missing_file_a_directory_and_a_pipe_are_told_apart(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert "no such file" in refusal_of(tmp_path / "gone.yaml")
    assert "directory" in refusal_of(tmp_path)
    assert "no ordinary file" in refusal_of(tmp_path / "pipe")
    assert "cannot be read" in refusal_of(tmp_path / ("x" * 300))


def test_a_huge_file_is_not_read(tmp_path: Path) -> None:
    file = tmp_path / "huge.yaml"
    with file.open("wb") as sparse:
        sparse.truncate(MAX_FILE_BYTES + 1)
    assert "at most 16,777,216 are read" in refusal_of(file)
