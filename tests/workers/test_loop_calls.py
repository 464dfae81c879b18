"""Calls from the desk to the worker's loop."""

from __future__ import annotations

import os
import threading
from functools import partial

from kombu.asynchronous.hub import Hub
from structlog.testing import capture_logs

from workers.loop_calls import LoopCalls


def fail() -> None:
    """A call that is no good."""
    raise ValueError


def test_without_a_loop_a_call_is_made_at_once_and_one_that_fails_harms_no_other() -> None:
    made: list[int] = []
    calls = LoopCalls(None)
    with capture_logs() as lines:
        calls(fail)
        calls(partial(made.append, 1))
    assert ([1], ["call_failed"]) == (made, [line["event"] for line in lines])


def test_with_a_loop_calls_are_made_on_its_thread_in_order_and_wake_it() -> None:
    hub = Hub()
    made: list[tuple[int, str]] = []
    calls = LoopCalls(hub)

    def note(number: int) -> None:
        made.append((number, threading.current_thread().name))
        if number == 99:
            hub.stop()

    def bring() -> None:
        for number in range(100):
            calls(partial(note, number))

    # The loop is asleep for up to a second at a time; a call wakes it.
    hub.call_later(0.01, threading.Thread(target=bring, name="desk").start)
    # A hub polls only when it watches something; this never happens.
    reading, writing = os.pipe()
    hub.add_reader(reading, fail)
    hub.run_forever()
    assert [(number, threading.current_thread().name) for number in range(100)] == made
    hub.close()
    os.close(reading)
    os.close(writing)
