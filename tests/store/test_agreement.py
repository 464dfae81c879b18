"""Whatever is done to them, the store in memory and the one on a database answer alike and hold the same rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from orchestrator.core.data import JsonText
from orchestrator.core.outcomes import Receipt
from orchestrator.errors import Conflict
from orchestrator.ports.records import AttemptState
from orchestrator.ports.store import ClaimRequest, RunFilter, Store, Transaction
from orchestrator.store.memory import MemoryStore
from orchestrator.store.sql.transaction import open_sql_store
from tests.store.rows import at, attempt, change, timer, wait

Act = Callable[[Transaction], Any]

RUNS = ("a", "b")
NAMES = ("x", "y", "z")
runs, names, seconds = st.sampled_from(RUNS), st.sampled_from(NAMES), st.integers(0, 9)
several = st.lists(names, max_size=2, unique=True)
fences = st.integers(0, 2)


def attempt_id(run: str, name: str) -> str:
    return f"{run}{name}.1"


@st.composite
def appends(draw: st.DrawFn) -> Act:
    run, after = draw(runs), draw(st.integers(0, 4))
    owed = tuple(attempt(attempt_id(run, name), run, due_at=at(draw(seconds))) for name in draw(several))
    waits = tuple(
        wait(
            f"{run}{name}",
            run,
            kind="completion",
            key=draw(st.sampled_from(("k", "l", None))),
            status=draw(st.sampled_from(("open", "closed"))),
            closed_at=at(draw(seconds)),
        )
        for name in draw(several)
    )
    appended = change(
        run,
        after=after,
        count=draw(st.integers(1, 2)),
        row={"status": draw(st.sampled_from(("Running", "Failed")))},
        owed=owed,
        ended=tuple(attempt_id(run, name) for name in draw(several)),
        timers=tuple(timer(name, run, due_at=at(draw(seconds))) for name in draw(several)),
        cleared=tuple(draw(several)),
        waits=waits,
        swept=draw(st.integers(0, 9)) == 0,
    )
    return lambda tx: tx.append([appended])


@st.composite
def steps(draw: st.DrawFn) -> Act:
    run, name, fence, now, limit = draw(runs), draw(names), draw(fences), at(draw(seconds)), draw(st.integers(0, 3))
    id = attempt_id(run, name)
    receipt = Receipt("succeeded", outlet="next", output=JsonText(str(now.second)))

    def postpone(tx: Transaction) -> None:
        rows = tx.due_attempts(now, limit)
        tx.postpone([replace(row, fence=fence, rings=row.rings + 1, due_at=at(5)) for row in rows])

    def hand_back(tx: Transaction) -> None:
        held = [row for row in tx.attempts([id], lock=True) if row.state is AttemptState.CLAIMED]
        tx.postpone([replace(row, state=AttemptState.OWED, worker=None, losses=1) for row in held])

    acts: tuple[Act, ...] = (
        lambda tx: tx.claim([ClaimRequest(id, "safe")], "w", now=now, lease=timedelta(seconds=limit)),
        lambda tx: tx.renew([(id, fence)], until=now),
        lambda tx: tx.answer([(id, fence, receipt)], now=now, due_at=at(7)),
        lambda tx: tx.take_timers(tx.due_timers(now, limit), until=at(8)),
        lambda tx: tx.park_timers(run, [name]),
        lambda tx: tx.lock([run, "gone"], wait=False),
        postpone,
        hand_back,
    )
    return draw(st.sampled_from(acts))


class Stopped(Exception):
    """The caller changed its mind."""


def stop() -> None:
    raise Stopped


def done(store: Store, acts: list[Act], *, fails: bool) -> list[Any]:
    """What one transaction answers, act by act, up to a conflict."""
    answers: list[Any] = []
    try:
        with store.transaction() as tx:
            answers.extend(act(tx) for act in acts)
            if fails:
                stop()
    except (Conflict, Stopped) as error:
        answers.append(type(error))
    return answers


def everything(store: Store) -> list[Any]:
    with store.reading() as tx:
        return [
            tx.runs(RunFilter(), limit=99),
            dict(tx.count_runs()),
            [tx.facts(run) for run in RUNS],
            tx.attempts_of(RUNS),
            tx.answered(RUNS),
            [tx.timers_of(run) for run in RUNS],
            tx.waits(open_only=False),
            tx.waits(),
            [tx.wait_by_key("default", key) for key in "klm"],
            tx.open_keys("default", ["k", "l"]),
        ]


@given(st.lists(st.tuples(st.lists(appends() | steps(), min_size=1, max_size=4), st.booleans()), max_size=12))
def test_the_stores_agree(history: list[tuple[list[Act], bool]]) -> None:
    memory, database = MemoryStore(), open_sql_store("sqlite://")
    try:
        for acts, fails in history:
            assert done(database, acts, fails=fails) == done(memory, acts, fails=fails)
            assert everything(database) == everything(memory)
    finally:
        database.close()
