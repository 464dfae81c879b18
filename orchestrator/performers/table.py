"""The table of performers: which code performs which capability in this process. Immutable, and no name twice."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import metadata
from types import MappingProxyType, ModuleType
from typing import Final

from orchestrator.errors import BadSettings
from orchestrator.performers.performer import Performer, marks_of

#: Installed packages name their performers in this entry-point group: a module, or one marked function.
ENTRY_POINTS: Final = "celeriac.performers"


class PerformerTable:
    """Performers by capability; refuses two for one capability and names both places."""

    __slots__ = ("_performers",)

    def __init__(self, performers: Iterable[Performer] = ()) -> None:
        found: dict[str, Performer] = {}
        for performer in performers:
            other = found.setdefault(performer.capability, performer)
            if other != performer:
                raise BadSettings(
                    f"two performers are marked {performer.capability}: {other.place} and {performer.place}; "
                    "give one of them another name or version"
                )
        self._performers: Mapping[str, Performer] = MappingProxyType(found)

    def get(self, capability: str) -> Performer | None:
        """Who performs this exact name and version."""
        return self._performers.get(capability)

    @property
    def capabilities(self) -> frozenset[str]:
        """Everything that can be performed here."""
        return frozenset(self._performers)

    def __iter__(self) -> Iterator[Performer]:
        return iter(self._performers.values())

    def __len__(self) -> int:
        return len(self._performers)

    def __contains__(self, capability: object) -> bool:
        return capability in self._performers

    def __reduce__(self) -> tuple[type[PerformerTable], tuple[tuple[Performer, ...]]]:
        return PerformerTable, (tuple(self),)

    def __repr__(self) -> str:
        return f"PerformerTable({', '.join(sorted(self._performers))})"


def table_of(marked: Iterable[object]) -> PerformerTable:
    """The table of these marked functions. Raises `BadSettings` for one that is not marked."""
    performers: list[Performer] = []
    for thing in marked:
        marks = marks_of(thing)
        if not marks:
            raise BadSettings(f"{thing!r} is no performer: mark it with @performer('name', version=1)")
        performers += marks
    return PerformerTable(performers)


def collect(modules: Sequence[str], *, entry_points: bool = True) -> PerformerTable:
    """Import these modules, and what the entry points name, and gather what is marked in them.

    Raises `BadSettings` for a module that does not import or marks nothing, and for a capability marked twice.
    """
    performers = [mark for name in modules for mark in _marked_in(_imported(name), f"CELERIAC_PERFORMERS names {name}")]
    if entry_points:
        for point in sorted(metadata.entry_points(group=ENTRY_POINTS), key=lambda point: (point.name, point.value)):
            what = f"the entry point {point.name} = {point.value} ({ENTRY_POINTS})"
            try:
                thing = point.load()
            except Exception as error:
                raise BadSettings(f"{what} does not load: {_sentence(error)}") from error
            performers += marks_of(thing) or _marked_in(thing, what)
    return PerformerTable(performers)


def _imported(name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except Exception as error:
        raise BadSettings(
            f"CELERIAC_PERFORMERS names {name}, which does not import: {_sentence(error)}; "
            "check the name and that it is importable from here"
        ) from error


def _marked_in(thing: object, what: str) -> list[Performer]:
    """What is marked in a module, in the order of its names there."""
    names = vars(thing) if isinstance(thing, ModuleType) else {}
    found = list(dict.fromkeys(mark for value in names.values() for mark in marks_of(value)))
    if not found:
        raise BadSettings(f"{what}, where nothing is marked with @performer")
    return found


def _sentence(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
