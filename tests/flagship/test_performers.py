"""What the order workflow's capabilities answer, called by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from orchestrator.client import definition_of
from orchestrator.core.outcomes import Failed
from orchestrator.errors import Rejected
from orchestrator.flagship import performers
from orchestrator.flagship.dataset import OWN_DATA
from orchestrator.flagship.definition import order_document
from orchestrator.flagship.performers import backorder, cancel_rest, confirm, load_lines, ship_line
from orchestrator.performers.invocation import Invocation
from orchestrator.performers.table import collect

JOINED = {
    "1": {"key": "1", "status": "succeeded", "outlet": "next", "output": {"parcel": "P-1"}},
    "3": {"key": "3", "status": "failed", "outlet": None, "output": None},
}


def call(payload: Any, *, item: Any = None) -> Invocation:
    """An invocation in the middle of a run."""
    nodes = {"load-lines": {"customer": "Anna", "shipper": "Early Cart", "lines": []}, "all-shipped": JOINED}
    return Invocation(
        input={"trigger": {"payload": payload}, "nodes": nodes, "failures": {}, "item": item}, execution_id="ab12cd34ef"
    )


def test_the_lines_of_an_order_are_items_with_the_product_as_their_key() -> None:
    expected = {
        "customer": "Brisk Kitchen Supplies",
        "shipper": "Canal & Rail Freight",
        "destination": "Cork, Ireland",
        "lines": [
            {"key": "1", "product": "Celeriac", "quantity": 24},
            {"key": "3", "product": "Golden beetroot", "quantity": 9},
        ],
    }
    assert expected == load_lines(call({"order": "5003", "data": str(OWN_DATA)}))
    assert expected == load_lines(call({"order": "5003"}))


@pytest.mark.parametrize("payload", ({}, {"order": "1"}, {"order": None}, [], "5003", None))
def test_an_order_that_is_not_there_fails_for_good(payload: Any) -> None:
    answer = load_lines(call(payload))
    assert isinstance(answer, Failed)
    assert ("NO_ORDER", False) == (answer.code, answer.retryable)


def test_a_folder_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(Rejected, match="does not exist"):
        load_lines(call({"order": "5003", "data": str(tmp_path / "nowhere")}))


def test_a_line_ships_when_its_quantity_is_in_stock_to_the_last_unit() -> None:
    shipped = ship_line(call({}, item={"key": "3", "product": "Golden beetroot", "quantity": 8}))
    assert {"parcel": "P-AB12CD34", "units": 8} == shipped


def test_a_line_above_its_stock_fails_for_good_with_the_code_no_stock() -> None:
    failed = ship_line(call({}, item={"key": "3", "product": "Golden beetroot", "quantity": 9}))
    assert Failed("9 Golden beetroot ordered, 8 in stock", "NO_STOCK", retryable=False) == failed


def test_what_follows_knows_what_was_shipped_and_what_was_not() -> None:
    assert {"to": "Anna", "shipper": "Early Cart", "parcels": 1} == confirm(call({}))
    assert {"to": "Anna", "backordered": ["3"]} == backorder(call({}))
    assert {"to": "Anna", "cancelled": ["3"]} == cancel_rest(call({}))


def test_every_capability_of_the_workflow_has_its_performer() -> None:
    needed = {str(node.capability) for node in definition_of(order_document()).graph.nodes if node.capability}
    assert needed == set(collect([performers.__name__], entry_points=False).capabilities)
