"""A clock that stands still until it is moved."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta


class MovableClock:
    """The clock port for tests."""

    def __init__(self, now: datetime = datetime(2026, 1, 1, tzinfo=UTC)) -> None:
        self._now = now

    def now(self) -> datetime:
        """Where it stands."""
        return self._now

    def move(self, by: timedelta) -> datetime:
        """Go forward; a clock never goes back."""
        if by < timedelta(0):
            raise ValueError("a clock moves forward only")
        self._now += by
        return self._now

    def move_to(self, instant: datetime) -> datetime:
        """Go forward to an instant; one that is past already changes nothing."""
        return self.move(max(instant - self._now, timedelta(0)))
