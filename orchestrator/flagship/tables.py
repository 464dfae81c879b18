"""CSV files read strictly: every fault is noted with its file, line and column. What the columns mean is not known."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from orchestrator.core.data import printable
from orchestrator.errors import Reason, Rejected

#: The largest number that a column may hold: what the integer column of every database holds.
MAX_NUMBER: Final = 2**31 - 1

#: So many faults are told of; the rest is counted.
MOST_FAULTS: Final = 20

_DIGITS = re.compile(r"[0-9]{1,10}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Row:
    """One row; cells are stripped of blanks around them, and a column that the file does not have reads as empty."""

    file: str
    #: Where it begins in its file.
    line: int
    cells: Mapping[str, str]

    def __getitem__(self, column: str) -> str:
        return self.cells.get(column, "")

    def place(self, column: str) -> str:
        """Where a cell stands, for a message."""
        return f"{self.file} line {self.line}, column {column}"


@dataclass(slots=True)
class Faults:
    """Everything that is wrong with a set of files, collected so that it can be told at once."""

    reasons: list[Reason] = field(default_factory=list)

    def add(self, kind: str, where: str, message: str) -> None:
        """Note one."""
        self.reasons.append(Reason(kind, where, message))

    def check(self) -> None:
        """Raises `Rejected` with what was noted."""
        if not self.reasons:
            return
        told, left = self.reasons[:MOST_FAULTS], self.reasons[MOST_FAULTS:]
        more = [Reason("MoreFaults", "", f"and {len(left)} more; mend these first")] if left else []
        raise Rejected([*told, *more])


def read_table(file: Path, columns: Sequence[str], faults: Faults) -> Iterator[Row]:
    """The rows of a CSV file with a header that has at least these columns; what is wrong is noted and left out."""
    text = _text(file, faults)
    if text is None:
        return
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    line = 1
    header: list[str] | None = None
    try:
        for cells in reader:
            stripped = [cell.strip() for cell in cells]
            if header is None:
                header = stripped
                if not _fits(file, header, columns, faults):
                    return
            elif any(stripped):
                if len(cells) == len(header):
                    yield Row(file.name, line, dict(zip(header, stripped, strict=True)))
                else:
                    faults.add(
                        "BadRow",
                        f"{file.name} line {line}",
                        f"the row has {len(cells)} cells and the header {len(header)}; "
                        "a cell that holds a comma stands in double quotes",
                    )
            line = reader.line_num + 1
    except csv.Error as problem:
        faults.add("BadRow", f"{file.name} line {line}", f"the row is no CSV: {problem}; mend the quotes in it")
        return
    if header is None:
        faults.add("EmptyFile", file.name, f"the file is empty; its first line names the columns: {', '.join(columns)}")


def number(row: Row, column: str, faults: Faults, *, least: int) -> int | None:
    """The whole number in a cell, or None when it holds something else, which is noted."""
    text = row[column]
    if _DIGITS.fullmatch(text) and least <= int(text) <= MAX_NUMBER:
        return int(text)
    found = f"{printable(text, 40)!r} cannot be used" if text else "the cell is empty"
    message = f"{found}; write a whole number from {least} to {MAX_NUMBER:,} in digits alone"
    faults.add("BadNumber", row.place(column), message)
    return None


def _text(file: Path, faults: Faults) -> str | None:
    try:
        text = file.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        faults.add("MissingFile", file.name, f"there is no {file.name} in {file.parent}; put it there")
    except UnicodeDecodeError as problem:
        faults.add("BadText", file.name, f"the file is not UTF-8 at byte {problem.start}; save it as UTF-8")
    except OSError as problem:
        faults.add("UnreadableFile", file.name, f"the file cannot be read: {problem.strerror or problem}")
    else:
        if "\0" not in text:
            return text
        faults.add("BadText", file.name, "the file holds a NUL character; save it as CSV text in UTF-8")
    return None


def _fits(file: Path, header: Sequence[str], columns: Sequence[str], faults: Faults) -> bool:
    missing = [column for column in columns if column not in header]
    repeated = sorted({column for column in header if header.count(column) > 1})
    there = printable(", ".join(header), 300)
    for column in missing:
        faults.add(
            "MissingColumn",
            f"{file.name} line 1",
            f"there is no column {column}; the file has {there or 'none'}; add it",
        )
    for column in repeated:
        faults.add("RepeatedColumn", f"{file.name} line 1", f"the column {printable(column, 60)!r} stands there twice")
    return not missing and not repeated
