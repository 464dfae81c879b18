"""The flagship on the testing kit: the real engine and performers, inline, on a clock that is moved."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

import pytest

from orchestrator.flagship import performers
from orchestrator.flagship.dataset import OWN_DATA, DataSet, read_data
from orchestrator.flagship.demo import Demo, Progress
from orchestrator.flagship.performers import NO_STOCK
from orchestrator.flagship.tally import Stage, Story, Summary
from orchestrator.performers.table import collect
from orchestrator.testing.simulation import Simulation

OWN = Summary(
    runs=8,
    lines=21,
    shipped=17,
    not_shipped=4,
    completed=5,
    partial=3,
    approved=2,
    rejected=1,
    waiting=0,
    failed=0,
    seconds=1.5,
)
NORTHWIND = Summary(
    runs=21,
    lines=73,
    shipped=56,
    not_shipped=17,
    completed=10,
    partial=11,
    approved=6,
    rejected=5,
    waiting=0,
    failed=0,
    seconds=1.5,
)


def simulation() -> Simulation:
    """The testing kit with the flagship's performers."""
    table = collect([performers.__name__], entry_points=False)
    return Simulation(*(performer.function for performer in table))


def begun(kit: Simulation, data: DataSet) -> Demo:
    """A performance whose orders have gone as far as they can by themselves, without time."""
    demo = Demo(kit.orchestrator, data)
    assert [order.id for order in data.unshipped] == [order.id for order in demo.start()]
    kit.settle()
    return demo


def played(kit: Simulation, data: DataSet) -> Demo:
    """A performance from start to end, with the people's part."""
    demo = begun(kit, data)
    demo.look()
    demo.decide(demo.inbox())
    kit.pass_time(timedelta(seconds=3))
    assert demo.look().over
    return demo


def by_order(demo: Demo) -> dict[str, Story]:
    """The stories by order."""
    return {story.order.id: story for story in demo.stories}


def test_the_own_data_ends_with_these_numbers() -> None:
    kit = simulation()
    demo = played(kit, read_data(OWN_DATA))
    assert OWN == demo.summary(seconds=1.5)
    assert [] == kit.verify()


def test_northwind_ends_with_exactly_the_expected_numbers(cases: Path) -> None:
    kit = simulation()
    demo = played(kit, read_data(cases / "northwind"))
    assert NORTHWIND == demo.summary(seconds=1.5)
    assert [] == kit.verify()


def test_each_order_of_northwind_ends_as_the_independent_count_says(cases: Path) -> None:
    told = json.loads((cases / "northwind" / "expected_unshipped_run.json").read_text(encoding="utf-8"))
    expected = {
        order["order"]: (order["lines"], order["cannot_ship_products"], order["join_all"])
        for order in told["stateless"]["unshipped_orders"]
    }
    demo = played(simulation(), read_data(cases / "northwind"))
    found = {
        id: (story.lines, sorted((product for product, _ in story.missing), key=int), story.join)
        for id, story in by_order(demo).items()
    }
    assert expected == found


def test_a_line_without_stock_is_told_with_its_code() -> None:
    demo = played(simulation(), read_data(OWN_DATA))
    codes = [
        (entry.data["execution"]["branch"]["key"], entry.data["code"])
        for entry in demo.journal(by_order(demo)["5005"])
        if entry.type == "WorkflowNodeFailed"
    ]
    assert [("4", NO_STOCK), ("9", NO_STOCK)] == codes


def test_progress_says_where_the_orders_stand() -> None:
    kit = simulation()
    data = read_data(OWN_DATA)
    demo = Demo(kit.orchestrator, data)
    assert not demo.look().gathered
    list(demo.start())
    assert {Stage.LOADING: 8} == demo.look().stages
    for _ in range(8):
        work = kit.claim_next()
        assert work is not None
        kit.perform(work)
    shipping = demo.look()
    assert ({Stage.SHIPPING: 8}, 21, 0) == (shipping.stages, shipping.lines, shipping.shipped)
    kit.settle()
    assert (
        Progress(
            orders=8,
            stages={Stage.PICK_UP: 5, Stage.REVIEW: 3},
            lines=21,
            shipped=17,
            not_shipped=4,
            attempts=34,
            gathered=True,
            over=False,
            only_people=False,
        )
        == demo.look()
    )
    kit.pass_time(timedelta(seconds=3))
    assert demo.look().only_people


def test_the_carrier_is_waited_for() -> None:
    kit = simulation()
    demo = begun(kit, read_data(OWN_DATA))
    kit.pass_time(timedelta(seconds=2.9))
    assert {Stage.PICK_UP: 5, Stage.REVIEW: 3} == demo.look().stages
    kit.pass_time(timedelta(seconds=0.1))
    assert {Stage.DONE: 5, Stage.REVIEW: 3} == demo.look().stages


def test_another_pick_up_wait_may_be_named() -> None:
    kit = simulation()
    demo = Demo(kit.orchestrator, read_data(OWN_DATA), pick_up=timedelta(hours=3))
    list(demo.start())
    kit.pass_time(timedelta(hours=2))
    assert 5 == demo.look().stages[Stage.PICK_UP]
    kit.pass_time(timedelta(hours=1))
    assert 5 == demo.look().stages[Stage.DONE]


def test_approvals_that_are_left_open_wait_until_they_expire_after_two_days() -> None:
    kit = simulation()
    demo = begun(kit, read_data(OWN_DATA))
    kit.pass_time(timedelta(days=1, hours=23))
    demo.look()
    waiting = demo.summary(seconds=0)
    assert (3, 0, 0) == (waiting.waiting, waiting.approved, waiting.rejected)
    kit.pass_time(timedelta(hours=1))
    assert demo.look().over
    assert ["expired"] * 3 == [story.decision for story in demo.stories if story.join == "partial"]
    assert {"time"} == set(demo.deciders().values())


def test_the_inbox_says_what_is_missing_and_who_decided_is_in_the_journal() -> None:
    kit = simulation()
    demo = begun(kit, read_data(OWN_DATA))
    demo.look()
    requests = {request.order.id: request for request in demo.inbox()}
    assert {"5003", "5005", "5010"} == set(requests)
    missing = (("4", "2 Salsify ordered, 0 in stock"), ("9", "6 Black radish ordered, 5 in stock"))
    assert missing == requests["5005"].missing
    assert requests["5005"].deadline == requests["5005"].opened_at + timedelta(days=2)
    decided = demo.decide(tuple(requests.values()))
    assert ["anna", "ben", "anna"] == [decision.actor for decision in decided]
    demo.look()
    assert {decision.request.run_id: decision.actor for decision in decided} == demo.deciders()


def test_who_decides_late_learns_who_was_first() -> None:
    kit = simulation()
    demo = begun(kit, read_data(OWN_DATA))
    demo.look()
    requests = demo.inbox()
    kit.orchestrator.reject(requests[0].wait_id, actor="cleo")
    decided = demo.decide(requests)
    assert [("cleo", "rejected"), ("ben", "rejected"), ("anna", "approved")] == [(d.actor, d.outlet) for d in decided]


def test_an_order_without_lines_is_confirmed_with_nothing_in_it(tmp_path: Path) -> None:
    (tmp_path / "products.csv").write_text("ProductID,UnitsInStock\n1,1\n")
    (tmp_path / "orders.csv").write_text("OrderID,CustomerID,ShippedDate\nA,X,\n")
    (tmp_path / "order_lines.csv").write_text("OrderID,ProductID,Quantity\n")
    demo = played(simulation(), read_data(tmp_path))
    (story,) = demo.stories
    assert (Stage.DONE, 0, "completed") == (story.stage, story.lines, story.join)


def test_with_nothing_to_ship_there_is_nothing_to_wait_for(tmp_path: Path) -> None:
    (tmp_path / "products.csv").write_text("ProductID,UnitsInStock\n1,1\n")
    (tmp_path / "orders.csv").write_text("OrderID,CustomerID,ShippedDate\nA,X,2026-01-01\n")
    (tmp_path / "order_lines.csv").write_text("OrderID,ProductID,Quantity\nA,1,1\n")
    demo = begun(simulation(), read_data(tmp_path))
    assert (True, True) == (demo.look().gathered, demo.look().over)
    assert 0 == demo.summary(seconds=0).runs


def test_an_order_that_is_too_large_fails_and_says_why(tmp_path: Path) -> None:
    count = 1_000
    (tmp_path / "products.csv").write_text("ProductID,UnitsInStock\n" + "".join(f"{n},1\n" for n in range(count)))
    (tmp_path / "orders.csv").write_text("OrderID,CustomerID,ShippedDate\nA,X,\n")
    (tmp_path / "order_lines.csv").write_text(
        "OrderID,ProductID,Quantity\n" + "".join(f"A,{n},1\n" for n in range(count))
    )
    demo = begun(simulation(), read_data(tmp_path))
    assert demo.look().over
    (story,) = demo.stories
    assert Stage.FAILED is story.stage
    assert "load-lines: InvalidOutput" in (story.problem or "")
    assert 1 == demo.summary(seconds=0).failed


@pytest.mark.parametrize("name", ("runs", "notShipped", "completed", "seconds"))
def test_the_summary_is_written_in_camel_case(name: str) -> None:
    assert name in OWN.document()
