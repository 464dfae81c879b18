"""Whatever happens to a run of whatever definition: every promise of the world holds at every step, and it ends."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.chance import LIMITS, Driver, definition_by, payload_by
from tests.core.world import World


@pytest.mark.behaviour("B98")
@pytest.mark.behaviour("B101")
@given(st.randoms(use_true_random=True))
def test_every_run_keeps_every_promise_and_ends(chance: Random) -> None:
    world = World.start(definition_by(chance), payload_by(chance), limits=chance.choice(LIMITS))
    Driver(world, chance).play()
