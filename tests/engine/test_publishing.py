"""Publishing by several at once, on PostgreSQL."""

from __future__ import annotations

from functools import partial

import pytest

from orchestrator.errors import Rejected
from orchestrator.testing.simulation import Simulation
from tests.behaviours.stage import Stage
from tests.definitions import START, action, document
from tests.engine.meddling import Meddled
from tests.engine.threads import at_once

FLOW = document(START, action("x"), edges=("start.next>x",))


def test_of_versions_that_are_published_at_once_the_latest_is_active(hot: Stage) -> None:
    for round_ in range(10):
        name = f"flow-{round_}"
        publish = [partial(hot.orchestrator.publish, {**FLOW, "workflow": name, "version": v}) for v in (3, 1, 4, 2)]
        at_once(lambda act: act(), publish)
        rows = hot.orchestrator.definitions(name)
        assert [(1, False), (2, False), (3, False), (4, True)] == [(row.version, row.active) for row in rows]


def test_a_later_version_that_comes_in_between_stays_the_active_one(hot: Stage) -> None:
    """Version 2 is published and active right before version 1, which has seen no other, makes itself active."""
    meddled = Meddled(hot.simulation.store, "activate", lambda: hot.orchestrator.publish({**FLOW, "version": 2}))
    published = Simulation(store=meddled).orchestrator.publish(FLOW)
    assert not published.active
    assert [(1, False), (2, True)] == [(row.version, row.active) for row in hot.orchestrator.definitions()]


def test_versions_that_are_activated_at_once_leave_one_active(hot: Stage) -> None:
    for version in (1, 2, 3):
        hot.orchestrator.publish({**FLOW, "version": version})
    for _ in range(10):
        at_once(partial(hot.orchestrator.activate, "test"), [1, 2, 3, None])
        assert 1 >= sum(row.active for row in hot.orchestrator.definitions("test"))


def test_of_two_contents_that_are_published_as_one_version_at_once_one_is_refused(hot: Stage) -> None:
    def publish(document: dict[str, object]) -> str:
        try:
            hot.orchestrator.publish(document)
        except Rejected as rejected:
            return rejected.reasons[0].kind
        return "published"

    for round_ in range(5):
        flow = {**FLOW, "workflow": f"flow-{round_}"}
        told = at_once(publish, [{**flow, "area": "one"}, {**flow, "area": "other"}, {**flow, "area": "one"}])
        assert {"published", "VersionIsImmutable"} == set(told)
        assert told[0] == told[2] != told[1]


@pytest.mark.behaviour("B23")
def test_a_version_that_is_published_and_started_at_once_by_many_makes_one_run(hot: Stage) -> None:
    def deploy(_: int) -> str:
        hot.orchestrator.publish(FLOW)
        return hot.orchestrator.start("test", key="deployed").id

    assert 1 == len(set(at_once(deploy, list(range(6)))))
    assert 1 == len(hot.orchestrator.runs())
