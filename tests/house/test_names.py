"""A module is named by its noun and opens with a sentence; what is public says what it is for."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator

from tests.house.sources import PACKAGES, Source, nothing_wrong, sources

#: Names of drawers.
DRAWERS = {"utils", "util", "helpers", "helper", "common", "base", "manager", "managers", "misc", "tools", "stuff"}

EVERYWHERE = (*PACKAGES, "examples", "benchmarks", "tests")


def test_no_module_is_named_like_a_drawer() -> None:
    nothing_wrong(s.place for s in sources(*EVERYWHERE) if DRAWERS & {part.strip("_") for part in s.module.split(".")})


def test_no_module_at_the_top_of_a_package_is_named_like_one_of_the_standard_library() -> None:
    tops = {(s.module.split(".")[1], s.module.split(".")[0]) for s in sources(*PACKAGES) if "." in s.module}
    nothing_wrong(sorted(f"{package}.{name}" for name, package in tops if name in sys.stdlib_module_names))


def test_every_module_opens_with_a_docstring() -> None:
    nothing_wrong(f"{s.place}: no docstring" for s in sources(*EVERYWHERE) if not ast.get_docstring(s.tree))


def test_every_package_has_an_init_that_says_its_law() -> None:
    folders = {s.path.parent for s in sources(*PACKAGES)}
    nothing_wrong(sorted(f"{folder}: no __init__.py" for folder in folders if not (folder / "__init__.py").is_file()))


def test_every_public_class_and_function_has_a_docstring() -> None:
    nothing_wrong(f"{s.place}:{n.lineno}: {n.name}" for s in sources(*PACKAGES) for n in undocumented(s))


def undocumented(source: Source) -> Iterator[ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef]:
    """Classes and functions of a module that anyone may use and that do not say what for."""
    for node in source.tree.body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            overload = any("overload" in ast.unparse(decorator) for decorator in node.decorator_list)
            if not node.name.startswith("_") and not overload and not ast.get_docstring(node):
                yield node
