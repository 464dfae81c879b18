"""The shapes that documents are made of: objects read in both spellings, and the types of their fields.

A shape says what may be written; what is wrong with what was written is put in words by `complaints`, and whether a
graph makes sense is `admission`'s.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from functools import lru_cache
from typing import Annotated, Any, Final, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    GetJsonSchemaHandler,
    PlainSerializer,
    ValidationError,
    WithJsonSchema,
    model_validator,
)
from pydantic.alias_generators import to_camel
from pydantic_core import CoreSchema, PydanticCustomError

from orchestrator.core.complaints import Problem, problems_of, shown
from orchestrator.core.data import printable
from orchestrator.core.durations import format_duration, parse_duration
from orchestrator.core.graph import Capability
from orchestrator.core.ids import MAX_ID_BYTES, id_problem

#: Counts and versions fit the integer column of every database.
MAX_INTEGER: Final = 2**31 - 1

#: Longer durations would lead past the last instant that a datetime knows.
MAX_DURATION: Final = timedelta(days=1_000_000)

_NAME_AND_VERSION = re.compile(r"(.+)@(0|[1-9][0-9]{0,9})", re.DOTALL | re.ASCII)


class Shape(BaseModel):
    """A JSON object that is read in camelCase and in snake_case; null counts as absent."""

    model_config = ConfigDict(
        alias_generator=to_camel,
        validate_by_alias=True,
        validate_by_name=True,
        frozen=True,
        strict=True,
        extra="ignore",
        use_attribute_docstrings=True,
    )

    @model_validator(mode="before")
    @classmethod
    def _one_spelling(cls, given: object) -> object:
        if not isinstance(given, Mapping):
            return given
        names = spellings(cls)
        absent = {key for key, value in given.items() if value is None and key in names}
        for name, alias in names.items():
            if name != alias and name in given and alias in given and name not in absent and alias not in absent:
                raise PydanticCustomError("both_spellings", f"has both {alias!r} and {name!r}; write one of them")
        return {key: value for key, value in given.items() if key not in absent}


S = TypeVar("S", bound=Shape)


@lru_cache(maxsize=64)
def spellings(shape: type[Shape]) -> Mapping[str, str]:
    """Every accepted spelling of every property of a shape, with the one that is written."""
    found: dict[str, str] = {}
    for name, field in shape.model_fields.items():
        alias = field.alias or name
        found[name] = found[alias] = alias
    return found


# --- field types ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Written:
    """On a field: how a value that was read in one of several forms is written. Raises ValueError for a wrong value."""

    form: Callable[[Any], Any]


def duration_problem(value: timedelta) -> str | None:
    """What keeps a duration from being counted from any instant, as the end of a sentence, or None."""
    if value < timedelta(0):
        return "must not be negative"
    if value > MAX_DURATION:
        return f"must not be longer than {MAX_DURATION.days:,} days"
    return None


def _duration(value: object) -> timedelta:
    if not isinstance(value, str):
        raise ValueError(f'must be text like "00:01:30" or "2.00:00:00", not {shown(value)}')
    read = parse_duration(value)
    if problem := duration_problem(read):
        raise ValueError(problem)
    return read


_DURATION_SCHEMA = WithJsonSchema(
    {
        "type": "string",
        "pattern": r"^(([0-9]+\.)?([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]{1,6}0*)?|P[0-9WDTHMS.]+)$",
        "examples": ["00:01:30", "2.00:00:00", "PT90S"],
    }
)
_AS_WRITTEN = Written(lambda value: format_duration(_duration(value)))

#: ``[d.]hh:mm:ss[.fff]``, or ISO-8601 ``P…``; the first form is written.
Duration = Annotated[
    timedelta,
    BeforeValidator(_duration),
    PlainSerializer(format_duration, return_type=str),
    _AS_WRITTEN,
    _DURATION_SCHEMA,
]

#: The same where none need be given.
OptionalDuration = Annotated[timedelta | None, BeforeValidator(_duration), _AS_WRITTEN, _DURATION_SCHEMA]

#: A duration after which something expires; zero is for ever, as if it were absent.
Expiry = Annotated[
    timedelta | None,
    BeforeValidator(_duration),
    AfterValidator(lambda value: value or None),
    _AS_WRITTEN,
    _DURATION_SCHEMA,
]


def named_version(text: str) -> Capability:
    """Read ``name@version``. Raises ValueError saying what is wrong."""
    found = _NAME_AND_VERSION.fullmatch(text)
    if found is None:
        raise ValueError(f"must be written name@version, such as orders.ship-line@1, not {printable(text, 100)!r}")
    return Capability(found[1], int(found[2]))


def as_object(value: object) -> object:
    """The text ``name@version`` as the object ``{id, version}``; anything else as it is. Raises ValueError."""
    if not isinstance(value, str):
        return value
    read = named_version(value)
    return {"id": read.name, "version": read.version}


class NamedVersion(Shape):
    """A name and an integer version, ``{id, version}``; the text ``name@version`` is read too."""

    id: str
    """The name, such as orders.ship-line."""
    version: int
    """The version, an integer from 1."""

    @model_validator(mode="before")
    @classmethod
    def _from_text(cls, given: object) -> object:
        return as_object(given)

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        text = {"type": "string", "pattern": "^.+@[1-9][0-9]{0,9}$", "examples": ["orders.ship-line@1"]}
        return {"anyOf": [text, handler(schema)], "title": "Name and version"}

    def __str__(self) -> str:
        return f"{self.id}@{self.version}"

    def problem(self) -> str | None:
        """What keeps this from naming a version of something, as the end of a sentence."""
        return named_version_problem(self.id, self.version)


def named_version_problem(name: str, version: int) -> str | None:
    """What is wrong with a name and a version, as the end of a sentence, or None."""
    if problem := id_problem(name):
        return f"has a name that {problem}"
    if not 1 <= version <= MAX_INTEGER:
        return f"has the version {version}; versions are integers from 1 to {MAX_INTEGER}"
    if id_problem(f"{name}@{version}"):
        return f"is longer than {MAX_ID_BYTES} bytes when written name@version"
    return None


def spelled(shape: type[Shape], given: Mapping[str, Any]) -> dict[str, Any]:
    """The same object as it is stored: known names in camelCase, known values in their written form, no null of a known
    name; what is unknown or wrong stays as it was given."""
    names = spellings(shape)
    fields = {field.alias or name: field for name, field in shape.model_fields.items()}
    made: dict[str, Any] = {}
    for key, value in given.items():
        alias = names.get(key)
        if alias is None or (key != alias and value is not None and given.get(alias) is not None):
            made[key] = value
        elif value is not None:
            form = next((item.form for item in fields[alias].metadata if isinstance(item, Written)), None)
            made[alias] = _attempt(form, value) if form else value
    return made


def _attempt(form: Callable[[Any], Any], value: Any) -> Any:
    try:
        return form(value)
    except ValueError:
        return value


# --- reading in spite of problems ---------------------------------------------------------------------------------


def read_leniently(shape: type[S], given: Mapping[str, Any]) -> tuple[S, tuple[Problem, ...]]:
    """What of an object fits a shape whose properties all have defaults, and everything in it that does not."""
    try:
        return shape.model_validate(given), ()
    except ValidationError as error:
        found = problems_of(error)
    wrong = {problem.path[0] for problem in found if problem.path}
    names = spellings(shape)
    fitting = {key: value for key, value in given.items() if names.get(key) not in wrong}
    try:
        return shape.model_validate(fitting), found
    except ValidationError:
        return shape(), found
