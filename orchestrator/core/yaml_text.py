"""YAML as another way to write JSON: plain values mean what they mean in JSON and everything else is text.

So `on`, `yes`, `2030-01-01` and `00:01:30` are text, keys are text, and an object has each key once. Tags, merge keys
and several documents in one text are refused. Nothing is known here of what the document is about.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Final, NoReturn

import yaml

from orchestrator.errors import BadData

#: Deeper than any document that is accepted.
_MAX_DEPTH: Final = 100
#: Values after aliases have been written out, so that a few lines cannot become millions.
_MAX_VALUES: Final = 500_000

#: The loader in C where the installation has it.
_LOADER: Final = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

_INTEGER = re.compile(r"[-+]?(0|[1-9][0-9]*)", re.ASCII)
_NUMBER = re.compile(r"[-+]?((0|[1-9][0-9]*)(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]+)?", re.ASCII)
_NOT_FINITE = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
_WORDS: Final = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_STRUCTURE_TAGS: Final = frozenset({None, "!", "tag:yaml.org,2002:map", "tag:yaml.org,2002:seq"})
_TEXT_TAGS: Final = frozenset({"!", "tag:yaml.org,2002:str"})


def parse_yaml(text: str) -> Any:
    """The value of one YAML document; None for an empty text. Raises BadData, with line and column where it can."""
    builder = _Builder()
    try:
        for event in yaml.parse(text, Loader=_LOADER):
            builder.take(event)
    except yaml.MarkedYAMLError as problem:
        where, what = _at(problem.problem_mark or problem.context_mark), problem.problem or problem.context
        raise BadData(f"{where}the text is not YAML: {what}; correct it there") from None
    except yaml.YAMLError as problem:
        raise BadData(f"the text is not YAML: {' '.join(str(problem).split())}; correct it") from None
    return builder.root


@dataclass(slots=True)
class _Open:
    """A list or an object whose end has not come yet."""

    made: list[Any] | dict[str, Any]
    anchor: str | None
    #: Values counted when it began.
    before: int
    key: str | None = None


@dataclass(slots=True)
class _Builder:
    """Builds the value from parser events, without recursion."""

    root: Any = None
    documents: int = 0
    values: int = 0
    open: list[_Open] = field(default_factory=list)
    #: By anchor: its value and how many values that is.
    anchors: dict[str, tuple[Any, int]] = field(default_factory=dict)

    def take(self, event: yaml.Event) -> None:
        """Go on by one event."""
        match event:
            case yaml.DocumentStartEvent():
                self.documents += 1
                if self.documents > 1:
                    _refuse(event, "a second document begins; write one definition a file")
            case yaml.ScalarEvent():
                self._scalar(event)
            case yaml.SequenceStartEvent():
                self._begin(event, [])
            case yaml.MappingStartEvent():
                self._begin(event, {})
            case yaml.SequenceEndEvent() | yaml.MappingEndEvent():
                self._end()
            case yaml.AliasEvent():
                self._alias(event)

    def _scalar(self, event: yaml.ScalarEvent) -> None:
        if self._awaits_key():
            self._key(event)
            return
        plain = event.tag is None and event.implicit[0]
        if not plain and event.tag is not None and event.tag not in _TEXT_TAGS:
            _refuse(event, f"the tag {event.tag!r} has no meaning in JSON; remove it")
        self._put(event, _plain(event) if plain else event.value, 1, event.anchor)

    def _begin(self, event: yaml.CollectionStartEvent, made: list[Any] | dict[str, Any]) -> None:
        if self._awaits_key():
            _refuse(event, "a list or an object cannot be a key; keys are text")
        if event.tag not in _STRUCTURE_TAGS:
            _refuse(event, f"the tag {event.tag!r} has no meaning in JSON; remove it")
        if len(self.open) >= _MAX_DEPTH:
            _refuse(event, f"the document is nested deeper than {_MAX_DEPTH} levels; flatten it")
        before = self.values
        self._put(event, made, 1, None)
        self.open.append(_Open(made, event.anchor, before))

    def _end(self) -> None:
        ended = self.open.pop()
        if ended.anchor is not None:
            self.anchors[ended.anchor] = (ended.made, self.values - ended.before)

    def _alias(self, event: yaml.AliasEvent) -> None:
        if self._awaits_key():
            _refuse(event, "an alias cannot be a key; write the key itself")
        if event.anchor not in self.anchors:
            _refuse(event, f"the alias *{event.anchor} names no anchor that has ended before it")
        value, count = self.anchors[event.anchor]
        self._put(event, value, count, None)

    def _awaits_key(self) -> bool:
        return bool(self.open) and isinstance(self.open[-1].made, dict) and self.open[-1].key is None

    def _key(self, event: yaml.ScalarEvent) -> None:
        holder = self.open[-1]
        if event.value in holder.made:
            _refuse(event, f"the key {event.value!r} stands twice in one object; each key may stand once")
        if event.value == "<<" and event.implicit[0]:
            _refuse(event, "merge keys are not read; write the properties out, or use an alias for the whole value")
        holder.key = event.value

    def _put(self, event: yaml.NodeEvent, value: Any, count: int, anchor: str | None) -> None:
        self.values += count
        if self.values > _MAX_VALUES:
            _refuse(event, f"the document holds more than {_MAX_VALUES:,} values")
        if anchor is not None:
            self.anchors[anchor] = (value, count)
        if not self.open:
            self.root = value
            return
        holder = self.open[-1]
        if isinstance(holder.made, list):
            holder.made.append(value)
        elif holder.key is not None:
            holder.made[holder.key] = value
            holder.key = None


def _plain(event: yaml.ScalarEvent) -> Any:
    """What an unquoted scalar means."""
    text = event.value
    if text in _WORDS:
        return _WORDS[text]
    if _INTEGER.fullmatch(text):
        if len(text) > 1_000:
            _refuse(event, "the integer has more than 1,000 digits; write it as text")
        return int(text)
    if _NUMBER.fullmatch(text):
        return float(text)
    if _NOT_FINITE.fullmatch(text):
        _refuse(event, f"{text} is a number that JSON does not have; write null or text instead")
    return text


def _refuse(event: yaml.Event, what: str) -> NoReturn:
    raise BadData(f"{_at(event.start_mark)}{what}")


def _at(mark: Any) -> str:
    return f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
