"""Which performers a process has: collected from modules that are named, and none by accident."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from orchestrator.errors import BadSettings
from orchestrator.performers.invocation import Invocation
from orchestrator.performers.performer import performer
from orchestrator.performers.table import PerformerTable, collect, table_of

MARKED = """
    from orchestrator.performers.performer import performer

    @performer("{name}", version=1)
    def work(call):
        return None
"""

Write = Callable[[str, str], str]


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Write]:
    """Write a module that can be imported during the test."""
    monkeypatch.syspath_prepend(tmp_path)
    written: list[str] = []

    def module(name: str, text: str) -> str:
        (tmp_path / f"{name}.py").write_text(textwrap.dedent(text))
        written.append(name)
        return name

    yield module
    for name in written:
        sys.modules.pop(name, None)


@performer("here", version=1)
def here(call: Invocation) -> None: ...


def test_what_is_marked_in_the_named_modules_is_collected(write: Write) -> None:
    modules = [write("celeriac_one", MARKED.format(name="one")), write("celeriac_two", MARKED.format(name="two"))]
    assert {"one@1", "two@1"} == collect(modules, entry_points=False).capabilities


def test_a_function_that_two_modules_show_is_one_performer(write: Write) -> None:
    first = write("celeriac_one", MARKED.format(name="one"))
    again = write("celeriac_again", "from celeriac_one import work")
    assert 1 == len(collect([first, again, first], entry_points=False))


def test_one_capability_marked_twice_is_refused_naming_both_places(write: Write) -> None:
    modules = [write("celeriac_one", MARKED.format(name="same")), write("celeriac_two", MARKED.format(name="same"))]
    with pytest.raises(BadSettings, match=r"two performers are marked same@1: celeriac_one.work .* celeriac_two.work"):
        collect(modules, entry_points=False)


@pytest.mark.parametrize(
    ("text", "sentence"),
    (
        ("import nothing_of_this_name", "does not import: ModuleNotFoundError: No module named 'nothing_of_this_name'"),
        ("1 / 0", "does not import: ZeroDivisionError"),
        ("x = 1", "where nothing is marked"),
    ),
)
def test_a_module_that_is_no_good_is_named_with_its_cause(write: Write, text: str, sentence: str) -> None:
    with pytest.raises(BadSettings, match=f"CELERIAC_PERFORMERS names celeriac_bad.*{sentence}"):
        collect([write("celeriac_bad", text)], entry_points=False)


def test_installed_packages_bring_their_performers_by_entry_point(tmp_path: Path, write: Write) -> None:
    write("celeriac_plugin", MARKED.format(name="plugged"))
    info = tmp_path / "plugin-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: plugin\nVersion: 1\n")
    (info / "entry_points.txt").write_text(
        "[celeriac.performers]\nmodule = celeriac_plugin\nfunction = celeriac_plugin:work\n"
    )
    assert {"plugged@1"} == collect([]).capabilities


def test_an_entry_point_that_does_not_load_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    info = tmp_path / "plugin-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: plugin\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[celeriac.performers]\ngone = celeriac_gone\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(
        BadSettings, match=r"the entry point gone = celeriac_gone .* does not load: ModuleNotFoundError"
    ):
        collect([])


def test_a_table_knows_what_it_was_made_of_and_nothing_else() -> None:
    table = table_of([here])
    assert "here@1" in table
    assert table.get("here@2") is None
    assert [here] == [known.function for known in table]
    assert "PerformerTable(here@1)" == repr(table)


def test_what_is_not_marked_is_no_performer() -> None:
    with pytest.raises(BadSettings, match="is no performer: mark it"):
        table_of([print])


def test_a_table_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        PerformerTable().more = 1  # type: ignore[attr-defined]
