"""What users may import is written down here: a name comes or goes only on purpose."""

from __future__ import annotations

import importlib

import pytest

from tests.services.presence import leave_out

PUBLIC = {
    "orchestrator": [
        "Ambiguous",
        "BadData",
        "BadSettings",
        "BrokerUnavailable",
        "CeleriacError",
        "Failed",
        "InvalidCronExpression",
        "JournalEntry",
        "NotFound",
        "Orchestrator",
        "Reason",
        "Refused",
        "Rejected",
        "RunSnapshot",
        "Skipped",
        "Started",
        "StoreUnavailable",
        "Succeeded",
        "Suspended",
        "WaitClosed",
        "WorkflowDefinition",
        "graph",
    ],
    "workers": [
        "Ambiguous",
        "Failed",
        "Invocation",
        "Skipped",
        "Succeeded",
        "Suspended",
        "app",
        "performer",
    ],
    "beat": ["app"],
}


@pytest.mark.parametrize("package", PUBLIC)
def test_the_public_names_are_these_and_sorted(package: str) -> None:
    assert PUBLIC[package] == list(face(package))


@pytest.mark.parametrize("package", PUBLIC)
def test_every_public_name_is_there_and_the_package_lists_it(package: str) -> None:
    module = importlib.import_module(package)
    assert [] == [name for name in face(package) if getattr(module, name, None) is None]
    assert set(face(package)) <= set(dir(module))


def face(package: str) -> list[str]:
    """A package's `__all__`."""
    names: list[str] | None = getattr(importlib.import_module(package), "__all__", None)
    if not names:
        leave_out(f"the public names of {package}", "it has no __all__ yet")
    return names
