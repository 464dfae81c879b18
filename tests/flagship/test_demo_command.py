"""`celeriac demo` as a person or a program calls it: a real worker, beat and SQLite in a process of their own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from orchestrator.flagship.dataset import OWN_DATA

OWN = {"runs": 8, "lines": 21, "shipped": 17, "notShipped": 4, "completed": 5, "partial": 3}
NORTHWIND = {"runs": 21, "lines": 73, "shipped": 56, "notShipped": 17, "completed": 10, "partial": 11}
DECIDED = {"waiting": 0, "failed": 0}


def demo(*arguments: str | Path, folder: Path) -> subprocess.CompletedProcess[str]:
    """The command, called in this folder."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("CELERIAC_")}
    command = [str(Path(sys.executable).parent / "celeriac"), "demo", *map(str, arguments)]
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=100
    )


def numbers(answer: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    """The object in the last line."""
    assert 0 == answer.returncode, answer.stderr
    found: dict[str, Any] = json.loads(answer.stdout.splitlines()[-1])
    return found


def test_the_own_data_end_with_their_numbers_and_leave_nothing_behind(tmp_path: Path) -> None:
    answer = demo("--json", "--no-dashboard", folder=tmp_path)
    found = numbers(answer)
    assert 0 < found.pop("seconds") < 60
    assert {**OWN, **DECIDED, "approved": 2, "rejected": 1} == found
    assert [] == list(tmp_path.iterdir())
    assert 1 == len(answer.stdout.splitlines())


def test_northwind_ends_within_a_minute_with_exactly_the_expected_numbers(cases: Path, tmp_path: Path) -> None:
    found = numbers(demo("--data", cases / "northwind", "--json", "--no-dashboard", folder=tmp_path))
    assert 0 < found.pop("seconds") < 60
    assert {**NORTHWIND, **DECIDED, "approved": 6, "rejected": 5} == found


def test_approvals_that_are_left_open_stand_in_the_database_that_is_kept(tmp_path: Path) -> None:
    answer = demo("--json", "--leave-open", "--keep", "kept", folder=tmp_path)
    found = numbers(answer)
    assert {**OWN, "approved": 0, "rejected": 0, "waiting": 3, "failed": 0} == {
        name: value for name, value in found.items() if name != "seconds"
    }
    assert (tmp_path / "kept" / "celeriac.db").is_file()
    assert str(tmp_path / "kept") in answer.stderr
    again = demo("--keep", "kept", folder=tmp_path)
    assert 1 == again.returncode
    assert "holds a celeriac.db already" in again.stderr


def test_a_person_reads_the_orders_the_inbox_and_a_journal(tmp_path: Path) -> None:
    answer = demo(folder=tmp_path)
    assert 0 == answer.returncode, answer.stderr
    for expected in (
        "lines shipped",
        "Inbox: what waits for a person",
        "anna approved",
        "ben rejected",
        "Orders",
        "as its journal tells it",
        "failed for good: NO_STOCK",
        "8 orders, 21 lines: 17 shipped, 4 not",
        "5 complete, 3 for a person: 2 approved, 1 rejected, 0 open; none failed",
    ):
        assert expected in answer.stdout
    assert "\x1b" not in answer.stdout
    assert "" == answer.stderr


@pytest.mark.parametrize(
    ("spoil", "expected"),
    (
        (shutil.rmtree, ("data", "does not exist")),
        (lambda data: (data / "products.csv").unlink(), ("products.csv", "put it there")),
        (
            lambda data: (data / "order_lines.csv").write_text("OrderID,ProductID,Quantity\n5002,1,many\n"),
            ("order_lines.csv line 2, column Quantity", "'many' cannot be used; write a whole number"),
        ),
    ),
)
def test_a_fault_in_the_data_is_told_before_anything_starts(
    spoil: Any, expected: tuple[str, ...], tmp_path: Path
) -> None:
    data = Path(shutil.copytree(OWN_DATA, tmp_path / "data"))
    spoil(data)
    answer = demo("--data", data, "--json", folder=tmp_path)
    assert 1 == answer.returncode
    assert "" == answer.stdout
    assert "Traceback" not in answer.stderr
    words = " ".join(answer.stderr.split())
    assert all(text in words for text in expected), answer.stderr
