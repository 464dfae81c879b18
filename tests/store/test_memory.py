"""The store in memory keeps the port's promises."""

from __future__ import annotations

import pytest

from orchestrator.ports.store import Store
from orchestrator.store.memory import MemoryStore
from tests.store.conformance import Conformance
from tests.store.rows import change


class TestMemory(Conformance):
    @pytest.fixture
    def store(self) -> Store:
        return MemoryStore()


def test_a_reader_keeps_its_journal_when_a_writer_fails_and_another_goes_on() -> None:
    store = MemoryStore()
    with store.transaction() as tx:
        tx.append([change(count=2)])
    with store.reading() as reader:
        with pytest.raises(ZeroDivisionError), store.transaction() as tx:  # noqa: PT012
            tx.append([change(after=2, count=2)])
            1 / 0  # noqa: B018
        with store.transaction() as tx:
            tx.append([change(after=2)])
        assert [1, 2] == [fact.number for fact in reader.facts("run-1")]
    with store.reading() as reader:
        assert [1, 2, 3] == [fact.number for fact in reader.facts("run-1")]
