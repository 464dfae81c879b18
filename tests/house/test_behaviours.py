"""Every promise of the model is proved: B1 to B108 and B112 to B114 each have a test that carries the number."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator

from tests.house.sources import Source, nothing_wrong, sources

PROMISED = {*range(1, 109), 112, 113, 114}

#: Promises of parts that do not exist yet; a test for one of them is welcome.
LATER = {109, 110, 111}


def numbers(source: Source) -> Iterator[tuple[int, str]]:
    """The promises that a file proves, by the marker ``behaviour("B34")`` or a name like ``test_b34_…``, and where."""
    for node in ast.walk(source.tree):
        match node:
            case ast.Call(func=ast.Attribute(attr="behaviour"), args=arguments):
                for argument in arguments:
                    digits = re.fullmatch(r"'B(\d+)'", ast.unparse(argument))
                    yield int(digits[1]) if digits else -1, f"{source.place}:{argument.lineno}"
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) if name.startswith("test_"):
                for text in re.findall(r"_[bB](\d+)(?=_|$)", name):
                    yield int(text), f"{source.place}:{node.lineno}"


def proved() -> dict[int, list[str]]:
    """By number: where it is proved, over all test files."""
    everything: dict[int, list[str]] = defaultdict(list)
    for source in sources("tests"):
        for number, place in numbers(source):
            everything[number].append(place)
    return everything


def test_every_promise_has_a_test() -> None:
    missing = [f"B{number}" for number in sorted(PROMISED - set(proved()))]
    nothing_wrong([f"no test carries {', '.join(missing)}"] if missing else [])


def test_no_test_carries_a_number_that_was_never_promised() -> None:
    strange = {number: places for number, places in proved().items() if number not in PROMISED | LATER}
    nothing_wrong(f"{place}: no such promise" for places in strange.values() for place in places)
