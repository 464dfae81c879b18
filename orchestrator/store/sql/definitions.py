"""Published versions, in SQL."""

from __future__ import annotations

from typing import Any

from sqlalchemy import bindparam, false, select, true, update
from sqlalchemy.dialects.postgresql import insert as postgresql_insert
from sqlalchemy.dialects.sqlite import insert as sqlite_insert

from orchestrator.errors import NotFound
from orchestrator.ports.records import DefinitionRow
from orchestrator.store.sql.mapping import definition_from, definition_values
from orchestrator.store.sql.schema import definitions
from orchestrator.store.sql.session import Session

_OF_WORKFLOW = (definitions.c.scope == bindparam("scope_"), definitions.c.workflow == bindparam("workflow_"))
_IS_VERSION = definitions.c.version == bindparam("version_")

_ACTIVE = select(definitions).where(*_OF_WORKFLOW, definitions.c.active)
_VERSION = select(definitions).where(*_OF_WORKFLOW, _IS_VERSION)
#: Two steps, for at no moment may two versions be active (an index sees to it).
_DEACTIVATE = (
    update(definitions)
    .where(*_OF_WORKFLOW, definitions.c.active, definitions.c.version.is_distinct_from(bindparam("version_")))
    .values(active=false())
)
_ACTIVATE = update(definitions).where(*_OF_WORKFLOW, _IS_VERSION).values(active=true())
_ADD = {
    dialect: statement(definitions)
    .on_conflict_do_nothing(index_elements=[*definitions.primary_key.columns])
    .returning(definitions.c.version)
    for dialect, statement in (("postgresql", postgresql_insert), ("sqlite", sqlite_insert))
}


class Definitions(Session):
    """`ports.store.DefinitionTable`."""

    def definition(self, scope: str, workflow: str, version: int | None = None) -> DefinitionRow | None:
        wanted: dict[str, Any] = {"scope_": scope, "workflow_": workflow}
        query, told = (_ACTIVE, wanted) if version is None else (_VERSION, {**wanted, "version_": version})
        row = self.first(query, told)
        return None if row is None else definition_from(row)

    def definitions(self, scope: str, workflow: str | None = None) -> list[DefinitionRow]:
        query = select(definitions).where(definitions.c.scope == scope)
        if workflow is not None:
            query = query.where(definitions.c.workflow == workflow)
        return [*map(definition_from, self.read(query.order_by(definitions.c.workflow, definitions.c.version)))]

    def add_definition(self, row: DefinitionRow) -> bool:
        values = {**definition_values(row), "active": False}
        added = len(self.hold(_ADD[self._dialect], values)) == 1
        if added and row.active:
            self.activate(row.scope, row.workflow, row.version)
        return added

    def activate(self, scope: str, workflow: str, version: int | None) -> None:
        chosen = {"scope_": scope, "workflow_": workflow, "version_": version}
        self.write(_DEACTIVATE, chosen)
        if version is not None and self.write(_ACTIVATE, chosen) != 1:
            raise NotFound("definition", f"{workflow}@{version}")
