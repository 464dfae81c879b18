"""Each example does what its page says, on the testing kit: the documents and the performers are the example's own."""

from __future__ import annotations

import importlib
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from orchestrator.core.outcomes import Failed, Succeeded
from orchestrator.core.snapshot import RunSnapshot
from orchestrator.core.state import RunStatus
from orchestrator.performers.performer import marks_of
from orchestrator.testing.simulation import Simulation

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
NAMES = sorted(path.parent.name for path in EXAMPLES.glob("*/workflow.yaml"))


def example(name: str) -> tuple[Simulation, str]:
    """An example on the testing kit, published; with the id of its workflow."""
    module = importlib.import_module(f"examples.{name}.performers")
    simulation = Simulation(*(thing for thing in vars(module).values() if marks_of(thing)))
    row = simulation.orchestrator.publish(EXAMPLES / name / "workflow.yaml")
    return simulation, row.workflow


def begun(name: str, payload: dict[str, Any], *, subject: tuple[str, str] | None = None) -> tuple[Simulation, str]:
    """An example with one run that has gone as far as it can without time, a person or a signal; with the run's id."""
    simulation, workflow = example(name)
    run = simulation.orchestrator.start(workflow, payload, subject=subject)
    simulation.settle()
    return simulation, run.id


def path(run: RunSnapshot) -> list[str]:
    """The nodes in the order of their visits."""
    return [execution.node for execution in run.executions]


def output(run: RunSnapshot, node: str) -> Any:
    """The output of the last visit at a node."""
    return run.executions_of(node)[-1].output


def lasted(run: RunSnapshot) -> timedelta:
    """From the first fact to the end."""
    assert run.ended_at is not None
    return run.ended_at - run.started_at


@pytest.mark.parametrize("name", NAMES)
def test_every_example_has_a_page_and_performers_for_all_it_needs(name: str) -> None:
    simulation, workflow = example(name)
    needed = {
        str(node.capability) for node in simulation.orchestrator.definition(workflow).graph.nodes if node.capability
    }
    assert needed == set(simulation.table.capabilities)
    assert f"examples/{name}/workflow.yaml" in (EXAMPLES / name / "README.md").read_text(encoding="utf-8")
    assert f"({name}/README.md)" in (EXAMPLES / "README.md").read_text(encoding="utf-8")


def test_hello_is_delivered_at_the_second_attempt() -> None:
    simulation, run_id = begun("hello", {"name": "Ada"})
    run = simulation.run_to_end(run_id)
    assert RunStatus.SUCCEEDED is run.status
    assert {"delivered": "Hello, Ada!", "attempt": 2} == output(run, "deliver")


@pytest.mark.parametrize(
    ("decision", "reached", "answer"),
    (
        ("approved", "refund", {"paid": 40}),
        ("rejected", "decline", {"told": "too much"}),
        (None, "escalate", {"told": "the boss"}),
    ),
)
def test_an_expense_goes_where_the_person_says_or_to_the_boss(
    decision: str | None, reached: str, answer: dict[str, Any]
) -> None:
    simulation, run_id = begun("approval", {"amount": 40}, subject=("expense", "17"))
    (wait,) = simulation.orchestrator.waits(kind="approval")
    if decision == "approved":
        simulation.orchestrator.approve(wait.wait_id, actor="anna")
    elif decision == "rejected":
        simulation.orchestrator.reject(wait.wait_id, {"note": "too much"}, actor="anna")
    run = simulation.run_to_end(run_id)
    assert ["start", "review", reached] == path(run)
    assert answer == {key: output(run, reached)[key] for key in answer}
    assert timedelta(days=0 if decision else 2) == lasted(run)


def test_a_payment_ships_the_goods() -> None:
    simulation, run_id = begun("payment", {"goods": ["celeriac"]}, subject=("basket", "7"))
    assert 0 == simulation.orchestrator.signal(run_id, "payment-received@2", {"receipt": "R-0"})
    assert 1 == simulation.orchestrator.signal(run_id, "payment-received@1", {"receipt": "R-1"})
    run = simulation.run_to_end(run_id)
    assert {"shipped": ["celeriac"], "receipt": "R-1"} == output(run, "ship")


def test_a_payment_that_does_not_come_or_is_called_off_frees_the_goods() -> None:
    for call_off in (True, False):
        simulation, run_id = begun("payment", {"goods": ["celeriac"]}, subject=("basket", "7"))
        if call_off:
            (wait,) = simulation.orchestrator.waits(kind="signal")
            simulation.orchestrator.cancel_wait(wait.wait_id, actor="anna")
        run = simulation.run_to_end(run_id)
        assert ["start", "hold", "payment", "free"] == path(run)


def test_an_empty_basket_ends_without_a_payment() -> None:
    simulation, run_id = begun("payment", {}, subject=("basket", "8"))
    run = simulation.run_to_end(run_id)
    assert RunStatus.SUCCEEDED is run.status
    assert ["start", "hold"] == path(run)


def test_the_first_quote_is_taken_and_the_rest_is_not_asked() -> None:
    suppliers = [{"key": "north"}, {"key": "east", "price": 12}, {"key": "south", "price": 9}]
    simulation, run_id = begun("quotes", {"suppliers": suppliers}, subject=("part", "bolt"))
    run = simulation.run_to_end(run_id)
    assert {"supplier": "east", "price": 12} == output(run, "order")
    assert ["north", "east"] == [work.branch[-1].key for work in simulation.performed if work.node_id == "ask"]
    assert ["failed", "succeeded", "cancelled"] == [branch["status"] for branch in output(run, "first-quote").values()]


def test_without_any_quote_the_purchase_is_given_up() -> None:
    simulation, run_id = begun("quotes", {"suppliers": [{"key": "north"}]}, subject=("part", "bolt"))
    assert {"asked": 1} == output(simulation.run_to_end(run_id), "give-up")


def test_a_report_is_fetched_when_it_is_ready() -> None:
    simulation, run_id = begun("polling", {"readyAtVisit": 3}, subject=("report", "2026-11"))
    run = simulation.run_to_end(run_id)
    assert {"report": "…", "checks": 3} == output(run, "fetch")
    assert timedelta(seconds=20) == lasted(run)


def test_a_report_that_is_never_ready_is_given_up_without_a_failure() -> None:
    simulation, run_id = begun("polling", {"readyAtVisit": 99}, subject=("report", "2026-11"))
    run = simulation.run_to_end(run_id)
    assert RunStatus.SUCCEEDED is run.status
    assert 5 == len(run.executions_of("check"))
    assert ("fetch",) == run.unreachable


def test_a_video_is_published_when_its_key_is_completed() -> None:
    simulation, run_id = begun("external_job", {"video": "cat"}, subject=("video", "cat"))
    assert RunStatus.WAITING is simulation.orchestrator.run(run_id).status
    simulation.orchestrator.complete("transcode/cat/1", Failed("the disk was full"))
    simulation.pass_time(timedelta(seconds=5))
    simulation.orchestrator.complete("transcode/cat/2", Succeeded(output={"url": "cat.webm"}), actor="transcoder")
    assert {"published": "cat.webm"} == output(simulation.run_to_end(run_id), "publish")


@pytest.mark.parametrize("told", (True, False))
def test_a_video_that_fails_or_never_comes_is_apologised_for(told: bool) -> None:
    simulation, run_id = begun("external_job", {"video": "cat"}, subject=("video", "cat"))
    if told:
        simulation.orchestrator.complete("transcode/cat/1", Failed("no such codec", retryable=False))
    because = "no such codec" if told else "nobody answered within an hour"
    assert {"because": because} == output(simulation.run_to_end(run_id), "apologise")
