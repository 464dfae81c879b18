"""Leases: who is renewed, who is not, and what is said of a claim that is lost."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from datetime import timedelta

from structlog.testing import capture_logs

from orchestrator.errors import StoreUnavailable
from workers.lease_keeper import LeaseKeeper

Claims = Sequence[tuple[str, int]]


class Holdings:
    """What a worker has claimed, and the registry that knows better."""

    def __init__(self, *claims: tuple[str, int]) -> None:
        self.mine: list[tuple[str, int]] = list(claims)
        self.theirs: set[str] = {attempt for attempt, _ in claims}
        self.renewed: list[Claims] = []
        self.gone: list[tuple[str, int]] = []

    def renew(self, claims: Claims) -> set[str]:
        """Renew."""
        self.renewed.append(claims)
        return self.theirs

    def keeper(self, heartbeat: timedelta = timedelta(hours=1)) -> LeaseKeeper:
        """A keeper of these."""
        return LeaseKeeper(self.renew, claims=lambda: self.mine, not_held=self.gone.extend, heartbeat=heartbeat)


def test_a_claim_is_renewed_from_the_second_beat_on_so_that_short_ones_cost_nothing() -> None:
    holdings = Holdings(("a.1", 1))
    keeper = holdings.keeper()
    keeper.beat()
    assert [] == holdings.renewed
    holdings.mine.append(("b.1", 1))
    keeper.beat()
    assert [[("a.1", 1)]] == holdings.renewed


def test_a_claim_that_is_not_held_any_more_is_told() -> None:
    holdings = Holdings(("a.1", 1), ("b.1", 2))
    keeper = holdings.keeper()
    keeper.beat()
    holdings.theirs = {"a.1"}
    keeper.beat()
    assert [("b.1", 2)] == holdings.gone


def test_a_store_that_is_away_is_told_once_and_the_keeper_goes_on() -> None:
    class Away(Holdings):
        beats = 0

        def renew(self, claims: Claims) -> set[str]:
            self.beats += 1
            if self.beats == 2:
                third.set()
            raise StoreUnavailable if self.beats < 3 else ValueError

    third = threading.Event()
    keeper = Away(("a.1", 1)).keeper(timedelta(milliseconds=5))
    with capture_logs() as lines:
        keeper.start()
        assert third.wait(10)
        keeper.stop()
    assert 1 == [line["log_level"] for line in lines].count("warning")
