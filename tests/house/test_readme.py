"""The README keeps its word: every block of code and every command in it works, in an empty folder, embedded."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import tomllib
from pathlib import Path

import pytest

from tests.house.readme import Code, Command, Written, steps
from tests.house.sources import PROJECT
from tests.services.presence import leave_out


@pytest.fixture(scope="module")
def readme() -> Path:
    """The page."""
    page = PROJECT / "README.md"
    if not page.is_file():
        leave_out("the README", "it is not written yet")
    return page


@pytest.mark.timeout(300)
def test_a_reader_can_follow_the_readme_from_top_to_bottom(readme: Path, tmp_path: Path) -> None:
    outcome = followed(readme, tmp_path)
    assert 0 == outcome.returncode, outcome.stdout


@pytest.mark.timeout(300)
@pytest.mark.parametrize("page", ("docs/testing.md", "docs/quickstart.md", "docs/writing-performers.md"))
def test_a_reader_can_follow_the_pages_that_show_code(page: str, tmp_path: Path) -> None:
    outcome = followed(PROJECT / page, tmp_path)
    assert 0 == outcome.returncode, outcome.stdout


def test_the_readme_shows_code_and_commands(readme: Path) -> None:
    kinds = {type(step) for step in steps(readme.read_text(encoding="utf-8"))}
    assert {Code, Command} <= kinds


def test_the_readme_is_the_page_of_the_package(readme: Path) -> None:
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert readme.name == project.get("readme")


def followed(page: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    """Follow a page in this folder, with nothing of our own environment but the programs."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("CELERIAC_", "PYTEST_"))}
    environment |= {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": f"{PROJECT}{os.pathsep}{folder}",
        "CELERIAC_DATABASE_URL": f"sqlite:///{folder}/celeriac.db",
    }
    command = [sys.executable, "-m", "tests.house.readme", str(page)]
    return subprocess.run(
        command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, check=False, timeout=280,
    )  # fmt: skip


# --- and the way it is followed ---------------------------------------------------------------------------------------

PAGE = textwrap.dedent(
    """
    ```python
    # made/here.py
    ANSWER = 42
    ```
    ```python
    from made.here import ANSWER
    ```
    ```python no-run
    1 / 0
    ```
    ```console
    $ make nothing
    $ celeriac runs list \\
          --json
    []
    $ CELERIAC_DATABASE_URL=sqlite:///x.db celeriac up &
    ```
    ```yaml
    not: a file
    ```
    ```python
    assert ANSWER == 42
    ```
    """
)


def test_a_page_is_read_as_its_reader_would() -> None:
    assert [
        Written(3, "made/here.py", "# made/here.py\nANSWER = 42\n"),
        Code(7, "from made.here import ANSWER\n"),
        Command(14, "celeriac runs list        --json", background=False),
        Command(17, "CELERIAC_DATABASE_URL=sqlite:///x.db celeriac up", background=True),
        Code(23, "assert ANSWER == 42\n"),
    ] == list(steps(PAGE))


def test_code_is_run_in_one_namespace_beside_the_files_it_wrote(tmp_path: Path) -> None:
    page = tmp_path / "PAGE.md"
    page.write_text("\n".join(line for line in PAGE.splitlines() if not line.startswith("$ ")))
    outcome = followed(page, tmp_path)
    assert 0 == outcome.returncode, outcome.stdout


def test_a_step_that_fails_is_named_by_its_line(tmp_path: Path) -> None:
    page = tmp_path / "PAGE.md"
    page.write_text("# Title\n\n```python\nx = 1\n1 / 0\n```\n")
    outcome = followed(page, tmp_path)
    assert 0 != outcome.returncode
    assert "PAGE.md:3" not in outcome.stdout
    assert "PAGE.md:4" in outcome.stdout
    assert "line 5" in outcome.stdout
