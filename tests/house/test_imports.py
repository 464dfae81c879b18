"""Arrows point down: who may import whom, no rings, no faces from inside, and a core that touches nothing."""

from __future__ import annotations

import ast
import graphlib
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.house.sources import PACKAGES, Import, Source, imports, nothing_wrong, sources

#: The floor of each part of the house; the longest name that fits a module counts. A part that is not here has no place
#: yet: give it one.
FLOORS = {
    "orchestrator.errors": 0,
    "orchestrator.core": 1,
    "orchestrator.ports": 2,
    "orchestrator.store": 3,
    "orchestrator.dispatch": 3,
    "orchestrator.engine": 4,
    "orchestrator.pumps": 5,
    "orchestrator.performers": 5,
    "orchestrator.drawing": 5,
    "orchestrator.telling": 5,
    "orchestrator.overlays": 6,
    "orchestrator.standing": 6,
    "orchestrator.settings": 6,
    "orchestrator.definition_files": 6,
    "orchestrator.reference": 6,
    "orchestrator.wiring": 6,
    "orchestrator.client": 6,
    "orchestrator.graph": 6,
    "orchestrator.testing": 6,
    "orchestrator.flagship": 6,
    "orchestrator.cli": 7,
    "workers": 7,
    "beat": 7,
    # The face hands on what stands below it, and nobody inside imports it.
    "orchestrator": 8,
}

#: Adapters of different ports stand side by side and never see each other.
STRANGERS = ({"orchestrator.store", "orchestrator.dispatch"},)

#: What ties code to a database, a broker or a process: only the parts named may know it.
INFRASTRUCTURE = {
    "sqlalchemy": ("orchestrator.store", "orchestrator.wiring"),
    "alembic": ("orchestrator.store", "orchestrator.wiring"),
    "psycopg": ("orchestrator.store",),
    "celery": ("orchestrator.dispatch", "orchestrator.wiring", "orchestrator.cli", "workers", "beat"),
    "kombu": ("orchestrator.dispatch", "orchestrator.wiring", "workers", "beat"),
    "redis": ("orchestrator.dispatch", "orchestrator.wiring", "workers", "beat"),
    "typer": ("orchestrator.cli",),
    "rich": ("orchestrator.cli",),
}

#: What the core may import that is neither its own nor of the list below: pure libraries.
PURE_LIBRARIES = {"croniter", "orjson", "pydantic", "pydantic_core", "rpds", "yaml"}

#: The standard library's ways to the clock, to chance and to the world outside.
IMPURE = {
    "asyncio", "contextvars", "glob", "http", "io", "logging", "multiprocessing", "os", "pathlib", "pickle", "platform",
    "random", "secrets", "select", "shutil", "signal", "socket", "sqlite3", "subprocess", "sys", "tempfile",
    "threading", "time", "urllib", "uuid", "warnings",
}  # fmt: skip

IMPURE_CALLS = {"now", "today", "utcnow", "open", "print", "input"}

PURE = ("orchestrator.errors", "orchestrator.core")


# --- the rules, over any tree of sources ------------------------------------------------------------------------------


def inside(module: str, part: str) -> bool:
    """Whether a module belongs to a part of the house."""
    return module == part or module.startswith(part + ".")


def part_of(module: str) -> str | None:
    """The part of the house that a module belongs to."""
    if module in FLOORS:
        return module
    fitting = [part for part in FLOORS if inside(module, part) and part != "orchestrator"]
    return max(fitting, key=len, default=None)


def own_imports(source: Source, names: set[str]) -> Iterator[tuple[Import, str]]:
    """The imports that reach our own packages, each with the module it reaches."""
    for found in imports(source):
        if found.module.split(".")[0] in PACKAGES:
            deeper = f"{found.module}.{found.name}"
            yield found, deeper if deeper in names else found.module


def upward(tree: list[Source]) -> list[str]:
    """Imports that go up, or sideways between strangers, and modules without a floor."""
    names = {source.module for source in tree}
    wrong = []
    for source in tree:
        part = part_of(source.module)
        if part is None:
            wrong.append(f"{source.place}: has no floor yet; give its part of the house one in FLOORS")
            continue
        for found, target in own_imports(source, names):
            other = part_of(target)
            strangers = any({part, other} == pair for pair in STRANGERS)
            if other is None or FLOORS[other] > FLOORS[part] or strangers:
                wrong.append(f"{source.place}:{found.line}: {source.module} may not import {target}")
    return wrong


def faces(tree: list[Source]) -> list[str]:
    """Imports of a face from inside: a name that an `__init__` only hands on, or anything of the three top ones."""
    names = {source.module for source in tree}
    packages = {source.module: defined(source) for source in tree if source.is_package}
    wrong = []
    for source in tree:
        for found, target in own_imports(source, names):
            handed_on = target == found.module in packages and found.name not in packages[target]
            if (found.module in PACKAGES or handed_on) and found.module != source.module:
                what = f"{found.module}.{found.name}" if found.name else found.module
                wrong.append(f"{source.place}:{found.line}: takes {what} from a face; import what defines it")
    return wrong


def defined(source: Source) -> set[str]:
    """The names that a module defines itself, at its top."""
    found = set()
    for node in source.tree.body:
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                found.add(name)
            case ast.Assign(targets=targets):
                found |= {target.id for target in targets if isinstance(target, ast.Name)}
            case ast.AnnAssign(target=ast.Name(id=name)):
                found.add(name)
    return found


def ring(tree: list[Source]) -> list[str] | None:
    """One ring of modules that import each other, or None. What is imported for types only ties no ring."""
    names = {source.module for source in tree}
    arrows = {
        source.module: {t for f, t in own_imports(source, names) if not f.for_types_only and t != source.module}
        for source in tree
    }
    try:
        graphlib.TopologicalSorter(arrows).prepare()
    except graphlib.CycleError as error:
        return list(error.args[1])
    return None


def infrastructure(tree: list[Source]) -> list[str]:
    """Imports of a database, a broker or a terminal where they have no business."""
    return [
        f"{source.place}:{found.line}: only {', '.join(INFRASTRUCTURE[library])} may import {library}"
        for source in tree
        for found in imports(source)
        if (library := found.module.split(".")[0]) in INFRASTRUCTURE
        if not any(inside(source.module, part) for part in INFRASTRUCTURE[library])
    ]


def impure(source: Source) -> Iterator[str]:
    """What a module of the core does that is not pure."""
    for found in imports(source):
        top = found.module.split(".")[0]
        if top in IMPURE or top not in {*sys.stdlib_module_names, *PACKAGES, *PURE_LIBRARIES}:
            yield f"{source.place}:{found.line}: imports {found.module}"
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", None)
            if name in IMPURE_CALLS:
                yield f"{source.place}:{node.lineno}: calls {ast.unparse(node.func)}()"


# --- our own tree keeps them ------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def tree() -> list[Source]:
    """Everything that is shipped."""
    return sources(*PACKAGES)


def test_imports_go_down_only(tree: list[Source]) -> None:
    nothing_wrong(upward(tree))


def test_nobody_inside_imports_a_face(tree: list[Source]) -> None:
    nothing_wrong(faces(tree))


def test_no_modules_import_each_other_in_a_ring(tree: list[Source]) -> None:
    assert None is ring(tree)


def test_databases_brokers_and_terminals_are_known_where_they_are_used_and_nowhere_else(tree: list[Source]) -> None:
    nothing_wrong(infrastructure(tree))


def test_the_core_has_no_clock_no_chance_and_no_outside(tree: list[Source]) -> None:
    pure = [source for source in tree if any(inside(source.module, part) for part in PURE)]
    nothing_wrong(line for source in pure for line in impure(source))


def test_what_is_shipped_never_imports_the_tests_or_the_examples(tree: list[Source]) -> None:
    outside = {"tests", "examples", "benchmarks"}
    nothing_wrong(s.place for s in tree for found in imports(s) if found.module.split(".")[0] in outside)


# --- and the rules do catch what they are there for -------------------------------------------------------------------


def planted(root: Path, files: dict[str, str]) -> list[Source]:
    """A small tree of its own."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text))
    return sources(*PACKAGES, root=root)


def test_an_arrow_upward_is_caught_inside_a_function_too(tmp_path: Path) -> None:
    tree = planted(
        tmp_path,
        {
            "orchestrator/core/fold.py": "def f():\n    from orchestrator.store.rows import Row\n",
            "orchestrator/store/rows.py": "import orchestrator.core.fold\n",
        },
    )
    assert ["orchestrator/core/fold.py:2: orchestrator.core.fold may not import orchestrator.store.rows"] == upward(
        tree
    )


def test_adapters_of_different_ports_are_strangers(tmp_path: Path) -> None:
    tree = planted(
        tmp_path,
        {"orchestrator/store/rows.py": "import orchestrator.dispatch.bell\n", "orchestrator/dispatch/bell.py": ""},
    )
    assert 1 == len(upward(tree))


def test_a_part_without_a_floor_is_asked_to_take_one(tmp_path: Path) -> None:
    assert 1 == len(upward(planted(tmp_path, {"orchestrator/attic.py": ""})))


def test_a_ring_is_caught_and_imports_for_types_tie_none(tmp_path: Path) -> None:
    for_types = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import orchestrator.core.a\n"
    files = {"orchestrator/core/a.py": "from orchestrator.core import b\n", "orchestrator/core/b.py": for_types}
    assert None is ring(planted(tmp_path, files))
    found = ring(planted(tmp_path, {"orchestrator/core/b.py": "import orchestrator.core.a\n"}))
    assert {"orchestrator.core.a", "orchestrator.core.b"} == set(found or ())


def test_a_face_is_caught_and_a_module_taken_from_its_package_is_none(tmp_path: Path) -> None:
    tree = planted(
        tmp_path,
        {
            "orchestrator/__init__.py": "from orchestrator.client import Orchestrator\n",
            "orchestrator/client.py": "from orchestrator.core import fold\n",
            "orchestrator/core/__init__.py": "",
            "orchestrator/core/fold.py": "",
            "workers/__init__.py": "",
            "workers/body.py": "from orchestrator import Orchestrator\nfrom orchestrator.core import Fold\n",
        },
    )
    assert ["workers/body.py:1", "workers/body.py:2"] == [line.split(": ")[0] for line in faces(tree)]


def test_a_clock_in_the_core_is_caught(tmp_path: Path) -> None:
    text = "import time\nimport celery\nfrom datetime import datetime\ndatetime.now()\n"
    (source,) = planted(tmp_path, {"orchestrator/core/fold.py": text})
    assert 3 == len(list(impure(source)))
