"""What the order workflow's capabilities do. They read CSV files and write nothing: the rule of stock is stateless."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from orchestrator.core.outcomes import Failed
from orchestrator.flagship.dataset import OWN_DATA, DataSet, read_data
from orchestrator.flagship.definition import ALL_SHIPPED, LOAD_LINES
from orchestrator.performers.invocation import Invocation
from orchestrator.performers.performer import performer

#: The code of a line that its stock does not cover.
NO_STOCK: Final = "NO_STOCK"


@performer("orders.load-lines", version=1, effect="safe")
def load_lines(call: Invocation) -> dict[str, Any] | Failed:
    """The lines of the order that the payload names, as items: ``{"order": "5002", "data": "a folder"}``."""
    number = _payload(call).get("order")
    order = _data(call).orders.get(str(number))
    if order is None:
        return Failed(f"there is no order {number!r} in the data; start with an OrderID", "NO_ORDER", retryable=False)
    return {
        "customer": order.customer,
        "shipper": order.shipper,
        "destination": order.destination,
        "lines": [
            {"key": line.product.id, "product": line.product.name, "quantity": line.quantity} for line in order.lines
        ],
    }


@performer("orders.ship-line", version=1)
def ship_line(call: Invocation) -> dict[str, Any] | Failed:
    """Ship one line if its product's units in stock cover it; stock is looked at and not used up."""
    item = call.input["item"]
    product = _data(call).products[item["key"]]
    if item["quantity"] > product.in_stock:
        return Failed(
            f"{item['quantity']} {product.name} ordered, {product.in_stock} in stock", NO_STOCK, retryable=False
        )
    return {"parcel": f"P-{call.idempotency_key[:8].upper()}", "units": item["quantity"]}


@performer("orders.confirm", version=1)
def confirm(call: Invocation) -> dict[str, Any]:
    """Tell the customer that everything is on its way."""
    order, parcels = call.input["nodes"][LOAD_LINES], _branches(call, "succeeded")
    return {"to": order["customer"], "shipper": order["shipper"], "parcels": len(parcels)}


@performer("orders.backorder", version=1)
def backorder(call: Invocation) -> dict[str, Any]:
    """A person approved: what could not be shipped is ordered anew and follows later."""
    return {"to": call.input["nodes"][LOAD_LINES]["customer"], "backordered": _branches(call, "failed")}


@performer("orders.cancel-rest", version=1)
def cancel_rest(call: Invocation) -> dict[str, Any]:
    """A person rejected, or nobody came in time: what could not be shipped is struck off the order."""
    return {"to": call.input["nodes"][LOAD_LINES]["customer"], "cancelled": _branches(call, "failed")}


def _payload(call: Invocation) -> dict[str, Any]:
    payload = call.input["trigger"]["payload"]
    return payload if isinstance(payload, dict) else {}


def _data(call: Invocation) -> DataSet:
    """The data set in the folder that the payload names, else the one that is shipped."""
    folder = _payload(call).get("data")
    return read_data(Path(folder) if folder else OWN_DATA)


def _branches(call: Invocation, status: str) -> list[str]:
    """The keys of the lines of which the join says this."""
    return [key for key, branch in call.input["nodes"][ALL_SHIPPED].items() if branch["status"] == status]
