"""The dispatcher in memory."""

from __future__ import annotations

from datetime import timedelta

from orchestrator.dispatch.inline import InlineDispatcher
from orchestrator.ports.dispatch import Dispatcher, Doorbell

BELL = Doorbell("e.1", "r", "a@1", timedelta(seconds=1))


def test_what_is_rung_stands_in_the_queue() -> None:
    dispatcher = InlineDispatcher()
    port: Dispatcher = dispatcher
    assert 2 == port.ring([BELL, BELL])
    port.call_off(["e.1"])
    assert ([BELL, BELL], ["e.1"]) == (list(dispatcher.rung), dispatcher.called_off)


def test_switched_off_it_behaves_as_without_a_broker() -> None:
    dispatcher = InlineDispatcher()
    dispatcher.away = True
    assert 0 == dispatcher.ring([BELL])
