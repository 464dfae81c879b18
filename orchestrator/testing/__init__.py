"""The testing kit for users: workflows in memory, inline, on a clock you move. Law: the real engine, no mocks.

A workflow that takes thirty days runs in milliseconds; a process can be crashed at any append.
"""

from orchestrator.testing.clock import MovableClock
from orchestrator.testing.crash import CrashingStore, SimulatedCrash
from orchestrator.testing.simulation import Simulation

__all__ = ["CrashingStore", "MovableClock", "SimulatedCrash", "Simulation"]
