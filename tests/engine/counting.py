"""How much is stored: a refusal must not change it."""

from __future__ import annotations

from tests.behaviours.stage import Stage


def rows(stage: Stage) -> tuple[int, ...]:
    """How much is stored."""
    with stage.simulation.store.reading() as tx:
        runs = tx.run_ids()
        return (
            len(runs),
            sum(len(tx.facts(run)) for run in runs),
            len(tx.attempts_of(runs)),
            sum(len(tx.timers_of(run)) for run in runs),
            len(tx.waits(open_only=False)),
            len(tx.waits()),
            len(tx.definitions("default")),
        )
