"""Admission, starting and deduplication (B1–B7, B18, B22–B27)."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from dataclasses import dataclass

import pytest

from orchestrator.client import Orchestrator
from orchestrator.core.admission import TriggerRequest
from orchestrator.core.graph import Definition
from orchestrator.errors import Reason, Rejected
from orchestrator.ports.store import RunFilter
from orchestrator.store.memory import MemoryStore
from tests.behaviours.stage import Stage
from tests.definitions import START, action, document

CHAIN = document(START, action("work"), edges=("start.next>work",))
ABOUT_ORDERS = {**CHAIN, "subjectKind": "order"}


def kinds(rejected: pytest.ExceptionInfo[Rejected]) -> list[str]:
    return [reason.kind for reason in rejected.value.reasons]


def nothing_stored(orchestrator: Orchestrator) -> bool:
    return [] == orchestrator.runs(RunFilter())


@pytest.mark.behaviour("B1")
def test_a_workflow_that_nobody_published_is_refused_and_nothing_is_stored(stored: Stage) -> None:
    with pytest.raises(Rejected) as rejected:
        stored.orchestrator.start("nobody.owns-this")
    assert ["WorkflowNotFound"] == kinds(rejected)
    assert nothing_stored(stored.orchestrator)


@pytest.mark.behaviour("B2")
def test_a_workflow_without_an_active_version_is_refused(stored: Stage) -> None:
    stored.publish(CHAIN)
    stored.orchestrator.activate("test", None)
    with pytest.raises(Rejected) as rejected:
        stored.orchestrator.start("test")
    assert ["NoActiveDefinition"] == kinds(rejected)
    assert nothing_stored(stored.orchestrator)


@pytest.mark.behaviour("B3")
@pytest.mark.parametrize("subject", (("invoice", "1"), None))
def test_a_trigger_about_another_kind_of_subject_is_refused(stage: Stage, subject: tuple[str, str] | None) -> None:
    stage.publish(ABOUT_ORDERS)
    with pytest.raises(Rejected) as rejected:
        stage.orchestrator.start("test", subject=subject)
    assert ["SubjectKindMismatch"] == kinds(rejected)
    assert stage.orchestrator.start("test", subject=("order", "1")).created


@pytest.mark.behaviour("B4")
@pytest.mark.parametrize("payload", ({"a": float("nan")}, {"a": {1, 2}}, {1: "a"}, {"a": "\ud800"}, {"a": "\x00"}))
def test_a_payload_that_is_no_json_is_refused(stored: Stage, payload: object) -> None:
    stored.publish(CHAIN)
    with pytest.raises(Rejected) as rejected:
        stored.orchestrator.start("test", payload)
    assert ["InvalidPayload"] == kinds(rejected)
    assert nothing_stored(stored.orchestrator)


@pytest.mark.behaviour("B5")
def test_a_payload_may_have_32768_bytes_and_no_more(stored: Stage) -> None:
    stored.publish(CHAIN)
    room = 32_768 - len('{"a":""}')
    assert stored.orchestrator.start("test", {"a": "x" * room}, key="fits").created
    with pytest.raises(Rejected) as rejected:
        stored.orchestrator.start("test", {"a": "x" * (room + 1)}, key="too large")
    assert ["InvalidPayload"] == kinds(rejected)
    assert 1 == len(stored.orchestrator.runs())


@dataclass(frozen=True)
class Refusing:
    name: str

    def check(self, definition: Definition, trigger: TriggerRequest) -> Iterable[Reason]:
        yield Reason(self.name, "payload", f"{self.name} will not have it")


@pytest.mark.behaviour("B6")
@pytest.mark.behaviour("B7")
def test_the_reasons_of_all_policies_that_refuse_are_told_together() -> None:
    stage = Stage(MemoryStore(), policies=[Refusing("Credit"), Refusing("Hours")])
    stage.publish(ABOUT_ORDERS)
    with pytest.raises(Rejected) as rejected:
        stage.orchestrator.start("test", {"a": float("inf")}, subject=("invoice", "1"))
    assert ["InvalidPayload", "SubjectKindMismatch", "Credit", "Hours"] == kinds(rejected)
    assert nothing_stored(stage.orchestrator)


@pytest.mark.behaviour("B18")
def test_a_run_keeps_the_version_it_began_with(stored: Stage) -> None:
    stored.begin(CHAIN)
    longer = document(START, action("work"), action("more"), edges=("start.next>work", "work.next>more"), version=2)
    stored.publish(longer)
    stored.simulation.settle()
    assert 1 == stored.run.version
    assert [] == list(stored.run.executions_of("more"))
    assert "Succeeded" == stored.status
    second = stored.orchestrator.start("test")
    assert 2 == stored.orchestrator.run(second.id).version
    stored.simulation.settle()
    assert 1 == len(stored.orchestrator.run(second.id).executions_of("more"))


def test_publishing_an_earlier_version_later_does_not_make_it_the_active_one(stage: Stage) -> None:
    stage.publish({**CHAIN, "version": 2})
    stage.publish(CHAIN)
    assert [(1, False), (2, True)] == [(row.version, row.active) for row in stage.orchestrator.definitions()]


def test_publishing_the_same_again_changes_nothing_and_other_content_is_refused(stored: Stage) -> None:
    stored.publish(CHAIN)
    stored.orchestrator.activate("test", None)
    stored.publish(CHAIN)
    [row] = stored.orchestrator.definitions()
    assert not row.active
    with pytest.raises(Rejected) as rejected:
        stored.orchestrator.publish({**CHAIN, "area": "other"})
    assert ["VersionIsImmutable"] == kinds(rejected)


@pytest.mark.behaviour("B22")
def test_the_same_key_finds_the_same_run_and_the_first_payload_stays(stored: Stage) -> None:
    stored.publish(CHAIN)
    first = stored.orchestrator.start("test", {"n": 1}, key="k")
    again = stored.orchestrator.start("test", {"n": 2}, key="k")
    assert (first.id, True, False) == (again.id, first.created, again.created)
    assert {"n": 1} == stored.orchestrator.run(first.id).trigger["payload"]
    assert 1 == len(stored.orchestrator.runs())


@pytest.mark.behaviour("B23")
def test_two_that_start_the_same_key_at_once_make_one_run(stored: Stage) -> None:
    stored.publish(CHAIN)
    barrier = threading.Barrier(4)
    started = []

    def start() -> None:
        barrier.wait()
        started.append(stored.orchestrator.start("test", key="k"))

    threads = [threading.Thread(target=start) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert 1 == len({run.id for run in started})
    assert 1 == sum(run.created for run in started)
    facts = stored.orchestrator.facts(started[0].id)
    assert 1 == sum(fact.type == "WorkflowRunAdmitted" for fact in facts)


@pytest.mark.behaviour("B24")
def test_the_same_key_in_two_scopes_makes_two_runs(stored: Stage) -> None:
    runs = set()
    for scope in ("north", "south"):
        stored.orchestrator.publish(CHAIN, scope=scope)
        run = stored.orchestrator.start("test", key="k", scope=scope)
        assert run.created
        runs.add(run.id)
    assert 2 == len(runs)


@pytest.mark.behaviour("B25")
def test_a_start_that_was_refused_may_be_repeated(stored: Stage) -> None:
    stored.publish(CHAIN)
    with pytest.raises(Rejected):
        stored.orchestrator.start("test", {"a": float("nan")}, key="k")
    assert stored.orchestrator.start("test", {"a": 1}, key="k").created


@pytest.mark.behaviour("B26")
def test_a_repeat_finds_its_run_though_the_workflow_was_deactivated(stored: Stage) -> None:
    stored.publish(CHAIN)
    first = stored.orchestrator.start("test", key="k")
    stored.orchestrator.activate("test", None)
    again = stored.orchestrator.start("test", {"a": float("nan")}, key="k")
    assert (first.id, False) == (again.id, again.created)


@pytest.mark.behaviour("B27")
def test_the_kind_of_trigger_is_recorded_and_changes_nothing(stage: Stage) -> None:
    stage.publish(CHAIN)
    told = []
    for kind in ("manual", "signal", "stageHook", "schedule"):
        run = stage.orchestrator.start("test", trigger_kind=kind)
        stage.simulation.settle()
        snapshot = stage.orchestrator.run(run.id)
        assert kind == snapshot.trigger["kind"]
        told.append([fact.type for fact in stage.orchestrator.facts(run.id)])
        assert "Succeeded" == snapshot.status
    assert 1 == len({tuple(types) for types in told})
