"""Growth: a step at the end of a long run against one at its start, an item of a large fan-out against a small one.

Performers do nothing; claim and answer are made for every attempt as a worker makes them, in one thread. Ratios of one
run.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from orchestrator.core.data import DataLimits
from orchestrator.core.outcomes import receipt_of
from orchestrator.engine.work import Work
from orchestrator.graph import workflow
from orchestrator.ports.store import Store
from orchestrator.store.memory import MemoryStore
from orchestrator.store.migrate import upgrade_store
from orchestrator.store.sql.transaction import open_sql_store
from orchestrator.testing.simulation import Simulation

VISITS = 2_000
SMALL, LARGE = 200, 2_000
LIMITS = DataLimits(max_bytes=2**22, max_input_bytes=2**24)


@contextmanager
def stores() -> Iterator[dict[str, Callable[[], Store]]]:
    """A new store of each kind."""
    with tempfile.TemporaryDirectory() as folder:
        numbers = iter(range(1_000))

        def sqlite() -> Store:
            store = open_sql_store(f"sqlite:///{Path(folder) / str(next(numbers))}.db")
            upgrade_store(store)
            return store

        yield {"memory": MemoryStore, "SQLite": sqlite}


def loop(store: Store) -> float:
    """The median cost of the last 200 steps of a loop of 2,000 visits, against that of its first 200."""
    simulation = Simulation(store=store, limits=LIMITS)
    flow = workflow("loop", version=1, area="benchmarks")
    step = flow.action("step", "bench.step@1", max_visits=VISITS)
    flow.trigger("start").next(step)
    step.next(step)
    simulation.script("bench.step@1", {})
    simulation.orchestrator.publish(flow)
    simulation.orchestrator.start("loop")
    costs = [_cost(simulation) for _ in range(VISITS)]
    return statistics.median(costs[-200:]) / statistics.median(costs[:200])


def fan_out(store: Store, items: int) -> float:
    """Seconds an item of a fan-out takes, from the start to the end of the run, with 1 KiB of output each."""
    simulation = Simulation(store=store, limits=LIMITS)
    flow = workflow(f"fan-{items}", version=1, area="benchmarks")
    start = flow.trigger("start")
    each = flow.for_each("each", items=start["items"], max_parallelism=64)
    step = flow.action("step", "bench.step@1")
    gathered = flow.join("gathered", of=each)
    start.next(each)
    each.on("each", step)
    step.next(gathered)
    simulation.script("bench.step@1", {})
    simulation.orchestrator.publish(flow)
    began = time.perf_counter()
    run = simulation.orchestrator.start(f"fan-{items}", {"items": [{"key": str(n)} for n in range(items)]})
    while simulation.doorbells.rung:
        _cost(simulation, {"text": "x" * 1_000})
    assert simulation.orchestrator.state(run.id).status == "Succeeded"
    return (time.perf_counter() - began) / items


def _cost(simulation: Simulation, output: object = None) -> float:
    """Seconds for one attempt: claim, answer, and what follows."""
    began = time.perf_counter()
    work = simulation.claim_next()
    assert isinstance(work, Work)
    simulation.engine.advance([work.answer(receipt_of(output or {}))])
    return time.perf_counter() - began


def report() -> dict[str, dict[str, float]]:
    """The two ratios on each store; medians of three."""
    found: dict[str, dict[str, float]] = {}
    with stores() as kinds:
        for name, new in kinds.items():
            found[name] = {
                "a step at the end of a loop of 2,000 visits / at its start": statistics.median(
                    loop(new()) for _ in range(3)
                ),
                "an item of 2,000 / an item of 200": statistics.median(
                    fan_out(new(), LARGE) / fan_out(new(), SMALL) for _ in range(3)
                ),
            }
    return found
