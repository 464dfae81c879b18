"""Whatever happens to a run of whatever definition: every promise of the world holds at every step, and it ends."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.core.chance import LIMITS, Driver, definition_by, payload_by
from tests.core.rich import digests
from tests.core.world import World

#: Runs that are made in every process of the test of determinism.
RUNS = 25


@pytest.mark.behaviour("B98")
@pytest.mark.behaviour("B101")
@settings(max_examples=settings().max_examples * 4)
@given(st.randoms(use_true_random=True))
def test_every_run_keeps_every_promise_and_ends(chance: Random) -> None:
    """Which ones those are: `tests.core.world` and `tests.core.invariants`."""
    world = World.start(definition_by(chance), payload_by(chance), limits=chance.choice(LIMITS))
    Driver(world, chance).play()


@pytest.mark.parametrize("seed", ("1", "2"))
def test_the_facts_are_the_same_in_every_process_whatever_the_order_of_its_hashes(seed: str, project: Path) -> None:
    program = f"import json; from tests.core.rich import digests; print(json.dumps(digests({RUNS})))"
    environment = os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": str(project)}
    command = [sys.executable, "-c", program]
    made = subprocess.run(command, capture_output=True, text=True, check=True, cwd=project, env=environment)
    assert digests(RUNS) == json.loads(made.stdout)
