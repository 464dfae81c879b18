"""The JSON rules (semantics 1.8): what data may enter a run, and the one text it is kept as.

Everything a user hands in becomes canonical text here: compact, keys in the order given, floats as Python writes them.
Equal text is equal data on every database. What the data means is nobody's business here.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from dataclasses import dataclass, is_dataclass
from typing import Any, Final, NewType, NoReturn

from orchestrator.errors import BadData, BadSettings

#: Canonical JSON text: made by `canonical` or `parse`, or read back from where it was stored.
JsonText = NewType("JsonText", str)

EMPTY: Final = JsonText("{}")


@dataclass(frozen=True, slots=True)
class DataLimits:
    """How large one document may be; depth and digits are bounded too, since not every reader copes with more."""

    #: Of one payload, output or signal payload, as compact UTF-8, inclusive.
    max_bytes: int = 32_768
    #: A scalar has depth 0, ``[]`` has depth 1.
    max_depth: int = 64
    #: Of one integer, without its sign.
    max_digits: int = 64
    #: Of the composed input of an execution.
    max_input_bytes: int = 1_048_576

    def __post_init__(self) -> None:
        for name, least, most in (
            ("max_bytes", 2, 2**30),
            ("max_depth", 1, 200),
            ("max_digits", 1, 4_000),
            ("max_input_bytes", 2, 2**30),
        ):
            if not least <= (given := getattr(self, name)) <= most:
                raise BadSettings(f"the data limit {name} must be from {least:,} to {most:,}, not {given:,}")


DEFAULT_LIMITS: Final = DataLimits()

#: Raw text may be longer than its compact form by blanks and escapes, but not without end.
_RAW_FACTOR = 16

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}", re.ASCII)

_ADVICE = {
    "Decimal": "pass str(…) of it to keep every digit, or float(…)",
    "Fraction": "pass str(…) or float(…) of it",
    "complex": "pass a list of two floats",
    "datetime": "pass its isoformat() text",
    "date": "pass its isoformat() text",
    "time": "pass its isoformat() text",
    "timedelta": "pass its total_seconds()",
    "bytes": "decode it to text, with base64 if it is not text",
    "bytearray": "decode it to text, with base64 if it is not text",
    "set": "pass a sorted list",
    "frozenset": "pass a sorted list",
    "generator": "pass a list",
    "range": "pass a list",
    "UUID": "pass str(…) of it",
    "PurePath": "pass str(…) of it",
    "Enum": "pass its value",
    "ndarray": "pass its tolist()",
    "generic": "pass its item()",
    "BaseModel": 'pass its model_dump(mode="json")',
    "mappingproxy": "pass dict(…) of it",
}

_encode = json.JSONEncoder(ensure_ascii=False, check_circular=False, allow_nan=False, separators=(",", ":")).encode


def canonical(value: object, limits: DataLimits = DEFAULT_LIMITS) -> JsonText:
    """The canonical text of a Python value made of None, bool, int, float, str, list, tuple and dict with text keys.

    Subclasses count as the value they carry: a StrEnum member is its text, an IntEnum member its number, a defaultdict
    an object, a named tuple a list. Raises BadData, naming the place, for anything else and what is beyond `limits`.
    """
    text = _quickly(value, limits)
    if text is None:
        text = _encode(_Inspection(limits).plain(value, "$", 0))
    made = JsonText(text)
    if (measured := size(made)) > limits.max_bytes:
        _too_large(f"{measured:,}", limits)
    return made


def parse(text: str | bytes, limits: DataLimits = DEFAULT_LIMITS) -> JsonText:
    """The canonical text of a JSON document written by anybody (RFC 8259, strictly).

    Raises BadData for what is not JSON, has a key twice in one object, or is beyond `limits`, which count for the
    compact form; blanks and escapes may make the document up to 16 times as long.
    """
    if len(text) > limits.max_bytes * _RAW_FACTOR:
        raise BadData(
            f"the JSON text is {len(text):,} long, which is not read at all above {limits.max_bytes * _RAW_FACTOR:,}; "
            f"its compact form may have {limits.max_bytes:,} bytes"
        )
    if isinstance(text, bytes):
        try:
            text = text.decode()
        except UnicodeDecodeError as problem:
            raise BadData(f"the JSON text is not UTF-8 at byte {problem.start}; send it as UTF-8") from None
    if text.startswith("\ufeff"):
        raise BadData("the JSON text starts with a byte order mark; send it without")

    def integer(digits: str) -> int:
        if len(digits.lstrip("-")) > limits.max_digits:
            raise BadData(_too_many_digits("the JSON text has an integer", limits))
        return int(digits)

    try:
        value = json.loads(text, object_pairs_hook=_without_twins, parse_constant=_no_constant, parse_int=integer)
    except json.JSONDecodeError as problem:
        raise BadData(
            f"the text is not JSON: {problem.msg} at line {problem.lineno}, column {problem.colno}; correct it there"
        ) from None
    except RecursionError:
        raise BadData(_too_deep("the JSON text", limits)) from None
    return canonical(value, limits)


def compact(value: object) -> JsonText:
    """Canonical text of a value that was checked before or that we made ourselves; no limit is looked at."""
    return JsonText(_encode(value))


def load(text: JsonText) -> Any:
    """The Python value of canonical text; `canonical` of it is the same text again."""
    return json.loads(text)


def size(text: JsonText) -> int:
    """Bytes of the text as UTF-8, which is what limits count."""
    return len(text) if text.isascii() else len(text.encode())


def printable(text: str, limit: int) -> str:
    """The text made storable: NUL and halves of surrogate pairs replaced, cut to `limit` characters with an `…`."""
    if len(text) > limit:
        text = text[: max(limit - 1, 0)] + "…"
    return _UNSTORABLE.sub("\ufffd", str(text))


def _quickly(value: object, limits: DataLimits) -> str | None:
    """The text of a value that is good at first sight, or None for one that `_Inspection` has to look at."""
    if not _plainly_good(value, limits):
        return None
    try:
        text = _encode(value)
        if not text.isascii():
            text.encode()
    except ValueError:  # a number that is not finite, half of a surrogate pair
        return None
    return None if "\\u0000" in text else text


def _plainly_good(value: object, limits: DataLimits) -> bool:
    """Whether only built-in types stand in `value`, within depth, digits and a lower bound of its size.

    The quick look that good data passes; what it does not pass may still be good. Numbers that are not finite and
    characters that are not storable are seen in the text instead, which is cheaper.
    """
    most, bound = limits.max_bytes, 10**limits.max_digits
    total, depth = -1, -1
    level: list[Any] = [(value,)]
    while level:
        depth += 1
        if depth > limits.max_depth:
            return False
        deeper: list[Any] = []
        for container in level:
            total += len(container)
            children = container
            if type(container) is dict:
                for key in container:
                    if type(key) is not str:
                        return False
                    total += len(key)
                children = container.values()
            for child in children:
                kind = type(child)
                if kind is str:
                    total += len(child)
                elif kind is int:
                    if not -bound < child < bound:
                        return False
                elif kind is dict or kind is list or kind is tuple:
                    deeper.append(child)
                elif not (child is None or kind is bool or kind is float):
                    return False
            if total > most:
                return False
        level = deeper
    return True


class _Inspection:
    """The thorough look: copies a value into built-in types, or raises BadData with the path of what is wrong."""

    def __init__(self, limits: DataLimits) -> None:
        self._limits = limits
        self._bound = 10**limits.max_digits
        #: Bytes the rest of the value may still take, counted from below, so that shared parts cannot explode.
        self._left = limits.max_bytes

    def plain(self, value: Any, path: str, depth: int) -> Any:
        kind = type(value)  # not isinstance: a stand-in may say that it is a dict
        if value is None or kind is bool:
            return value
        if issubclass(kind, str):
            self._spend(str.__len__(value))
            return _text(value, path)
        if issubclass(kind, int):
            number = int.__index__(value)
            if not -self._bound < number < self._bound:
                raise BadData(_too_many_digits(f"{path} is an integer", self._limits))
            return number
        if issubclass(kind, float):
            real = float.__float__(value)
            if not math.isfinite(real):
                raise BadData(f"{path} is {real!r}, which JSON does not have; pass null or text instead")
            return real
        if not issubclass(kind, (list, tuple, dict)):
            raise BadData(f"{path} is of type {_type_name(value)}, which JSON does not have; {_advice(value)}")
        if depth >= self._limits.max_depth:
            raise BadData(_too_deep(path, self._limits))
        return self._object(value, path, depth) if issubclass(kind, dict) else self._list(value, path, depth)

    def _list(self, value: Any, path: str, depth: int) -> list[Any]:
        copy = []
        rows = list.__iter__(value) if issubclass(type(value), list) else tuple.__iter__(value)
        for at, item in enumerate(rows):
            self._spend(1)
            copy.append(self.plain(item, f"{path}[{at}]", depth + 1))
        return copy

    def _object(self, value: Any, path: str, depth: int) -> dict[str, Any]:
        copy: dict[str, Any] = {}
        for key, item in dict.items(value):
            if not issubclass(type(key), str):
                raise BadData(f"{path} has a key of type {_type_name(key)}; keys are text in JSON, pass str(…) of it")
            self._spend(1 + str.__len__(key))
            name = _text(key, f"a key of {path}")
            if name in copy:
                raise BadData(f"{path} has the key {_shown(name)} twice; each key may stand once in an object")
            copy[name] = self.plain(item, path + _step(name), depth + 1)
        return copy

    def _spend(self, count: int) -> None:
        self._left -= count
        if self._left < 0:
            _too_large(f"more than {self._limits.max_bytes:,}", self._limits)


def _text(value: str, path: str) -> str:
    if found := _UNSTORABLE.search(value):
        what = "the character NUL" if found[0] == "\x00" else "half of a surrogate pair"
        raise BadData(f"{path} holds {what} at position {found.start()}, which cannot be stored; remove or replace it")
    return str.__str__(value)


def _step(key: str) -> str:
    return f".{key}" if _PLAIN_KEY.fullmatch(key) else f"[{_shown(key)}]"


def _shown(key: str) -> str:
    return json.dumps(printable(key, 64), ensure_ascii=False)


def _type_name(value: object) -> str:
    return printable(type(value).__name__, 64)


def _advice(value: object) -> str:
    if is_dataclass(type(value)):
        return "pass dataclasses.asdict(…) of it"
    named = (_ADVICE[kind.__name__] for kind in type(value).__mro__ if kind.__name__ in _ADVICE)
    return next(named, "pass text, numbers, true, false, null, or lists and dicts of these")


def _without_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        twice = next(name for name, count in Counter(name for name, _ in pairs).items() if count > 1)
        raise BadData(f"the JSON text has the key {_shown(twice)} twice in one object; each key may stand once")
    return made


def _no_constant(name: str) -> NoReturn:
    raise BadData(f"the JSON text has {name}, which JSON does not have; write null or text instead")


def _too_many_digits(what: str, limits: DataLimits) -> str:
    return f"{what} of more than {limits.max_digits} digits, which not every reader keeps exactly; pass it as text"


def _too_deep(what: str, limits: DataLimits) -> str:
    return f"{what} is nested deeper than {limits.max_depth} levels, or holds itself; flatten it"


def _too_large(measured: str, limits: DataLimits) -> NoReturn:
    raise BadData(
        f"the value is {measured} bytes as compact JSON, at most {limits.max_bytes:,} are allowed; "
        "store the large part elsewhere and pass its id, or raise the data limit"
    )
