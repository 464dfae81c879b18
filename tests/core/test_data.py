"""The JSON rules: what is refused, what it says, and that what is accepted stays the same text for ever."""

from __future__ import annotations

import dataclasses
import datetime as dt
import decimal
import enum
import json
import math
import pathlib
import types
import uuid
from collections import ChainMap, OrderedDict, defaultdict, namedtuple
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.core.data import (
    DEFAULT_LIMITS,
    EMPTY,
    DataLimits,
    JsonText,
    canonical,
    compact,
    load,
    parse,
    printable,
    size,
)
from orchestrator.errors import BadData, BadSettings

# --- what may be in a document ----------------------------------------------------------------------------------------

texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=12)
keys = st.sampled_from(["__type__", "__value__", "__json__", "", "a b", "\\u0000", "é", "1"]) | texts
integers = st.integers() | st.integers(-(10**64) + 1, 10**64 - 1)
scalars = st.none() | st.booleans() | integers | st.floats(allow_nan=False, allow_infinity=False) | texts
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=4), max_leaves=20
)


def nested(depth: int) -> Any:
    """Lists in lists, `depth` of them."""
    value: Any = []
    for _ in range(depth - 1):
        value = [value]
    return value


def same(one: object, other: object) -> bool:
    """Equal in type, in order of keys and in the sign of zero, which `==` overlooks."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict) and isinstance(other, dict):
        return list(one) == list(other) and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, float) and isinstance(other, float):
        return one == other and math.copysign(1, one) == math.copysign(1, other)
    return one == other


def refusal(value: object, limits: DataLimits = DEFAULT_LIMITS) -> str:
    with pytest.raises(BadData) as caught:
        canonical(value, limits)
    caught.value.message.encode()
    return caught.value.message


def parse_refusal(text: str | bytes, limits: DataLimits = DEFAULT_LIMITS) -> str:
    with pytest.raises(BadData) as caught:
        parse(text, limits)
    caught.value.message.encode()
    return caught.value.message


# --- what is accepted -------------------------------------------------------------------------------------------------


@given(values)
def test_what_is_stored_reads_back_as_the_value_that_was_given(value: object) -> None:
    assert same(value, load(canonical(value)))


@given(values)
def test_canonical_text_is_the_same_when_it_is_made_again(value: object) -> None:
    text = canonical(value)
    assert text == canonical(load(text)) == parse(text) == parse(text.encode()) == compact(load(text))


@given(values)
def test_any_spelling_of_a_document_becomes_the_same_text(value: object) -> None:
    assert canonical(value) == parse(json.dumps(value, indent=3, ensure_ascii=True))


@given(values)
def test_a_size_is_the_bytes_of_the_text(value: object) -> None:
    text = canonical(value)
    assert len(text.encode()) == size(text)


@pytest.mark.parametrize(
    ("value", "text"),
    (
        (None, "null"),
        (True, "true"),
        ({}, "{}"),
        ([], "[]"),
        ((1, (2,)), "[1,[2]]"),
        ("", '""'),
        (1, "1"),
        (1.0, "1.0"),
        (-0.0, "-0.0"),
        (1e22, "1e+22"),
        (5e-324, "5e-324"),
        (10**22, "10000000000000000000000"),
        (2**64, "18446744073709551616"),
        ({"b": 1, "a": {"d": [], "c": None}}, '{"b":1,"a":{"d":[],"c":null}}'),
        ('é\u2028\x1f\x7f/"\\\n\U0001f600', '"é\u2028\\u001f\x7f/\\"\\\\\\n\U0001f600"'),
        ("\\u0000", '"\\\\u0000"'),
    ),
)
def test_a_value_has_one_compact_text(value: object, text: str) -> None:
    assert text == canonical(value)


def test_the_empty_object_is_its_text() -> None:
    assert EMPTY == canonical({})


class Colour(enum.StrEnum):
    RED = "red"


class Level(enum.IntEnum):
    LOW = 1


class Shouting(str):
    __slots__ = ()

    def __str__(self) -> str:
        return self.upper()

    def __len__(self) -> int:
        return 0


class Real(float):
    def __repr__(self) -> str:
        return "real"


class Lying(dict[str, Any]):
    def items(self) -> Any:
        return [(1, object())]

    def __len__(self) -> int:
        return 0


Point = namedtuple("Point", "x y")  # noqa: PYI024


@pytest.mark.parametrize(
    ("value", "text"),
    (
        (Colour.RED, '"red"'),
        (Level.LOW, "1"),
        ([Level.LOW, {Colour.RED: Colour.RED}], '[1,{"red":"red"}]'),
        (OrderedDict(b=1, a=2), '{"b":1,"a":2}'),
        (defaultdict(list, {"a": [1]}), '{"a":[1]}'),
        (Point(1, 2), "[1,2]"),
        (Shouting("soft"), '"soft"'),
        (Real(1.5), "1.5"),
        (Lying(a=1), '{"a":1}'),
    ),
)
def test_a_subclass_counts_as_the_value_it_carries(value: object, text: str) -> None:
    assert text == canonical(value)


def test_a_value_that_stands_at_two_places_is_written_twice() -> None:
    shared = {"a": [1]}
    assert '[{"a":[1]},{"a":[1]}]' == canonical([shared, shared])


def test_nothing_of_the_value_is_changed() -> None:
    value = {"lines": [(1, 2), OrderedDict(a=Level.LOW)]}
    canonical(value)
    assert same({"lines": [(1, 2), OrderedDict(a=Level.LOW)]}["lines"][0], value["lines"][0])
    assert isinstance(value["lines"][1], OrderedDict)
    assert value["lines"][1]["a"] is Level.LOW


# --- what is refused, and how it is said ------------------------------------------------------------------------------


@dataclasses.dataclass
class Order:
    id: str


class Plain(enum.Enum):
    ONE = 1


class Pretender:
    """Says that it is a dict, as stand-ins in tests do."""

    __class__ = dict  # type: ignore[assignment]


@pytest.mark.parametrize(
    ("value", "place", "name", "advice"),
    (
        ({"lines": [0, 1, 2, {"price": decimal.Decimal("1.10")}]}, "$.lines[3].price", "Decimal", "str(…)"),
        (dt.datetime(2026, 1, 15, tzinfo=dt.UTC), "$", "datetime", "isoformat()"),
        ([dt.timedelta(1)], "$[0]", "timedelta", "total_seconds()"),
        ({"a b": {"ü": b"x"}}, '$["a b"]["ü"]', "bytes", "base64"),
        (({1},), "$[0]", "set", "list"),
        ((n for n in (1,)), "$", "generator", "list"),
        (uuid.UUID(int=1), "$", "UUID", "str(…)"),
        (pathlib.Path("x"), "$", "PosixPath", "str(…)"),
        (Plain.ONE, "$", "Plain", "value"),
        (Order("1"), "$", "Order", "asdict"),
        (types.MappingProxyType({}), "$", "mappingproxy", "dict(…)"),
        (ChainMap({}), "$", "ChainMap", "dicts"),
        (object(), "$", "object", "text, numbers"),
        (Order, "$", "type", "text, numbers"),
        (Pretender(), "$", "Pretender", "text, numbers"),
        (1j, "$", "complex", "floats"),
    ),
)
def test_a_value_of_another_type_is_refused_by_place_and_type_and_says_what_to_pass(
    value: object, place: str, name: str, advice: str
) -> None:
    message = refusal(value)
    assert message.startswith(f"{place} is of type {name}, ")
    assert advice in message


@pytest.mark.parametrize("key", (1, None, True, 1.5, ("a",), b"a", Plain.ONE))
def test_a_key_that_is_not_text_is_refused(key: object) -> None:
    assert refusal({"a": [{key: 1}]}).startswith(f"$.a[0] has a key of type {type(key).__name__}; ")


def test_two_keys_that_carry_the_same_text_are_refused() -> None:
    class Own(str):
        __slots__ = ()
        __hash__ = object.__hash__

        def __eq__(self, other: object) -> bool:
            return self is other

    assert refusal({Own("a"): 1, Own("a"): 2}).startswith('$ has the key "a" twice; ')


@pytest.mark.parametrize("number", (math.nan, math.inf, -math.inf, Real("nan")))
def test_a_number_that_is_not_finite_is_refused(number: float) -> None:
    assert refusal({"a": [1.0, number]}).startswith(f"$.a[1] is {float.__repr__(number)}, ")


@pytest.mark.parametrize("text", ("\ud800", "a\udfff", "\ude00\ud83d", chr(0xD83D) + chr(0xDE00)))
def test_half_of_a_surrogate_pair_is_refused_in_values_and_in_keys(text: str) -> None:
    assert refusal(["ok", text]).startswith("$[1] holds half of a surrogate pair at position ")
    assert refusal({"a": {text: 1}}).startswith("a key of $.a holds half of a surrogate pair at position ")


def test_nul_is_refused_in_values_and_in_keys() -> None:
    assert refusal({"a": "x\x00"}).startswith("$.a holds the character NUL at position 1, ")
    assert refusal({"a": [{"x\x00": 1}]}).startswith("a key of $.a[0] holds the character NUL at position 1, ")


def test_the_text_of_an_escape_is_not_the_character_it_stands_for() -> None:
    assert '{"\\\\u0000":"\\\\\\\\u0000"}' == canonical({"\\u0000": "\\\\u0000"})


@pytest.mark.parametrize("number", (10**64, -(10**64), pytest.param(10**5000, id="5,000 digits")))
def test_an_integer_of_more_than_64_digits_is_refused(number: int) -> None:
    assert refusal({"n": number}).startswith("$.n is an integer of more than 64 digits, ")


@pytest.mark.parametrize("number", (10**64 - 1, 1 - 10**64))
def test_an_integer_of_64_digits_is_kept_exactly(number: int) -> None:
    assert number == load(canonical(number))


@pytest.mark.parametrize("value", (nested(64), {"a": nested(63)}, [(nested(62),)]))
def test_a_depth_of_64_is_accepted(value: object) -> None:
    assert value is not None
    assert canonical(value) == parse(canonical(value))


@pytest.mark.parametrize("value", (nested(65), {"a": nested(64)}, (nested(64),), nested(900)))
def test_a_depth_of_65_is_refused(value: object) -> None:
    assert "nested deeper than 64 levels" in refusal(value)


def test_a_scalar_has_depth_0_and_an_empty_list_depth_1() -> None:
    limits = DataLimits(max_depth=1)
    assert "1" == canonical(1, limits)
    assert "[1]" == canonical([1], limits)
    assert "nested deeper than 1 levels" in refusal([[]], limits)


def test_a_value_that_holds_itself_is_refused() -> None:
    one: list[Any] = []
    one += [one, one]
    other: dict[str, Any] = {}
    other["a"] = [other]
    assert "or holds itself" in refusal(one)
    assert "or holds itself" in refusal(other)


def test_a_value_that_is_huge_through_shared_parts_is_refused_at_once() -> None:
    value: Any = ["x" * 1000] * 10
    for _ in range(50):
        value = [value] * 10
    assert "more than 32,768" in refusal(value)
    assert "more than 32,768" in refusal([OrderedDict(a="x" * 1_000_000)] * 1_000_000)


# --- size -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("letter", ("x", "é", "€", "\U0001f600"))
def test_32_768_bytes_are_accepted_and_one_more_is_refused(letter: str) -> None:
    width = len(letter.encode())
    text = letter * (32_766 // width) + "x" * (32_766 % width)
    assert 32_768 == size(canonical(text))
    assert 32_768 == size(parse(f'  "{text}"  '))
    assert "32,769 bytes" in refusal(text + "x")
    assert "32,769 bytes" in parse_refusal(f'"{text}x"')


def test_blanks_and_escapes_do_not_count() -> None:
    spaced = "[" + "1 ,\n" * 16_382 + "1]"
    assert 32_767 == size(parse(spaced))
    assert 32_768 == size(parse('"' + "\\u0041" * 32_766 + '"'))


def test_text_of_more_than_sixteen_times_the_limit_is_not_read() -> None:
    assert "{}" == parse(" " * (16 * 32_768 - 2) + "{}")
    assert "not read at all" in parse_refusal(" " * (16 * 32_768 - 1) + "{}")


def test_a_setting_raises_the_limit() -> None:
    value = "x" * 40_000
    assert 40_002 == size(canonical(value, DataLimits(max_bytes=40_002)))
    assert "40,002 bytes" in refusal(value, DataLimits(max_bytes=40_001))


@pytest.mark.parametrize(
    ("name", "value"),
    (("max_bytes", 1), ("max_depth", 0), ("max_depth", 201), ("max_digits", 5_000), ("max_input_bytes", -1)),
)
def test_limits_that_could_not_be_kept_are_refused(name: str, value: int) -> None:
    with pytest.raises(BadSettings, match=f"the data limit {name} must be from "):
        DataLimits(**{name: value})


# --- text of others ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("constant", ("NaN", "Infinity", "-Infinity"))
def test_constants_that_are_no_json_are_refused(constant: str) -> None:
    assert parse_refusal(f'{{"a":[{constant}]}}').startswith(f"the JSON text has {constant}, ")


@pytest.mark.parametrize("number", ("1e999", "-1E400"))
def test_a_number_that_only_infinity_could_hold_is_refused(number: str) -> None:
    assert "inf, which JSON does not have" in parse_refusal(f"[{number}]")


@pytest.mark.parametrize("text", ('{"a":1,"a":1}', '{"x":[{"a":1,"b":2,"\\u0061":3}]}', '{"a":{"a":1},"b":1,"a":2}'))
def test_a_key_that_stands_twice_in_an_object_is_refused(text: str) -> None:
    assert 'has the key "a" twice in one object' in parse_refusal(text)


def test_a_key_that_stands_twice_is_found_quickly_among_many() -> None:
    many = ",".join(f'"{number}":0' for number in range(40_000))
    assert "twice" in parse_refusal(f'{{{many},"39999":0}}', DataLimits(max_bytes=1_000_000))


@pytest.mark.parametrize("text", (b"\xff", b'"\xc3"', b'"\xed\xa0\x80"', b'"\xc0\x80"', "[]".encode("utf-16")))
def test_bytes_that_are_not_utf_8_are_refused(text: bytes) -> None:
    assert "not UTF-8" in parse_refusal(text)


@pytest.mark.parametrize("text", ("\ufeff{}", b"\xef\xbb\xbf{}"))
def test_a_byte_order_mark_is_refused(text: str | bytes) -> None:
    assert "byte order mark" in parse_refusal(text)


@pytest.mark.parametrize("text", ('"\\ud800"', '"\\ude00\\ud83d"', '{"\\udc00":1}', '"\ud800"', '["\\uD83D\\uD83D"]'))
def test_half_of_a_surrogate_pair_in_the_text_is_refused(text: str) -> None:
    assert "half of a surrogate pair" in parse_refusal(text)


def test_a_whole_surrogate_pair_in_the_text_is_one_character() -> None:
    assert '"\U0001f600"' == parse('"\\ud83d\\ude00"')


def test_an_escaped_nul_is_refused_and_its_escaped_backslash_is_not() -> None:
    assert "NUL" in parse_refusal('"\\u0000"')
    assert '"\\\\u0000"' == parse('"\\\\u0000"')


@pytest.mark.parametrize(
    "text",
    (
        pytest.param("[" * 100_000, id="open lists"),
        pytest.param('{"a":' * 100_000, id="open objects"),
        pytest.param("[" * 100_000 + "]" * 100_000, id="lists"),
        pytest.param("[" * 65 + "]" * 65, id="one too many"),
    ),
)
def test_text_that_is_nested_too_deep_is_refused_without_falling_over(text: str) -> None:
    assert "nested deeper than 64 levels" in parse_refusal(text, DataLimits(max_bytes=100_000))


def test_text_nested_64_deep_is_read() -> None:
    assert "[" * 64 + "]" * 64 == parse("[ " * 64 + " ]" * 64)


@pytest.mark.parametrize("digits", ("9" * 65, "-" + "1" * 65, pytest.param("9" * 5_000, id="5,000 digits")))
def test_an_integer_in_the_text_of_more_than_64_digits_is_refused(digits: str) -> None:
    assert "integer of more than 64 digits" in parse_refusal(f"[{digits}]")


def test_numbers_keep_their_kind() -> None:
    assert "[0,-0.0,1.0,1e+22,10000000000000000000000,0.1]" == parse("[-0,-0.0,1.0,1E22,10000000000000000000000,0.10]")


@pytest.mark.parametrize(
    "text",
    (
        "", " ", "{", "[1,]", '{"a":1,}', "{'a':1}", "{a:1}", "[01]", "[1.]", "[.5]", "[+1]", "[0x1]", "[1_0]", "[--1]",
        "[1e]", "{} {}", "{}x", "nul", "True", "undefined", '"\x01"', '"\t"', '"\n"', '"\\x41"', '"\\u12"', '"\\u+123"',
        "\u00a0{}", "\x0c{}", "[1] // no", "/**/[]", '"a', "[\uff11]", "[1\u0663]",
    ),
)  # fmt: skip
def test_what_is_not_strictly_json_is_refused_with_the_place(text: str) -> None:
    assert parse_refusal(text).startswith("the text is not JSON: ")
    assert " at line " in parse_refusal(text)


@given(st.text() | st.binary())
def test_any_text_is_read_or_refused(text: str | bytes) -> None:
    try:
        made = parse(text)
    except BadData:
        return
    assert made == canonical(load(made))


# --- text for people --------------------------------------------------------------------------------------------------


@given(st.text(st.characters(codec=None, exclude_categories=())), st.integers(1, 20))
def test_printable_text_can_be_stored_and_is_never_longer_than_asked(text: str, limit: int) -> None:
    shown = printable(text, limit)
    assert len(shown) == min(len(text), limit)
    assert JsonText(f"{canonical(shown)}") == canonical(load(canonical(shown)))
    assert shown == printable(shown, limit)


@pytest.mark.parametrize(
    ("text", "shown"),
    (("abc", "abc"), ("abcd", "ab…"), ("a\x00b", "a\ufffdb"), ("\ud800", "\ufffd"), ("", ""), ("a\n", "a\n")),
)
def test_printable_text_replaces_and_cuts(text: str, shown: str) -> None:
    assert shown == printable(text, 3)
