"""The store's share of a step on PostgreSQL: client CPU, time and statements of append, claim and hold, as ratios.

`CELERIAC_DATABASE_URL=… python -m benchmarks.store_append` measures each against an empty transaction, in one run. With
``--against FOLDER URL``, another checkout and a database of its own, both are measured in turn, and the ratio says how
much this one costs of what that one costs. Medians of several rounds.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
import uuid
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import cycle
from pathlib import Path

from sqlalchemy import event, text

from orchestrator.core.data import JsonText
from orchestrator.ports.records import AttemptRow, AttemptState, Change, RunRow, StoredFact
from orchestrator.ports.store import ClaimRequest, Transaction
from orchestrator.store.migrate import upgrade
from orchestrator.store.opening import open_store
from orchestrator.store.sql.transaction import SqlStore

ROUNDS, CALLS, RUNS = 3, 100, 100
NOW = datetime(2026, 12, 1, tzinfo=UTC)
LEASE = timedelta(seconds=30)
DATA = JsonText('{"execution":{"id":"0123456789abcdef0123456789abcdef","node":"ship"},"attempt":1}')
OUTPUT = JsonText('{"tracking":"abc"}')

Costs = dict[str, dict[str, float]]


class Steps:
    """Runs that are moved on, a step at a time: the attempt that is out ends, the next is owed, four facts say so."""

    def __init__(self) -> None:
        self._tails = {uuid.uuid4().hex: 0 for _ in range(RUNS)}
        self._turn = cycle(self._tails)

    def begin(self, tx: Transaction) -> None:
        """Create the runs."""
        tx.append([self._change(id) for id in self._tails])

    def empty(self, tx: Transaction) -> None:
        """Nothing, for comparison."""

    def append(self, tx: Transaction) -> None:
        """Append to one run."""
        tx.append([self._change(next(self._turn))])

    def claim(self, tx: Transaction) -> None:
        """Claim one attempt."""
        tx.claim([ClaimRequest(self._attempt(next(self._turn)), "safe")], "worker", now=NOW, lease=LEASE)

    def hold(self, tx: Transaction) -> None:
        """Hold one run and its attempt."""
        id = next(self._turn)
        tx.lock([id], wait=False)
        tx.attempts([self._attempt(id)], lock=True)

    def step(self, tx: Transaction) -> None:
        """All that a worker asks for when it has one answer."""
        id = next(self._turn)
        tx.lock([id], wait=False)
        tx.attempts([self._attempt(id)], lock=True)
        tx.answered([id])
        tx.append([self._change(id)])

    def ten(self, tx: Transaction) -> None:
        """Append to ten runs at once."""
        tx.append([self._change(next(self._turn)) for _ in range(10)])

    def _attempt(self, run_id: str) -> str:
        return f"{run_id}.{self._tails[run_id]}"

    def _change(self, run_id: str) -> Change:
        tail = self._tails[run_id]
        ended = (self._attempt(run_id),) if tail else ()
        self._tails[run_id] = tail + 4
        facts = tuple(StoredFact(tail + n, "WorkflowNodeScheduled", NOW, DATA) for n in (1, 2, 3))
        output = StoredFact(tail + 4, "WorkflowNodeOperationCompleted", NOW, DATA, OUTPUT, len(OUTPUT))
        row = RunRow(run_id, "default", "orders", 1, run_id, "manual", None, None, None, "Running", tail + 4, NOW, NOW)
        owed = AttemptRow(
            self._attempt(run_id),
            run_id,
            "default",
            run_id,
            "ship",
            1,
            "orders.ship@1",
            timedelta(minutes=10),
            AttemptState.OWED,
            NOW,
            NOW,
        )
        return Change(row, tail, (*facts, output), owed=(owed,), ended=ended)


def measure(url: str) -> Costs:
    """Milliseconds of CPU and of time, and statements, of one call of each."""
    upgrade(url)
    store = open_store(url)
    assert isinstance(store, SqlStore)
    sent = [0]

    @event.listens_for(store.engine, "before_cursor_execute")
    def _sending(*_: object) -> None:
        sent[0] += 1

    steps = Steps()
    with store.transaction() as tx:
        steps.begin(tx)
    calls: dict[str, Callable[[Transaction], None]] = {
        "an empty transaction": steps.empty,
        "append to one run": steps.append,
        "append to ten runs": steps.ten,
        "claim one attempt": steps.claim,
        "hold a run and its attempt": steps.hold,
        "all of one answer": steps.step,
    }
    costs: Costs = {}
    for name, call in calls.items():
        rounds = []
        for _ in range(ROUNDS + 1):
            with store.engine.begin() as connection:
                connection.execute(text("UPDATE attempts SET state = 'owed'"))
            sent[0], cpu, wall = 0, time.process_time(), time.perf_counter()
            for _ in range(CALLS):
                with store.transaction() as tx:
                    call(tx)
            rounds.append((time.process_time() - cpu, time.perf_counter() - wall, sent[0]))
        cpu, wall, statements = (statistics.median(each) / CALLS for each in zip(*rounds[1:], strict=True))
        costs[name] = {"cpu": cpu * 1e3, "wall": wall * 1e3, "statements": statements}
    store.close()
    return costs


def elsewhere(folder: str, url: str) -> Costs:
    """The same, measured with the store of another checkout."""
    command = [sys.executable, str(Path(__file__).resolve()), "--json"]
    there = {**os.environ, "PYTHONPATH": folder, "CELERIAC_DATABASE_URL": url}
    told = subprocess.run(command, env=there, stdout=subprocess.PIPE, text=True, check=True, cwd=folder)
    found: Costs = json.loads(told.stdout)
    return found


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--against", nargs=2, metavar=("FOLDER", "URL"), help="another checkout, and its database")
    parser.add_argument("--json", action="store_true", help="the costs as JSON")
    asked = parser.parse_args()
    url = os.environ["CELERIAC_DATABASE_URL"]
    if asked.against:
        pairs = [(elsewhere(*asked.against), measure(url)) for _ in range(3)]
        print("this checkout against the other: CPU, time (statements of each)")
        for name in pairs[0][0]:
            ratios = [
                statistics.median(here[name][what] / there[name][what] for there, here in pairs)
                for what in ("cpu", "wall")
            ]
            there, here = pairs[0]
            counted = f"{there[name]['statements']:.0f} to {here[name]['statements']:.0f}"
            print(f"{ratios[0]:6.2f} {ratios[1]:6.2f}  {name} ({counted})")
        return
    costs = measure(url)
    if asked.json:
        print(json.dumps(costs))
        return
    nothing = costs["an empty transaction"]
    print("against an empty transaction: CPU, time (statements)")
    for name, cost in costs.items():
        ratios = [cost[what] / nothing[what] for what in ("cpu", "wall")]
        print(f"{ratios[0]:6.2f} {ratios[1]:6.2f}  {name} ({cost['statements']:.0f})")


if __name__ == "__main__":
    main()
