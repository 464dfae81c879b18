"""YAML is another way to write JSON, and nothing beyond it."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.core.data import compact
from orchestrator.core.yaml_text import parse_yaml
from orchestrator.errors import BadData


@pytest.mark.parametrize(
    ("text", "value"),
    (
        ("a: on", {"a": "on"}),
        ("on: yes", {"on": "yes"}),
        ("a: 2030-01-01", {"a": "2030-01-01"}),
        ("a: 00:01:30", {"a": "00:01:30"}),
        ("a: 007", {"a": "007"}),
        ("a: 0x1F", {"a": "0x1F"}),
        ("a: 1_000", {"a": "1_000"}),
        ("1: a", {"1": "a"}),
        ("~: a", {"~": "a"}),
        ("a: 12", {"a": 12}),
        ("a: -1.5e3", {"a": -1500.0}),
        ("a: .5", {"a": 0.5}),
        ("a: true", {"a": True}),
        ("a:", {"a": None}),
        ("a: ~", {"a": None}),
        ("a: '12'", {"a": "12"}),
        ("a: !!str 12", {"a": "12"}),
        ("a: ! 12", {"a": "12"}),
        ("a: &x [1, {b: 2}]\nc: *x", {"a": [1, {"b": 2}], "c": [1, {"b": 2}]}),
        ("a: |\n  one\n  two\n", {"a": "one\ntwo\n"}),
        ("", None),
        ("# nothing", None),
        ("- 1", [1]),
    ),
)
def test_plain_values_mean_what_they_mean_in_json_and_all_else_is_text(text: str, value: Any) -> None:
    assert value == parse_yaml(text)


@pytest.mark.parametrize(
    ("text", "message"),
    (
        ("a: 1\na: 2", "line 2, column 1: the key 'a' stands twice"),
        ("a: {b: 1, 'b': 2}", "stands twice"),
        ("a: 1\n---\nb: 2", "line 2, column 1: a second document begins"),
        ("a: !!binary eA==", "has no meaning in JSON"),
        ("a: !thing {}", "has no meaning in JSON"),
        ("a: !!set {x}", "has no meaning in JSON"),
        ("a: !!python/object/apply:os.system [ls]", "has no meaning in JSON"),
        ("a: &x 1\nb: {<<: *x}", "merge keys are not read"),
        ("? [1]\n: 2", "keys are text"),
        ("? {a: 1}\n: 2", "keys are text"),
        ("x: &a b\n*a : 2", "an alias cannot be a key"),
        ("a: *ghost", "names no anchor"),
        ("a: &a [*a]", "names no anchor that has ended"),
        ("a: .inf", "JSON does not have"),
        ("a: .nan", "JSON does not have"),
        ("a: [1", "the text is not YAML"),
        ("\ta: 1", "line 1, column 1: the text is not YAML"),
        ("a: \0", "the text is not YAML"),
        ("[" * 150, "nested deeper than 100"),
        ("[" * 100_000, "not YAML|nested deeper"),
        ("a: " + "1" * 2_000, "more than 1,000 digits"),
    ),
)
def test_what_has_no_json_meaning_is_refused_with_its_place(text: str, message: str) -> None:
    with pytest.raises(BadData, match=message):
        parse_yaml(text)


def test_a_few_aliases_cannot_become_millions_of_values() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]
    with pytest.raises(BadData, match="more than 500,000 values"):
        parse_yaml("\n".join(lines))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("abc", max_size=3), inner, max_size=3),
    max_leaves=8,
)


@given(JSON)
def test_json_is_yaml(value: Any) -> None:
    assert value == parse_yaml(compact(value))


@given(st.text(max_size=60) | st.text("ab:-[]{}&*! '\"|>\n#?,<1.", max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    with suppress(BadData):
        parse_yaml(text)
