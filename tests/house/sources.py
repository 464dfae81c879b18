"""The project's source files as the house tests see them: read and parsed, never imported."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[2]

#: The packages that are shipped.
PACKAGES = ("orchestrator", "workers", "beat")


@dataclass(frozen=True)
class Source:
    """One Python file."""

    path: Path
    root: Path

    @property
    def place(self) -> str:
        """The path as a message shows it."""
        return self.path.relative_to(self.root).as_posix()

    @property
    def is_package(self) -> bool:
        """Whether it is the `__init__` of a package."""
        return self.path.name == "__init__.py"

    @property
    def module(self) -> str:
        """The dotted name."""
        parts = list(self.path.relative_to(self.root).with_suffix("").parts)
        return ".".join(parts[:-1] if self.is_package else parts)

    @cached_property
    def text(self) -> str:
        """What the file says."""
        return self.path.read_text(encoding="utf-8")

    @cached_property
    def tree(self) -> ast.Module:
        """The file, parsed."""
        return ast.parse(self.text, filename=str(self.path))


def sources(*tops: str, root: Path = PROJECT) -> list[Source]:
    """Every Python file below these folders, in order."""
    return [Source(path, root) for top in tops for path in sorted((root / top).rglob("*.py"))]


def nothing_wrong(lines: Iterable[str]) -> None:
    """Fail with all that is wrong, a line each, whole."""
    if found := list(lines):
        pytest.fail("\n".join(found), pytrace=False)


@dataclass(frozen=True)
class Import:
    """One name that a module imports; `name` is what stands behind `import` in a `from … import …`."""

    line: int
    module: str
    name: str | None
    #: Stands under `if TYPE_CHECKING:`.
    for_types_only: bool


def imports(source: Source) -> Iterator[Import]:
    """Every import of a file, inside functions too."""
    yield from _imports(source.tree.body, for_types_only=False)


def _imports(body: Sequence[ast.AST], *, for_types_only: bool) -> Iterator[Import]:
    for node in body:
        match node:
            case ast.Import(names=names, lineno=line):
                for alias in names:
                    yield Import(line, alias.name, None, for_types_only)
            case ast.ImportFrom(module=module, names=names, lineno=line, level=level):
                for alias in names:
                    yield Import(line, "." * level + (module or ""), alias.name, for_types_only)
            case ast.If(test=test, body=inner, orelse=otherwise) if ast.unparse(test).endswith("TYPE_CHECKING"):
                yield from _imports(inner, for_types_only=True)
                yield from _imports(otherwise, for_types_only=for_types_only)
            case _:
                yield from _imports(list(ast.iter_child_nodes(node)), for_types_only=for_types_only)
