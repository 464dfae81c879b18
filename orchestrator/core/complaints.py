"""Pydantic's complaints in our own words: each a place in a document and a sentence that says what to do."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from orchestrator.core.data import printable

_PLAIN_KEY = re.compile(r"[^\W\d][\w-]*")


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that does not fit a shape: the path to it and the end of a sentence about it."""

    path: tuple[str | int, ...]
    message: str


def problems_of(error: ValidationError) -> tuple[Problem, ...]:
    """Pydantic's complaints in our words."""
    return tuple(Problem(detail["loc"], _sentence(detail)) for detail in error.errors(include_url=False))


def place(path: tuple[str | int, ...], *, under: str = "") -> str:
    """A path as it is shown: ``graph.nodes[3].policy.maxAttempts``."""
    return (under + "".join(_steps(path))).removeprefix(".")


def _steps(path: tuple[str | int, ...]) -> Iterator[str]:
    for step in path:
        if isinstance(step, int):
            yield f"[{step}]"
        elif _PLAIN_KEY.fullmatch(step):
            yield f".{step}"
        else:
            yield f"[{json.dumps(printable(step, 64), ensure_ascii=False)}]"


_NEEDED = {
    "string_type": "text",
    "string_unicode": "text",
    "int_type": "an integer",
    "int_from_float": "an integer",
    "int_parsing_size": "a smaller integer",
    "bool_type": "true or false",
    "list_type": "a list",
    "dict_type": "an object",
    "mapping_type": "an object",
    "model_type": "an object",
    "model_attributes_type": "an object",
}


def _sentence(detail: ErrorDetails) -> str:
    """What is wrong, as the end of a sentence whose subject is the place."""
    kind, context = detail["type"], detail.get("ctx", {})
    match kind:
        case "missing":
            return "is missing; add it"
        case "extra_forbidden":
            return "is no property that is known here; correct its name or remove it"
        case "invalid_key":
            return "is not text; the keys of an object are text"
        case "literal_error":
            return f"must be {context['expected']}, not {shown(detail['input'])}"
        case "value_error":
            return str(context["error"])
        case _ if kind in _NEEDED:
            return f"must be {_NEEDED[kind]}, not {shown(detail['input'])}"
        case _:
            return detail["msg"]


def kind_of(value: object) -> str:
    """The kind of a JSON value in JSON's words."""
    match value:
        case None:
            return "null"
        case bool():
            return "true or false"
        case int() | float():
            return "a number"
        case str():
            return "text"
        case list() | tuple():
            return "a list"
        case Mapping():
            return "an object"
        case _:
            return f"of type {type(value).__name__}"


def shown(value: object) -> str:
    """A value in a message: short ones themselves, others by their kind."""
    match value:
        case bool():
            return "true" if value else "false"
        case int() | float():
            return (
                printable(repr(value), 40)
                if not isinstance(value, int) or value.bit_length() < 200
                else "a huge number"
            )
        case str():
            return repr(printable(value, 60))
        case _:
            return kind_of(value)
