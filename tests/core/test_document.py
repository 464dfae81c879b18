"""Definition documents: both spellings are read, one form is written, and nothing but `Rejected` comes of bad ones."""

from __future__ import annotations

import copy
import json
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.core.data import compact
from orchestrator.core.document import definition_from, definition_from_text, document_of, text_of
from orchestrator.core.document_schema import json_schema
from orchestrator.core.graph import Capability, Definition, NodeKind, Policy
from orchestrator.core.yaml_text import parse_yaml
from orchestrator.errors import Rejected
from orchestrator.reference import EXAMPLE
from tests.definitions import START, action, document, fan_out, node


def example() -> dict[str, Any]:
    made = parse_yaml(EXAMPLE)
    assert isinstance(made, dict)
    return made


def one(kind: str, configuration: dict[str, Any]) -> dict[str, Any]:
    """A document whose second node has this configuration."""
    return document(START, node("n", kind, "out", configuration=configuration))


# --- reading ----------------------------------------------------------------------------------------------------------


def test_a_document_becomes_plain_data() -> None:
    definition = definition_from(example())
    load = definition.graph.node["load-lines"]
    assert ("orders.fulfil", 1, "orders", "order") == (
        definition.workflow,
        definition.version,
        definition.area,
        definition.subject_kind,
    )
    assert (Capability("orders.load-lines", 1),) == definition.capabilities
    assert (NodeKind.ACTION, Capability("orders.load-lines", 1), ("next",)) == (
        load.kind,
        load.capability,
        load.outlets,
    )
    assert Policy(3, timedelta(minutes=1), timedelta(seconds=10), 1) == load.policy
    assert ("load-lines",) == definition.graph.targets("start", "next")


def test_policy_and_configuration_may_be_left_out() -> None:
    read = definition_from(document(START, action("a"))).graph.node["a"]
    assert (Policy(), "{}") == (read.policy, read.configuration)


def test_a_policy_may_say_only_a_part() -> None:
    read = definition_from(document(START, action("a", policy={"retryDelay": "PT5S"}))).graph.node["a"]
    assert Policy(retry_delay=timedelta(seconds=5)) == read.policy


def test_a_capability_is_text_or_an_object() -> None:
    as_text = definition_from(document(START, action("a", capability="x@y@2")))
    as_object = definition_from(document(START, action("a", capability={"id": "x@y", "version": 2})))
    assert Capability("x@y", 2) == as_text.graph.node["a"].capability
    assert as_text == as_object


SNAKE = {
    "workflow": "w",
    "version": 1,
    "area": "a",
    "subject_kind": "order",
    "graph": {
        "nodes": [
            START,
            action(
                "load", policy={"max_attempts": 2, "attempt_timeout": "PT1M", "retry_delay": "PT1S", "max_visits": 3}
            ),
            node(
                "fan",
                "forEach",
                "each",
                configuration={"items_from": "load", "items_property": "x", "max_parallelism": 2},
            ),
            node("gather", "join", "completed", configuration={"for_each": "fan", "mode": "atLeast", "threshold": 1}),
            node("ok", "approval", "approved", configuration={"expires_after": "P2D"}),
            node("paid", "wait", "resumed", configuration={"signal": "paid@1", "expires_after": "PT1H"}),
        ]
    },
}
CAMEL = {
    "workflow": "w",
    "version": 1,
    "area": "a",
    "subjectKind": "order",
    "graph": {
        "nodes": [
            START,
            action(
                "load",
                policy={"maxAttempts": 2, "attemptTimeout": "00:01:00", "retryDelay": "00:00:01", "maxVisits": 3},
            ),
            node(
                "fan", "forEach", "each", configuration={"itemsFrom": "load", "itemsProperty": "x", "maxParallelism": 2}
            ),
            node("gather", "join", "completed", configuration={"forEach": "fan", "mode": "atLeast", "threshold": 1}),
            node("ok", "approval", "approved", configuration={"expiresAfter": "2.00:00:00"}),
            node(
                "paid",
                "wait",
                "resumed",
                configuration={"signal": {"id": "paid", "version": 1}, "expiresAfter": "01:00:00"},
            ),
        ]
    },
}


def test_both_spellings_are_the_same_definition() -> None:
    assert definition_from(CAMEL) == definition_from(SNAKE)
    assert definition_from(CAMEL).digest == definition_from(SNAKE).digest


def test_null_counts_as_absent() -> None:
    nothing = {"capability": None, "policy": None, "configuration": {"expiresAfter": None}}
    given = document(START, node("a", "approval", "approved", **nothing))
    given["capabilities"] = None
    assert definition_from(document(START, node("a", "approval", "approved"))) == definition_from(given)


def test_unknown_properties_of_a_configuration_are_kept() -> None:
    definition = definition_from(one("approval", {"colour": {"expires_after": 1}, "kind": "timer"}))
    assert {"colour": {"expires_after": 1}, "kind": "timer"} == json.loads(definition.graph.node["n"].configuration)


def test_the_configuration_of_an_action_is_left_as_its_author_wrote_it() -> None:
    written = {"items_from": "x", "expires_after": "P2D", "nothing": None, "real": 1.0}
    definition = definition_from(document(START, action("a", configuration=written)))
    assert written == json.loads(definition.graph.node["a"].configuration)


def test_unknown_properties_of_the_document_are_kept() -> None:
    definition = definition_from(document(START, triggers=[{"cron": "0 6 * * *"}], title=None))
    assert '{"triggers":[{"cron":"0 6 * * *"}],"title":null}' == definition.extra
    assert definition == definition_from(document_of(definition))


def test_an_unknown_property_of_a_configuration_is_part_of_what_a_version_is() -> None:
    assert definition_from(one("approval", {"a": 1})).digest != definition_from(one("approval", {"a": 2})).digest


def test_a_definition_that_is_too_large_to_be_kept_with_each_run_is_refused() -> None:
    with pytest.raises(Rejected, match="4,194,304"):
        definition_from(document(START, *(action(f"a{n}", configuration={"x": "y" * 100_000}) for n in range(42))))


def test_a_configuration_that_is_nested_too_deeply_is_refused() -> None:
    deep: Any = 1
    for _ in range(2_000):
        deep = [deep]
    given = document(START, action("a", configuration={}))
    given["graph"]["nodes"][1]["configuration"]["x"] = deep
    with pytest.raises(Rejected, match="nested deeper"):
        definition_from(given)


# --- writing ----------------------------------------------------------------------------------------------------------


def test_the_canonical_document_leaves_out_what_is_default() -> None:
    assert document(START) | {"subjectKind": None} == document_of(definition_from(document(START)))


def test_the_canonical_document_is_camel_case_with_durations_in_one_form() -> None:
    nodes = document_of(definition_from(SNAKE))["graph"]["nodes"]
    assert {"maxAttempts": 2, "attemptTimeout": "00:01:00", "retryDelay": "00:00:01", "maxVisits": 3} == nodes[1][
        "policy"
    ]
    assert {"signal": {"id": "paid", "version": 1}, "expiresAfter": "01:00:00"} == nodes[5]["configuration"]


TEXT = st.characters(codec="utf-8", exclude_characters="\0")
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(TEXT, max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=5,
)  # fmt: skip
IDS = st.text(TEXT, min_size=1, max_size=5)
VERSIONS = st.integers(1, 2**31 - 1)


@st.composite
def sound_documents(draw: st.DrawFn) -> dict[str, Any]:
    """Documents that are admitted."""
    made: dict[str, Any] = copy.deepcopy(draw(st.sampled_from((example(), fan_out(), CAMEL, SNAKE))))
    made.pop("capabilities", None)
    made["version"] = draw(VERSIONS)
    made["area"] = draw(IDS)
    made["labels"] = draw(JSON)
    for index in range(draw(st.integers(0, 3))):
        policy = {
            "maxAttempts": draw(VERSIONS),
            "retryDelay": f"{draw(st.integers(0, 1000))}.00:00:{draw(st.integers(10, 59))}.5",
        }
        capability = {"id": draw(IDS), "version": draw(VERSIONS)}
        configuration = draw(st.dictionaries(IDS, JSON, max_size=3))
        added = action(f"added-{index}", capability=capability, configuration=configuration, policy=policy)
        made["graph"]["nodes"].append(added)
    return made


@given(sound_documents())
def test_a_document_that_is_written_and_read_again_is_the_same_definition(given: dict[str, Any]) -> None:
    definition = definition_from(given)
    again = definition_from(document_of(definition))
    assert definition == again
    assert definition.digest == again.digest
    assert document_of(definition) == document_of(again)


@given(sound_documents())
def test_the_stored_text_is_the_same_definition(given: dict[str, Any]) -> None:
    definition = definition_from(given)
    stored = definition_from_text(text_of(definition))
    assert definition == stored
    assert definition.digest == stored.digest
    assert text_of(definition) == text_of(stored)


def test_stored_text_is_read_once() -> None:
    text = text_of(definition_from(example()))
    assert definition_from_text(text) is definition_from_text(text)


# --- hostile documents ------------------------------------------------------------------------------------------------


def read(given: Any) -> Definition | Rejected:
    """The definition, or what was raised instead of it."""
    try:
        return definition_from(given)
    except Rejected as problem:
        return problem


def _spots(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(spot for key, child in inner for spot in _spots(child, (*path, key)))]


NAMES = st.sampled_from(("for_each", "policy", "x", "Graph", "max_visits", "items_from", "kind"))
WRONG = JSON | st.sampled_from(
    (
        float("nan"),
        object(),
        {1: 2},
        {"a": b""},
        "\ud800",
        "\0",
        -1,
        0,
        10**100,
        "",
        "x" * 300,
        (),
        set(),
        "-00:00:01",
        "each",
    )
).map(copy.deepcopy)


@given(st.data())
def test_whatever_is_changed_in_a_document_it_is_read_or_rejected(data: st.DataObject) -> None:
    given = data.draw(sound_documents())
    for _ in range(data.draw(st.integers(1, 4))):
        spot = data.draw(st.sampled_from(_spots(given)[1:]))
        holder: Any = given
        for step in spot[:-1]:
            holder = holder[step]
        match data.draw(st.sampled_from(("replace", "remove", "add"))):
            case "replace":
                holder[spot[-1]] = data.draw(WRONG)
            case "remove":
                del holder[spot[-1]]
            case _ if isinstance(holder, dict):
                holder[data.draw(NAMES)] = data.draw(WRONG)
            case _:
                holder.append(data.draw(WRONG))
        if not given:
            break
    outcome = read(given)
    if isinstance(outcome, Rejected):
        assert outcome.reasons
        assert all(reason.kind and reason.message for reason in outcome.reasons)
    else:
        assert outcome == definition_from(document_of(outcome))


@given(JSON)
def test_any_json_at_all_is_read_or_rejected(given: Any) -> None:
    with pytest.raises(Rejected):
        definition_from(given)


# --- the published schema ---------------------------------------------------------------------------------------------


def _references(value: Any) -> set[str]:
    if isinstance(value, dict):
        own = {value["$ref"]} if isinstance(value.get("$ref"), str) else set()
        return own.union(*(_references(inner) for inner in value.values()))
    return set().union(*(_references(inner) for inner in value)) if isinstance(value, list) else set()


def test_the_schema_holds_every_part_that_it_refers_to() -> None:
    schema = json_schema()
    assert {f"#/$defs/{name}" for name in schema["$defs"]} == _references(schema)


def test_the_schema_describes_every_property() -> None:
    schema = json_schema()
    for part in (schema, *schema["$defs"].values()):
        assert all("description" in inner for inner in part.get("properties", {}).values())


def test_the_schema_has_a_rule_for_every_kind() -> None:
    rules = json_schema()["$defs"]["Node"]["allOf"]
    assert [kind.value for kind in NodeKind] == [rule["if"]["properties"]["kind"]["const"] for rule in rules]


def test_the_schema_is_json() -> None:
    assert json_schema() == json.loads(compact(json_schema()))
