"""What each pool can enforce, and which are refused."""

from __future__ import annotations

import pytest
from celery.concurrency.solo import TaskPool as SoloPool
from celery.concurrency.thread import TaskPool as ThreadPool

from orchestrator.errors import BadSettings
from workers.pools import POWERS, power_of


def test_a_pool_says_in_a_sentence_what_it_can_enforce() -> None:
    assert ("threads", False) == (power_of(ThreadPool(limit=1)).name, power_of(ThreadPool(limit=1)).stops)
    assert not power_of(SoloPool()).stops
    assert POWERS["celery.concurrency.prefork"].stops


def test_a_pool_that_was_not_tried_is_refused_with_what_to_do() -> None:
    class TaskPool:
        pass

    TaskPool.__module__ = "celery.concurrency.gevent"
    with pytest.raises(BadSettings, match=r"the pool gevent is not tried .* --pool one of prefork, threads, solo"):
        power_of(TaskPool())
