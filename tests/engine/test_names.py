"""Any text of up to 255 bytes names anything; what cannot be a name is refused or not found, alike on every database,
and nothing of it is stored.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from orchestrator.core.outcomes import Ambiguous, Failed, Skipped, Succeeded, Suspended
from orchestrator.errors import NotFound, Refused, Rejected
from orchestrator.ports.store import RunFilter
from tests.behaviours.stage import Stage
from tests.definitions import START, action, document, join, node
from tests.engine.counting import rows

WAITS = document(START, node("w", "wait", "resumed"), edges=("start.next>w",))

NAMES = (
    "orders/2026/№ 1", "it's \"quoted\"; DROP TABLE runs--",
    "заказ 注文 طلب", "😀" * 63 + "abc", "x" * 255, "%s %(a)s {0} \\",
    "a\nb\tc", " ", "..", "null",
)  # fmt: skip
NO_NAMES = ("", "x" * 256, "é" * 128, "a\x00b", "a\ud800")


@pytest.mark.parametrize("name", NAMES)
def test_any_text_of_up_to_255_bytes_names_anything(stored: Stage, name: str) -> None:
    flow = document(
        START,
        node(name, "decision", name, capability="decide@1"),
        node("w", "wait", "resumed"),
        node("fan", "forEach", "each", configuration={"itemsFrom": "start", "itemsProperty": name}),
        action("job", capability="job@1"),
        join(),
        workflow=name,
        subjectKind=name,
        edges=("start.next>w", "w.resumed>fan", "fan.each>job", "job.next>gather"),
    )
    flow["graph"]["edges"].append({"from": "gather", "outlet": "completed", "to": name})
    stored.simulation.script("decide@1", Succeeded(name, {name: 1}))
    stored.simulation.script("job@1", Suspended(name))
    orchestrator = stored.orchestrator
    orchestrator.publish(flow, scope=name)
    payload = {name: [{"key": name}]}
    run = orchestrator.start(name, payload, key=name, subject=(name, name), correlation=name, scope=name,
                             trigger_kind=name)  # fmt: skip
    assert not orchestrator.start(name, payload, key=name, subject=(name, name), scope=name).created
    assert 1 == orchestrator.signal(run.id, "go@1", actor=name, scope=name)
    stored.simulation.settle()
    orchestrator.complete(name, {name: name}, actor=name, scope=name)
    stored.simulation.settle()
    found = orchestrator.run(run.id, scope=name)
    assert "Succeeded" == found.status
    assert (name, {"kind": name, "id": name}, name) == (
        found.workflow, found.trigger["subject"], found.trigger["correlation"],
    )  # fmt: skip
    [decision] = found.executions_of(name)
    assert (name, {name: 1}) == (decision.outlet, decision.output)
    assert {name: {"key": name, "status": "succeeded", "outlet": "next", "output": {name: name}}} == (
        found.executions_of("gather")[0].output
    )
    assert [run.id] == [row.run_id for row in orchestrator.runs(RunFilter(scope=name, workflow=name, subject_id=name))]
    assert {name} == {fact.data["actor"] for fact in orchestrator.facts(run.id, scope=name) if "actor" in fact.data}


@pytest.mark.parametrize("name", NO_NAMES, ids=ascii)
def test_a_start_under_what_cannot_be_an_id_is_refused_with_every_reason(stored: Stage, name: str) -> None:
    stored.publish(WAITS)
    before = rows(stored)
    with pytest.raises(Rejected) as rejected:
        stored.orchestrator.start(
            name, key=name, subject=(name, name), correlation=name, trigger_kind=name, scope=name
        )  # fmt: skip
    reasons = rejected.value.reasons
    assert {"InvalidId"} == {reason.kind for reason in reasons}
    assert ["scope", "workflow", "key", "triggerKind", "subject.kind", "subject.id", "correlation"] == [
        reason.where for reason in reasons
    ]
    with pytest.raises(Rejected):
        stored.orchestrator.publish({**WAITS, "workflow": name})
    with pytest.raises(Rejected):
        stored.orchestrator.publish(WAITS, scope=name)
    assert before == rows(stored)


@pytest.mark.parametrize("name", NO_NAMES, ids=ascii)
def test_nothing_is_found_under_what_cannot_be_an_id(stored: Stage, name: str) -> None:
    stored.begin(WAITS)
    orchestrator, run = stored.orchestrator, stored.run_id
    looking: Sequence[Callable[[], object]] = (
        lambda: orchestrator.run(name),
        lambda: orchestrator.run(run, scope=name),
        lambda: orchestrator.state(name),
        lambda: orchestrator.facts(name),
        lambda: orchestrator.wait_for(name, 0),
        lambda: orchestrator.cancel(name),
        lambda: orchestrator.signal(name, "go@1"),
        lambda: orchestrator.approve(name),
        lambda: orchestrator.cancel_wait(name),
        lambda: orchestrator.complete(name, {}),
        lambda: orchestrator.complete("k", {}, scope=name),
        lambda: orchestrator.reconcile(run, name, Succeeded()),
        lambda: orchestrator.definition(name),
        lambda: orchestrator.definition("test", scope=name),
        lambda: orchestrator.activate(name, 1),
        lambda: orchestrator.activate("test", 1, scope=name),
    )
    for look in looking:
        with pytest.raises(NotFound):
            look()
    assert [] == orchestrator.runs(RunFilter(scope=name))
    assert [] == orchestrator.runs(RunFilter(subject_id=name))
    assert [] == orchestrator.waits(run_id=name)
    assert [] == orchestrator.definitions(name)
    assert "Waiting" == stored.status


@pytest.mark.parametrize("version", (0, -1, 2, 2**31, 2**63, 10**30))
def test_a_version_that_nobody_published_is_not_found(stored: Stage, version: int) -> None:
    stored.publish(WAITS)
    with pytest.raises(NotFound):
        stored.orchestrator.definition("test", version)
    with pytest.raises(NotFound):
        stored.orchestrator.activate("test", version)


@pytest.mark.parametrize("actor", (*NO_NAMES, 7), ids=ascii)
def test_an_actor_that_cannot_be_stored_is_refused_and_nothing_is_done(stored: Stage, actor: Any) -> None:
    stored.play(
        document(START, node("ok", "approval", "approved"), node("w", "wait", "resumed"), action("job"), action("pay"),
                 edges=("start.next>ok", "start.next>w", "start.next>job", "start.next>pay")),
        job=Suspended("k"),
        pay=Ambiguous("?"),
    )  # fmt: skip
    orchestrator, run = stored.orchestrator, stored.run_id
    before = rows(stored)
    acting: Sequence[Callable[[], object]] = (
        lambda: orchestrator.approve(stored.wait("ok").id, actor=actor),
        lambda: orchestrator.resume(stored.wait("w").id, actor=actor),
        lambda: orchestrator.signal(run, "go@1", actor=actor),
        lambda: orchestrator.complete("k", {}, actor=actor),
        lambda: orchestrator.reconcile(run, stored.execution("pay").id, Succeeded(), actor=actor),
        lambda: orchestrator.cancel(run, actor=actor),
    )
    for act in acting:
        with pytest.raises(Refused, match="the actor"):
            act()
    assert before == rows(stored)


@pytest.mark.parametrize("reason", ("a\x00", "\ud800", "x" * 2_001, 7), ids=lambda text: ascii(text)[:12])
def test_a_reason_for_cancelling_that_cannot_be_stored_is_refused(stored: Stage, reason: Any) -> None:
    stored.begin(WAITS)
    with pytest.raises(Refused, match="2,000 characters"):
        stored.orchestrator.cancel(stored.run_id, reason=reason)
    assert "Waiting" == stored.status


@pytest.mark.parametrize(
    "contract", ("go", "@1", "go@", "go@one", "go@-1", "go@0", "go@1.5", "g\x00@1", "x" * 254 + "@1", 7)
)
def test_a_signal_without_a_name_and_a_version_is_refused_and_the_wait_stays_open(stage: Stage, contract: Any) -> None:
    stage.begin(WAITS)
    with pytest.raises(Refused, match="the signal"):
        stage.orchestrator.signal(stage.run_id, contract)
    assert "Waiting" == stage.status


@pytest.mark.parametrize("text", ("a\x00b", "lone \udcff half", "x" * 100_000), ids=lambda text: ascii(text)[:12])
def test_words_of_a_performer_are_made_storable(stored: Stage, text: str) -> None:
    """A performer is not there to be told: its words are cut and mended, not refused."""
    stored.play(
        document(START, action("a"), action("b"), action("c"), action("d"),
                 edges=("start.next>a", "start.next>b", "start.next>c", "start.next>d")),
        a=Failed(text, code=text),
        b=ValueError(text),
        c=Skipped(text),
        d=Succeeded(text),
    )  # fmt: skip
    assert "Failed" == stored.status
    reasons = {failure.execution.node: failure.reason for failure in stored.run.failures}
    assert {"a", "b", "d"} == reasons.keys()
    for reason in reasons.values():
        assert reason.isprintable() or "\ufffd" in reason
        assert len(reason) <= 2_000
        reason.encode()
