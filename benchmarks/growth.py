"""Growth: what a step costs at the end of a long run against its start, and an item of a large fan-out against one of
small ones.

A performer that does nothing, in one thread, claim and answer for every attempt as a worker makes them. What is
compared is measured in turns on one store, step by step, so that whatever else the machine does disturbs both alike.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from benchmarks.databases import NewStore, databases
from orchestrator.core.data import DataLimits
from orchestrator.core.outcomes import receipt_of
from orchestrator.engine.work import Work
from orchestrator.graph import Workflow, workflow
from orchestrator.ports.store import Store
from orchestrator.testing.simulation import Simulation

VISITS, EDGE = 2_000, 200
SMALL, LARGE = 200, 2_000
REPEATS = 3
LIMITS = DataLimits(max_bytes=2**22, max_input_bytes=2**24)
OUTPUT = {"text": "x" * 1_000}

#: Seconds for one step: in the small case and in the large one.
Costs: TypeAlias = tuple[float, float]


@dataclass(slots=True)
class Running:
    """A run of its own process, driven step by step."""

    simulation: Simulation
    run_id: str
    #: Seconds that starting took.
    began: float

    def step(self, output: object) -> float:
        """Seconds for one attempt: claim, answer, and what follows."""
        began = time.perf_counter()
        work = self.simulation.claim_next()
        assert isinstance(work, Work)
        self.simulation.engine.advance([work.answer(receipt_of(output))])
        return time.perf_counter() - began

    @property
    def status(self) -> str:
        return self.simulation.orchestrator.state(self.run_id).status

    @property
    def over(self) -> bool:
        return not self.simulation.doorbells.rung


def _start(store: Store, flow: Workflow, payload: object) -> Running:
    simulation = Simulation(store=store, limits=LIMITS)
    simulation.script("bench.step@1", {})
    simulation.orchestrator.publish(flow)
    began = time.perf_counter()
    run = simulation.orchestrator.start(flow.id, payload)
    return Running(simulation, run.id, time.perf_counter() - began)


def loop(new: NewStore) -> Costs:
    """The median cost of the first steps of a loop, and that of the last steps of a loop of 2,000 visits."""
    store = new()
    flow = workflow("loop", version=1, area="benchmarks")
    step = flow.action("step", "bench.step@1", max_visits=VISITS)
    flow.trigger("start").next(step)
    step.next(step)
    old = _start(store, flow, {})
    for _ in range(VISITS - EDGE):
        old.step({})
    young = _start(store, flow, {})
    pairs = [(young.step({}), old.step({})) for _ in range(EDGE)]
    return statistics.median(pair[0] for pair in pairs), statistics.median(pair[1] for pair in pairs)


def fan_out(new: NewStore) -> Costs:
    """Seconds an item of ten small fan-outs takes, and one of a large one, from their starts to their ends."""
    store = new()
    large, small = _fan(store, LARGE), _fan(store, SMALL)
    costs_large, costs_small = [large.began], [small.began]
    while not large.over:
        costs_large.append(large.step(OUTPUT))
        costs_small.append(small.step(OUTPUT))
        if small.over:
            assert small.status == "Succeeded"
            if not large.over:
                small = _fan(store, SMALL)
                costs_small.append(small.began)
    assert large.status == "Succeeded"
    return sum(costs_small) / LARGE, sum(costs_large) / LARGE


def _fan(store: Store, items: int) -> Running:
    flow = workflow(f"fan-{items}", version=1, area="benchmarks")
    start = flow.trigger("start")
    each = flow.for_each("each", items=start["items"], max_parallelism=64)
    step = flow.action("step", "bench.step@1")
    gathered = flow.join("gathered", of=each)
    start.next(each)
    each.on("each", step)
    step.next(gathered)
    return _start(store, flow, {"items": [{"key": str(n)} for n in range(items)]})


#: What is measured, by the words that name its ratio.
MEASURES: dict[str, Callable[[NewStore], Costs]] = {
    f"a step in the last {EDGE} of a loop of {VISITS:,} visits / in the first {EDGE}": loop,
    f"an item of a fan-out over {LARGE:,} / of those over {SMALL}, with 1 KiB of output each": fan_out,
}


def report(repeats: int = REPEATS) -> dict[str, dict[str, dict[str, float]]]:
    """By store and measure: the median of the ratios, with the milliseconds of the small case and the large one."""
    found: dict[str, dict[str, dict[str, float]]] = {}
    with databases() as kinds:
        for name, new in kinds.items():
            for what, measure in MEASURES.items():
                costs = sorted((measure(new) for _ in range(repeats)), key=lambda cost: cost[1] / cost[0])
                small, large = costs[len(costs) // 2]
                found.setdefault(name, {})[what] = {
                    "ratio": round(large / small, 3),
                    "smallMs": round(small * 1_000, 3),
                    "largeMs": round(large * 1_000, 3),
                }
    return found
