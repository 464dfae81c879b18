"""The mark that makes a function a performer; collecting and calling are others' business.

Marking registers nothing: the function stays what it was, and a list of modules says which marks count (`table`).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias, TypeVar, get_args

from orchestrator.core.ids import id_problem
from orchestrator.performers.invocation import Invocation

#: What doing it twice would mean (semantics 2.2): nothing (`safe`), nothing more (`idempotent`), or harm (`once`).
Effect: TypeAlias = Literal["idempotent", "safe", "once"]

#: What may be marked: a function or a coroutine function of one `Invocation`.
Function: TypeAlias = Callable[[Invocation], Any]

F = TypeVar("F", bound=Function)

_MARK: Final = "__celeriac_performers__"


@dataclass(frozen=True, slots=True)
class Performer:
    """The code behind one capability, and what its author declared of it."""

    name: str
    version: int
    effect: Effect
    function: Function

    @property
    def capability(self) -> str:
        """``name@version``, which is also the name of the Celery task."""
        return f"{self.name}@{self.version}"

    @property
    def place(self) -> str:
        """Where the function stands, for messages."""
        function = inspect.unwrap(self.function)
        name = f"{getattr(function, '__module__', '?')}.{getattr(function, '__qualname__', repr(function))}"
        code = getattr(function, "__code__", None)
        return f"{name} ({code.co_filename}:{code.co_firstlineno})" if code else name


def performer(name: str, *, version: int, effect: Effect = "idempotent") -> Callable[[F], F]:
    """Mark a function or coroutine function as what performs ``name@version``; it stays usable as before.

    Raises ValueError for a name, a version or an effect that cannot be one, and TypeError for what cannot be marked.
    """
    if (problem := id_problem(name)) is not None:
        raise ValueError(f"the name of a performer {problem}; write @performer('orders.ship-line', version=1)")
    if not _is_version(version):
        raise ValueError(f"the version of {name!r} must be a whole number from 1, not {version!r}")
    if effect not in get_args(Effect):
        allowed = ", ".join(map(repr, get_args(Effect)))
        raise ValueError(f"the effect of {name!r} must be one of {allowed}, not {effect!r}")
    if (problem := id_problem(f"{name}@{version}")) is not None:
        raise ValueError(f"the capability {name}@{version} {problem}; shorten the name")

    def mark(function: F) -> F:
        if inspect.isclass(function) or not callable(function):
            raise TypeError(f"@performer({name!r}) marks a function, not {function!r}; wrap it in one")
        if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
            raise TypeError(f"@performer({name!r}) marks a function that returns its answer; {function!r} yields")
        made = (*marks_of(function), Performer(name, version, effect, function))
        try:
            setattr(function, _MARK, made)
        except (AttributeError, TypeError):
            raise TypeError(f"@performer({name!r}) cannot mark {function!r}; wrap it in a function") from None
        return function

    return mark


def _is_version(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


def marks_of(thing: object) -> tuple[Performer, ...]:
    """What was marked on this very thing; nothing for a class, a module or anything else."""
    found = getattr(thing, _MARK, ()) if callable(thing) and not inspect.isclass(thing) else ()
    return found if isinstance(found, tuple) and all(isinstance(mark, Performer) for mark in found) else ()
