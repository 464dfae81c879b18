"""Published versions: immutable, and at most one of a workflow is active."""

from __future__ import annotations

import pytest

from orchestrator.core.data import JsonText
from orchestrator.errors import NotFound
from orchestrator.ports.store import Store
from tests.store.rows import definition


class DefinitionPromises:
    def test_a_definition_is_found_as_it_was_stored(self, store: Store) -> None:
        row = definition(document=JsonText('{"name":"Größe 📦","n":1.0,"big":1e22}'))
        with store.transaction() as tx:
            assert tx.add_definition(row) is True
        with store.reading() as tx:
            assert row == tx.definition("default", "orders", 1)

    def test_a_version_that_is_there_is_never_replaced(self, store: Store) -> None:
        with store.transaction() as tx:
            tx.add_definition(definition())
        with store.transaction() as tx:
            assert tx.add_definition(definition(digest="other")) is False
            assert tx.add_definition(definition(version=2)) is True
        with store.reading() as tx:
            assert [definition(), definition(version=2)] == tx.definitions("default")

    def test_without_a_version_the_active_one_is_found(self, store: Store) -> None:
        with store.transaction() as tx:
            tx.add_definition(definition(version=1))
            tx.add_definition(definition(version=2))
            assert tx.definition("default", "orders") is None
            tx.activate("default", "orders", 2)
            assert definition(version=2, active=True) == tx.definition("default", "orders")
            tx.activate("default", "orders", 1)
        with store.reading() as tx:
            assert definition(version=1, active=True) == tx.definition("default", "orders")
            assert definition(version=2) == tx.definition("default", "orders", 2)

    def test_activating_what_is_active_changes_nothing(self, store: Store) -> None:
        with store.transaction() as tx:
            tx.add_definition(definition())
            tx.activate("default", "orders", 1)
            tx.activate("default", "orders", 1)
            assert [definition(active=True)] == tx.definitions("default", "orders")

    def test_none_may_be_active(self, store: Store) -> None:
        with store.transaction() as tx:
            tx.add_definition(definition())
            tx.activate("default", "orders", 1)
            tx.activate("default", "orders", None)
            assert tx.definition("default", "orders") is None

    def test_activating_a_version_that_is_not_there_is_refused_and_changes_nothing(self, store: Store) -> None:
        with store.transaction() as tx:
            tx.add_definition(definition())
            tx.activate("default", "orders", 1)
        with pytest.raises(NotFound), store.transaction() as tx:
            tx.activate("default", "orders", 7)
        with store.reading() as tx:
            assert definition(active=True) == tx.definition("default", "orders")

    def test_a_version_added_as_active_is_the_only_active_one(self, store: Store) -> None:
        with store.transaction() as tx:
            tx.add_definition(definition(version=1, active=True))
            tx.add_definition(definition(version=2, active=True))
            assert [False, True] == [row.active for row in tx.definitions("default", "orders")]

    def test_scopes_and_workflows_do_not_see_each_other(self, store: Store) -> None:
        with store.transaction() as tx:
            tx.add_definition(definition(active=True))
            tx.add_definition(definition(workflow="Orders", active=True))
            tx.add_definition(definition(scope="north"))
            tx.activate("north", "orders", None)
        with store.reading() as tx:
            assert definition(active=True) == tx.definition("default", "orders")
            assert tx.definition("north", "orders") is None
            assert [definition(scope="north")] == tx.definitions("north")

    def test_versions_are_listed_by_workflow_and_number(self, store: Store) -> None:
        keys = [("a", 2), ("B", 1), ("a", 10), ("ä", 1), ("a", 1)]
        with store.transaction() as tx:
            for workflow, version in keys:
                tx.add_definition(definition(workflow, version))
        with store.reading() as tx:
            assert sorted(keys) == [(row.workflow, row.version) for row in tx.definitions("default")]
            assert [1, 2, 10] == [row.version for row in tx.definitions("default", "a")]
