"""Definition documents in files: JSON when the name ends in `.json`, YAML otherwise. What one says is not looked at."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Final

from orchestrator.core.complaints import kind_of
from orchestrator.core.data import DataLimits, load, parse
from orchestrator.core.document import INVALID_DOCUMENT
from orchestrator.core.yaml_text import parse_yaml
from orchestrator.errors import BadData, Reason, Rejected

#: A file may be longer than the canonical document by comments and blanks.
MAX_FILE_BYTES: Final = 16 * 2**20

_LIMITS: Final = DataLimits(max_bytes=MAX_FILE_BYTES, max_depth=100)


def load_document(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The one document of a file, ready for `definition_from`. Raises Rejected when there is none to be read."""
    file = Path(path)
    try:
        text = _text(file)
        document = load(parse(text, _LIMITS)) if file.suffix.lower() == ".json" else parse_yaml(text)
    except BadData as problem:
        raise _rejected(file, problem.message) from None
    if document is None:
        raise _rejected(file, "the file is empty; write a definition document into it")
    if not isinstance(document, dict):
        raise _rejected(file, f"the file holds {kind_of(document)}; a definition is an object, one a file")
    return document


def _text(file: Path) -> str:
    try:
        if file.is_dir():
            raise BadData("this is a directory; name one file")
        if not file.exists():
            raise BadData("there is no such file; check the path")
        if not file.is_file():
            raise BadData("this is no ordinary file; write the document into one")
        if (size := file.stat().st_size) > MAX_FILE_BYTES:
            raise BadData(f"the file has {size:,} bytes, at most {MAX_FILE_BYTES:,} are read; divide the workflow")
        return file.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        raise BadData(f"the file is not UTF-8 at byte {problem.start}; save it as UTF-8") from None
    except (OSError, ValueError) as problem:
        raise BadData(f"the file cannot be read: {problem}") from None


def _rejected(file: Path, message: str) -> Rejected:
    return Rejected([Reason(INVALID_DOCUMENT, str(file), message)])
