"""Facts as documents: every fact there and back, what is none left out, and strangers refused loudly."""

from __future__ import annotations

import json
from dataclasses import fields
from datetime import UTC, datetime, timedelta
from typing import Any, get_type_hints

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.core.codec import branch_document, branch_from, fact_data, fact_document, fact_from
from orchestrator.core.data import JsonText, compact
from orchestrator.core.facts import (
    FACT_TYPES,
    Branch,
    ExecutionRef,
    Fact,
    Step,
    Trigger,
    WorkflowBranchesJoined,
    WorkflowRunSucceeded,
)
from orchestrator.core.outcomes import FailureKind, Receipt
from orchestrator.errors import UnknownFact

texts = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=8)
instants = st.timedeltas(timedelta(0), timedelta(days=2_000_000)).map(
    lambda span: datetime(1970, 1, 1, tzinfo=UTC) + span
)
steps = st.builds(Step, texts, st.integers(1, 9), texts)
branches: st.SearchStrategy[Branch] = st.lists(steps, max_size=3).map(tuple)
executions = st.builds(ExecutionRef, texts, texts, branches, st.integers(1, 99))
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=5,
).map(compact)


def triggers() -> st.SearchStrategy[Trigger]:
    """With a subject or without; never half of one."""
    bare = st.builds(Trigger, texts, correlation=st.none() | texts)
    return bare | st.builds(Trigger, texts, texts, texts, st.none() | texts)


def receipts() -> st.SearchStrategy[Receipt]:
    """As they stand in facts: without their output."""
    return st.one_of(
        st.builds(Receipt, st.just("succeeded"), outlet=texts),
        st.builds(Receipt, st.sampled_from(("skipped", "ambiguous")), reason=texts),
        st.builds(
            Receipt,
            st.just("failed"),
            kind=st.sampled_from(FailureKind),
            reason=texts,
            code=st.none() | texts,
            retryable=st.booleans(),
        ),
        st.builds(
            Receipt,
            st.just("suspended"),
            key=texts,
            expires_after=st.none() | st.timedeltas(timedelta(microseconds=1), timedelta(days=9_999)),
        ),
    )


BY_TYPE: dict[Any, st.SearchStrategy[Any]] = {
    str: texts,
    int: st.integers(0, 10**9),
    datetime: instants,
    ExecutionRef: executions,
    Trigger: triggers(),
    Receipt: receipts(),
    FailureKind: st.sampled_from(FailureKind),
    JsonText: values,
    tuple[str, ...]: st.lists(texts, max_size=3).map(tuple),
}


def strategy_of(hint: Any) -> st.SearchStrategy[Any]:
    """Values of a field, by its type."""
    options = getattr(hint, "__args__", ())
    if type(None) in options:
        [other] = [option for option in options if option is not type(None)]
        return st.none() | strategy_of(other)
    return BY_TYPE.get(hint, st.dictionaries(texts, st.integers(1, 99), max_size=3))


def facts_of(kind: Any) -> st.SearchStrategy[Fact]:
    """Any fact of a type."""
    hints = get_type_hints(kind)
    strategies = {each.name: strategy_of(hints[each.name]) for each in fields(kind)}
    if "definition" in strategies:
        strategies["definition"] = st.dictionaries(texts, texts, max_size=3).map(compact)
    return st.builds(kind, **strategies)


facts: st.SearchStrategy[Fact] = st.sampled_from(list(FACT_TYPES.values())).flatmap(facts_of)


@given(facts)
def test_every_fact_comes_back_as_it_was_stored(fact: Fact) -> None:
    text = fact_data(fact)
    assert fact == fact_from(type(fact).__name__, text, getattr(fact, "value", None))


@given(facts)
def test_the_user_json_stands_beside_the_document_and_not_in_it(fact: Fact) -> None:
    document = json.loads(fact_data(fact))
    assert "value" not in document
    assert document == json.loads(json.dumps(fact_document(fact)))


@given(facts)
def test_what_is_none_is_left_out_and_names_are_camel_case(fact: Fact) -> None:
    document = fact_document(fact)
    assert None not in document.values()
    assert all(name.isalpha() and name[0].islower() for name in document)


@given(branches)
def test_branches_of_any_depth_come_back(branch: Branch) -> None:
    assert branch == branch_from(branch_document(branch))


def test_a_type_that_is_not_known_is_a_loud_error() -> None:
    with pytest.raises(UnknownFact, match="'WorkflowMoonLanded' is not known to this release"):
        fact_from("WorkflowMoonLanded", "{}", None)


def test_what_an_older_document_does_not_say_has_its_default() -> None:
    ref = ExecutionRef("e", "gather", (), 1)
    fact = WorkflowBranchesJoined(ref, ExecutionRef("f", "fan", (), 1), "completed")
    document = json.loads(fact_data(fact))
    del document["calledOff"]
    assert fact == fact_from("WorkflowBranchesJoined", json.dumps(document), None)


def test_what_a_newer_document_says_besides_is_ignored() -> None:
    assert WorkflowRunSucceeded() == fact_from("WorkflowRunSucceeded", '{"mood":"good"}', None)
