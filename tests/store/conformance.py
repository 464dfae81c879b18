"""What every store holds: a store proves itself by a subclass with a fixture `store` that gives an empty one."""

from __future__ import annotations

from tests.store.promises.attempts import AttemptPromises
from tests.store.promises.definitions import DefinitionPromises
from tests.store.promises.journal import JournalPromises
from tests.store.promises.races import RacePromises
from tests.store.promises.read_models import ReadModelPromises
from tests.store.promises.timers import TimerPromises
from tests.store.promises.transactions import ConsistentReading, TransactionPromises


class OneConnection(
    TransactionPromises,
    DefinitionPromises,
    JournalPromises,
    AttemptPromises,
    TimerPromises,
    ReadModelPromises,
    RacePromises,
):
    """The port's promises, but that readers do not wait for a writer."""


class Conformance(OneConnection, ConsistentReading):
    """All of the port's promises."""
