"""Three runs that together hold every type of fact, and how their journals are written down.

``python -m tests.core.rich`` writes the golden documents beside this file anew.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Any

from orchestrator.core.codec import fact_data, fact_from
from orchestrator.core.facts import Recorded, Trigger, value_of
from orchestrator.core.instants import format_instant, parse_instant
from orchestrator.core.outcomes import Ambiguous, Failed, Skipped, Succeeded, Suspended
from tests.core.chance import Driver, definition_by, payload_by
from tests.core.graphs import approval, chain, lines, signal_wait, timer, tries
from tests.core.world import World
from tests.definitions import START, action, document, for_each, join, node

GOLDEN = Path(__file__).with_name("golden")

DEFINITION = document(
    START,
    action("reserve", "failed", policy=tries(2, retryDelay="00:00:30")),
    approval("release", expiresAfter="2.00:00:00"),
    for_each(configuration={"itemsFrom": "reserve", "itemsProperty": "lines", "maxParallelism": 3}),
    action("ship", "failed", policy=tries(2)),
    signal_wait("delivered", signal="carrier.delivered@1", expiresAfter="7.00:00:00"),
    join(configuration={"mode": "atLeast", "threshold": 2}),
    action("invoice"),
    action("book", "failed"),
    node("mend", "decision", "again", "leave"),
    timer("cool-down", "00:05:00"),
    action("close"),
    action("never"),
    edges=(
        "start.next>reserve",
        "reserve.next>release",
        "release.approved>fan",
        "release.expired>never",
        "fan.each>ship",
        "ship.next>delivered",
        "delivered.resumed>gather",
        "gather.completed>invoice",
        "gather.completed>book",
        "gather.partial>never",
        "book.failed>mend",
        "mend.leave>cool-down",
        "cool-down.elapsed>close",
    ),
    subjectKind="order",
    capabilities={"test.ship": 1},
)


def succeeded() -> World:
    """A run that met with nearly everything and ended well."""
    world = World.start(
        DEFINITION, {"order": "A-17", "total": 12.5}, trigger=Trigger("stageHook", "order", "A-17", "case-9")
    )
    world.answer("reserve", Failed("the warehouse is closed", "W-1"))
    world.wake(seconds=30)
    world.stop("reserve")
    world.wake(seconds=30)
    world.answer("reserve", {**lines("l1", "l2", "l3", "l4", "l5", "l6"), "note": "ä" * 300})
    world.resolve("release", "approved", {"by": "phone"}, actor="anna")
    world.answer("ship", {"parcel": 1}, key="l1")
    world.answer("ship", Failed("out of stock"), key="l2")
    world.answer("ship", Skipped("a download"), key="l3")
    world.claim("ship", key="l4")
    world.answer("ship", {"parcel": 5}, key="l5")
    world.resolve("delivered", "resumed", {"door": "left"}, key="l1")
    world.answer("invoice", Suspended("bank-77", timedelta(days=3)))
    world.answer("ship", Failed("too late"), key="l4")
    world.answer("book", Ambiguous("the ledger did not answer"))
    world.complete("invoice", {"invoice": "R-1"}, actor="bank")
    world.reconcile("book", Failed("it was not booked", "L-2"), actor="anna")
    world.answer("mend", Succeeded("leave", {"because": "it is booked by hand"}))
    world.wake(minutes=5)
    world.answer("close", None)
    return world


def failed() -> World:
    """A run that failed for good."""
    world = World.start(chain(action("a"), action("b")))
    world.answer("a", Failed("no stock", "E7"))
    return world


def cancelled() -> World:
    """A run that was ended by somebody."""
    world = World.start(chain(signal_wait("w"), action("a")))
    world.cancel("anna", "ordered twice")
    return world


# --- journals as they are written down --------------------------------------------------------------------------------


def written(facts: Iterable[Recorded]) -> list[dict[str, Any]]:
    """Facts as a store keeps them."""
    return [
        {
            "number": recorded.number,
            "at": format_instant(recorded.at),
            "type": type(recorded.fact).__name__,
            "data": json.loads(fact_data(recorded.fact)),
            "value": value_of(recorded.fact),
            "size": recorded.size,
        }
        for recorded in facts
    ]


def read(documents: Iterable[dict[str, Any]]) -> list[Recorded]:
    """The same facts again."""
    return [
        Recorded(
            each["number"],
            parse_instant(each["at"]),
            fact_from(each["type"], json.dumps(each["data"]), each["value"]),
            each["size"],
        )
        for each in documents
    ]


def examples() -> dict[str, list[dict[str, Any]]]:
    """By type of fact: one fact of each form it takes in the three runs, as it is stored and as the API shows it."""
    found: dict[str, dict[str, dict[str, Any]]] = {}
    for world in (succeeded(), failed(), cancelled()):
        for stored, entry in zip(written(world.journal), world.entries(), strict=True):
            data = stored["data"]
            form = f"{sorted(data)} {data.get('waitKind')} {data.get('outcome', {}).get('status')}"
            found.setdefault(entry.type, {}).setdefault(form, {"stored": stored, "shown": entry.document()})
    return {type_: list(forms.values()) for type_, forms in sorted(found.items())}


def record(folder: Path) -> None:
    """Write the golden documents anew; a difference to those of the past is a change of what is stored."""
    run = succeeded()
    documents: dict[str, object] = {f"facts/{type_}": forms for type_, forms in examples().items()}
    documents |= {"rich-run.journal": written(run.journal), "rich-run.snapshot": run.snapshot().document()}
    for name, document_ in documents.items():
        path = folder / f"{name}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(document_, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def digests(runs: int) -> list[str]:
    """A digest of each of some runs to which random things happened; the same in every process."""
    found = []
    for number in range(runs):
        chance = Random(number)
        world = World.start(definition_by(chance), payload_by(chance))
        Driver(world, chance).play()
        found.append(hashlib.sha256(json.dumps(written(world.journal)).encode()).hexdigest())
    return found


if __name__ == "__main__":
    record(GOLDEN)
