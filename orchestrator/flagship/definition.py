"""The order workflow as a document, and the names of its nodes. What its capabilities do is `performers`'."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any, Final

from orchestrator.core.durations import format_duration
from orchestrator.definition_files import load_document

WORKFLOW: Final = "orders.fulfil"
SUBJECT_KIND: Final = "order"

LOAD_LINES: Final = "load-lines"
SHIP_LINE: Final = "ship-line"
ALL_SHIPPED: Final = "all-shipped"
PICK_UP: Final = "pick-up"
REVIEW: Final = "review"

#: The document as it is shipped.
ORDER_FILE: Final = Path(__file__).resolve().parent / "order.yaml"


def order_document(*, pick_up: timedelta | None = None) -> dict[str, Any]:
    """The document of the order workflow; `pick_up` is how long to wait for the carrier, if not as the file says."""
    document = load_document(ORDER_FILE)
    if pick_up is not None:
        node = next(node for node in document["graph"]["nodes"] if node["id"] == PICK_UP)
        node["configuration"]["after"] = format_duration(pick_up)
    return document
