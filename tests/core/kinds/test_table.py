"""The table of kinds: complete, typed, closed, and ignorant of documents."""

from __future__ import annotations

import subprocess
import sys

import pytest

from orchestrator.core.graph import Node, NodeKind
from orchestrator.core.kinds import KINDS, configuration_of, table
from orchestrator.core.kinds.join import JoinConfiguration, JoinKind
from orchestrator.core.kinds.kind import NoConfiguration


def test_every_kind_has_its_line() -> None:
    assert list(NodeKind) == list(KINDS)


def test_a_kind_that_comes_twice_is_refused() -> None:
    with pytest.raises(ValueError, match="the kind join stands twice"):
        table(JoinKind(), JoinKind())


def test_the_table_cannot_be_changed() -> None:
    with pytest.raises(TypeError):
        KINDS[NodeKind.JOIN] = JoinKind()  # type: ignore[index]


@pytest.mark.parametrize("kind", NodeKind)
def test_every_kind_says_what_it_does_and_how_it_is_drawn(kind: NodeKind) -> None:
    entry = KINDS[kind]
    assert entry.sentence.endswith(".")
    assert entry.usual_outlets
    assert entry.shape


def test_a_configuration_is_typed_by_its_kind_and_read_once() -> None:
    node = Node("gather", NodeKind.JOIN, (), configuration='{"forEach":"fan"}')
    assert JoinConfiguration(for_each="fan") == configuration_of(node)
    assert configuration_of(node) is configuration_of(node)


@pytest.mark.parametrize("kind", (NodeKind.TRIGGER, NodeKind.ACTION, NodeKind.DECISION))
def test_what_belongs_to_others_is_not_looked_into(kind: NodeKind) -> None:
    assert NoConfiguration() == configuration_of(Node("n", kind, (), configuration='{"kind":1,"forEach":[]}'))


def test_kinds_know_nothing_of_documents_and_admission() -> None:
    program = (
        "import sys, orchestrator.core.kinds;"
        "print([name for name in sys.modules if name in ('orchestrator.core.admission', 'orchestrator.core.document')])"
    )
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "[]" == found.stdout.strip()
