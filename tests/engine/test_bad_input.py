"""What callers and performers may not hand in is refused with a sentence, alike on every database, and nothing of it is
stored; what they may hand in comes out as it went in, however odd it looks.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from orchestrator.core.data import DEFAULT_LIMITS, parse
from orchestrator.core.outcomes import Ambiguous, Succeeded, Suspended
from orchestrator.errors import BadData, NotFound, Refused, Rejected, WaitClosed
from orchestrator.performers.invocation import Invocation
from orchestrator.ports.store import RunFilter
from tests.behaviours.stage import Stage
from tests.definitions import START, action, document, for_each, join, node
from tests.engine.counting import rows

ROOM = DEFAULT_LIMITS.max_bytes - len('""')


def nested(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


class Circular(list[Any]):
    """Holds itself."""

    def __init__(self) -> None:
        super().__init__([self])


@dataclass(frozen=True)
class Bad:
    """A value that is no data, and a word that the refusal must hold."""

    name: str
    value: Any
    says: str


BAD = (
    Bad("too many bytes", "x" * (ROOM + 1), "32,769 bytes"),
    Bad("too many bytes of many", "é" * (ROOM // 2 + 1), "32,770 bytes"),
    Bad("too many small things", [1] * 20_000, "32,768"),
    Bad("not a number", {"a": {"b": float("nan")}}, "$.a.b is nan"),
    Bad("infinite", [1.0, float("-inf")], "$[1] is -inf"),
    Bad("half of a surrogate pair", {"a": "x\ud83d"}, "surrogate"),
    Bad("half of a surrogate pair in a key", {"\udc00": 1}, "surrogate"),
    Bad("NUL", ["a\x00"], "NUL"),
    Bad("NUL in a key", {"a\x00": 1}, "NUL"),
    Bad("too deep", nested(65), "64 levels"),
    Bad("much too deep", nested(100_000), "64 levels"),
    Bad("itself", Circular(), "64 levels"),
    Bad("too many digits", 10**64, "64 digits"),
    Bad("much too many digits", 10**4_999, "64 digits"),
    Bad("a key that is no text", {1: "a"}, "key of type int"),
    Bad("a key that is nothing", {None: "a"}, "key of type NoneType"),
    Bad("a set", {"a": {1}}, "$.a is of type set"),
    Bad("an instant", dt.datetime(2026, 1, 1, tzinfo=dt.UTC), "isoformat"),
    Bad("a duration", [dt.timedelta(1)], "total_seconds"),
    Bad("bytes", b"abc", "bytes"),
    Bad("an object of one's own", object(), "object"),
)

GOOD: tuple[Any, ...] = (
    "x" * ROOM,
    nested(64),
    10**64 - 1,
    -(10**64 - 1),
    None,
    [],
    {"__type__": "datetime", "__value__": "2026-01-01"},
    [{"__type__": "uuid", "__value__": {"__type__": "decimal", "__value__": "1"}}],
    {"": "", "a/b": 1, 'a"b': [True, False, None], "😀": "ÅÄÖ 漢字 \u2028 \x7f", "1": 1.5, "1.0": 1e300},
    {"b": 1, "a": 2},
)

WAITS = document(
    START, node("w", "wait", "resumed", "cancelled"), action("seen"), edges=("start.next>w", "w.resumed>seen")
)  # fmt: skip


# --- data ------------------------------------------------------------------------------------------------------------


@pytest.mark.behaviour("B4")
@pytest.mark.behaviour("B5")
@pytest.mark.parametrize("bad", BAD, ids=lambda bad: bad.name)
def test_bad_data_is_refused_wherever_it_is_handed_in_and_nothing_is_stored(stage: Stage, bad: Bad) -> None:
    stage.play(
        document(
            START, node("w", "wait", "resumed", "cancelled"), node("ok", "approval", "approved", "rejected"),
            action("job"), action("pay"),
            edges=("start.next>w", "start.next>ok", "start.next>job", "start.next>pay"),
        ),
        job=Suspended("the job"),
        pay=Ambiguous("?"),
    )  # fmt: skip
    orchestrator, run = stage.orchestrator, stage.run_id
    approval, signal = stage.wait("ok").id, stage.wait("w").id
    before = rows(stage)
    with pytest.raises(Rejected) as rejected:
        orchestrator.start("test", bad.value, key="refused")
    assert [("InvalidPayload", "payload")] == [(reason.kind, reason.where) for reason in rejected.value.reasons]
    assert bad.says in rejected.value.reasons[0].message
    refusing: tuple[Callable[[], object], ...] = (
        lambda: orchestrator.signal(run, "go@1", bad.value),
        lambda: orchestrator.resume(signal, bad.value),
        lambda: orchestrator.cancel_wait(signal, bad.value),
        lambda: orchestrator.approve(approval, bad.value),
        lambda: orchestrator.reject(approval, bad.value),
        lambda: orchestrator.complete("the job", bad.value),
        lambda: orchestrator.complete("the job", Succeeded(output=bad.value)),
        lambda: orchestrator.reconcile(run, stage.execution("pay").id, Succeeded(output=bad.value)),
    )
    for refuse in refusing:
        with pytest.raises(Refused) as refused:
            refuse()
        assert bad.says in refused.value.message
    assert before == rows(stage)
    assert {"w", "ok", "job"} == {wait.node for wait in stage.run.waits}, "every wait stays open"
    assert "ReconciliationRequired" == stage.execution("pay").status


@pytest.mark.behaviour("B44")
@pytest.mark.parametrize("bad", BAD, ids=lambda bad: bad.name)
def test_an_output_that_is_no_data_is_an_invalid_output(stage: Stage, bad: Bad) -> None:
    work = action("work", policy={"maxAttempts": 3})
    stage.play(document(START, work, edges=("start.next>work",)), work=Succeeded(output=bad.value))
    [failure] = stage.run.failures
    assert "InvalidOutput" == failure.kind
    assert bad.says in failure.reason
    assert 1 == len(stage.calls("work"))
    assert "Failed" == stage.status


@pytest.mark.parametrize("good", GOOD, ids=lambda good: str(good)[:24])
def test_good_data_comes_out_as_it_went_in(stored: Stage, good: Any) -> None:
    """As payload, output, signal payload and item; the keys of an object keep their order."""
    flow = document(
        START, action("out"), node("w", "wait", "resumed"), action("seen"),
        edges=("start.next>out", "out.next>w", "w.resumed>seen"),
    )  # fmt: skip
    inputs: list[Any] = []

    def seen(call: Invocation) -> None:
        inputs.append(call.input)

    stored.play(flow, good, out=Succeeded(output=good), seen=seen)
    assert 1 == stored.orchestrator.signal(stored.run_id, "go@1", good)
    stored.simulation.settle()
    [given] = inputs
    expected = {} if good is None else good  # the stage takes None for a payload that was left out
    for found in (stored.run.trigger["payload"], given["trigger"]["payload"], given["nodes"]["start"]):
        assert repr(expected) == repr(found)
    for name in ("out", "w"):
        assert repr(good) == repr(stored.execution(name).output) == repr(given["nodes"][name])
    [resolved] = stored.facts("WaitResolved")
    assert repr(good) == repr(resolved.data["output"])


def test_an_item_comes_to_its_branch_as_it_was_listed(stored: Stage) -> None:
    items = [{"key": "a", "__type__": "datetime", "__value__": "x"}, {"__value__": [], "key": "b", "big": "y" * 2_000}]
    flow = document(
        START, for_each(), action("ship"), join(), edges=("start.next>fan", "fan.each>ship", "ship.next>gather")
    )
    stored.play(flow, {"lines": items}, ship=lambda call: {"got": call.input["item"]})
    assert "Succeeded" == stored.status
    assert items == [entry["output"]["got"] for entry in stored.execution("gather").output.values()]


@pytest.mark.parametrize(
    ("text", "says"),
    (
        ('{"a":1,"a":2}', 'the key "a" twice'),
        ('{"a":NaN}', "NaN"),
        ("[Infinity]", "Infinity"),
        ('{"a":' + "9" * 5_000 + "}", "64 digits"),
        ("[" * 100_000 + "]" * 100_000, "64 levels"),
        ('"\\ud800"', "surrogate"),
        ('"\\u0000"', "NUL"),
        ('"' + "x" * (ROOM + 1) + '"', "32,769 bytes"),
        ("{'a': 1}", "not JSON"),
        ("", "not JSON"),
    ),
    ids=lambda text: text[:16],
)
def test_json_text_is_read_strictly(text: str, says: str) -> None:
    with pytest.raises(BadData) as refused:
        parse(text)
    assert says in refused.value.message
    assert len(refused.value.message) < 500


# --- calls that do not fit -------------------------------------------------------------------------------------------


def test_the_same_key_with_another_payload_finds_the_first(stored: Stage) -> None:
    stored.publish(WAITS)
    first = stored.orchestrator.start("test", {"n": 1}, key="k", correlation="first")
    before = rows(stored)
    for payload in ({"n": 2}, {"n": float("nan")}, "x" * 40_000):
        again = stored.orchestrator.start("test", payload, key="k", correlation="second")
        assert (first.id, False) == (again.id, again.created)
    assert before == rows(stored)
    trigger = stored.orchestrator.run(first.id).trigger
    assert ({"n": 1}, "first") == (trigger["payload"], trigger["correlation"])


def test_a_changed_definition_under_the_same_version_is_refused(stored: Stage) -> None:
    stored.publish(WAITS)
    changed = document(START, node("w", "wait", "resumed"), edges=("start.next>w",))
    with pytest.raises(Rejected, match="publish the change under a new version"):
        stored.orchestrator.publish(changed)
    assert 3 == len(stored.orchestrator.definition("test").graph.nodes)
    stored.orchestrator.publish({**changed, "version": 2})
    assert 2 == stored.orchestrator.definition("test").version


def test_whoever_approves_second_is_told_who_was_first_when_and_how(stored: Stage) -> None:
    stored.begin(document(START, node("ok", "approval", "approved", "rejected"), edges=("start.next>ok",)))
    wait = stored.wait("ok").id
    at = stored.simulation.clock.move(dt.timedelta(hours=1))
    stored.orchestrator.reject(wait, {"why": "too dear"}, actor="ada")
    before = rows(stored)
    with pytest.raises(WaitClosed) as closed:
        stored.orchestrator.approve(wait, actor="ben")
    assert ("rejected", "ada", at) == (closed.value.outlet, closed.value.actor, closed.value.at)
    for word in ("ada", "rejected", "2026-01-01T01:00:00Z", "nothing was changed"):
        assert word in closed.value.message
    assert before == rows(stored)


def test_a_verb_that_a_wait_does_not_know_is_refused_and_it_stays_open(stored: Stage) -> None:
    stored.play(
        document(
            START, node("w", "wait", "resumed"), node("ok", "approval", "approved"), action("job"),
            node("t", "wait", "elapsed", configuration={"kind": "timer", "after": "01:00:00"}),
            edges=("start.next>w", "start.next>ok", "start.next>job", "start.next>t"),
        ),
        job=Suspended("k"),
    )  # fmt: skip
    before = rows(stored)
    o = stored.orchestrator
    unfit = {
        "w": (o.approve, o.reject),
        "ok": (o.resume, o.cancel_wait),
        "t": (o.approve, o.reject, o.resume, o.cancel_wait),
        "job": (o.approve, o.reject, o.resume, o.cancel_wait),
    }
    for name, verbs in unfit.items():
        for verb in verbs:
            with pytest.raises(Refused) as refused:
                verb(stored.wait(name).id)
            assert not isinstance(refused.value, WaitClosed)
    assert before == rows(stored)


def test_another_scope_sees_and_does_nothing(stored: Stage) -> None:
    stored.play(
        document(START, node("ok", "approval", "approved"), action("job"), action("pay"),
                 edges=("start.next>ok", "start.next>job", "start.next>pay")),
        job=Suspended("k"),
        pay=Ambiguous("?"),
    )  # fmt: skip
    orchestrator, run, wait = stored.orchestrator, stored.run_id, stored.wait("ok").id
    pay = stored.execution("pay").id
    before = rows(stored)
    trying: Sequence[Callable[[], object]] = (
        lambda: orchestrator.run(run, scope="other"),
        lambda: orchestrator.state(run, scope="other"),
        lambda: orchestrator.facts(run, scope="other"),
        lambda: orchestrator.wait_for(run, 0, scope="other"),
        lambda: orchestrator.signal(run, "go@1", scope="other"),
        lambda: orchestrator.cancel(run, scope="other"),
        lambda: orchestrator.reconcile(run, pay, Succeeded(), scope="other"),
        lambda: orchestrator.approve(wait, scope="other"),
        lambda: orchestrator.reject(wait, scope="other"),
        lambda: orchestrator.resume(wait, scope="other"),
        lambda: orchestrator.cancel_wait(wait, scope="other"),
        lambda: orchestrator.complete("k", {}, scope="other"),
        lambda: orchestrator.definition("test", scope="other"),
        lambda: orchestrator.activate("test", None, scope="other"),
    )
    for attempt in trying:
        with pytest.raises(NotFound):
            attempt()
    with pytest.raises(Rejected):
        orchestrator.start("test", scope="other")
    assert [] == orchestrator.waits(scope="other")
    assert [] == orchestrator.definitions(scope="other")
    assert [] == orchestrator.runs(RunFilter(scope="other"))
    assert before == rows(stored)


def test_what_is_not_there_is_not_found_and_named(stored: Stage) -> None:
    stored.begin(WAITS)
    orchestrator = stored.orchestrator
    for what, look in (
        ("run", lambda: orchestrator.run("nowhere")),
        ("run", lambda: orchestrator.cancel("nowhere")),
        ("wait", lambda: orchestrator.approve("nowhere")),
        ("wait", lambda: orchestrator.approve(stored.execution("start").id)),
        ("completion key", lambda: orchestrator.complete("nowhere", {})),
        ("execution", lambda: orchestrator.reconcile(stored.run_id, "nowhere", Succeeded())),
        ("definition", lambda: orchestrator.definition("nowhere")),
        ("workflow", lambda: orchestrator.activate("nowhere", None)),
    ):
        with pytest.raises(NotFound) as missing:
            look()
        assert what == missing.value.what
        assert "nowhere" in missing.value.message or missing.value.id in missing.value.message
    with pytest.raises(Rejected, match="publish one first"):
        orchestrator.start("nowhere")


def test_waiting_for_a_run_that_does_not_end_says_where_it_stands(stage: Stage) -> None:
    stage.begin(WAITS)
    with pytest.raises(TimeoutError, match=f"run '{stage.run_id}' is still Waiting after 0 s"):
        stage.orchestrator.wait_for(stage.run_id, timeout=0)
    stage.orchestrator.cancel(stage.run_id)
    assert "Cancelled" == stage.orchestrator.wait_for(stage.run_id, timeout=0).status
