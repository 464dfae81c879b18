"""Published versions, in SQL."""

from __future__ import annotations

from sqlalchemy import Connection, insert, select, update
from sqlalchemy.exc import IntegrityError

from orchestrator.ports.records import DefinitionRow
from orchestrator.store.sql.mapping import record, records, values_of
from orchestrator.store.sql.schema import definitions


class Definitions:
    """`ports.store.DefinitionTable`."""

    connection: Connection

    def definition(self, scope: str, workflow: str, version: int | None = None) -> DefinitionRow | None:
        query = select(definitions).where(definitions.c.scope == scope, definitions.c.workflow == workflow)
        query = query.where(definitions.c.active if version is None else definitions.c.version == version)
        row = self.connection.execute(query).mappings().first()
        return None if row is None else record(DefinitionRow, row)

    def definitions(self, scope: str, workflow: str | None = None) -> list[DefinitionRow]:
        query = select(definitions).where(definitions.c.scope == scope)
        if workflow is not None:
            query = query.where(definitions.c.workflow == workflow)
        query = query.order_by(definitions.c.workflow, definitions.c.version)
        return records(DefinitionRow, self.connection.execute(query).mappings())

    def add_definition(self, row: DefinitionRow) -> bool:
        try:
            with self.connection.begin_nested():
                self.connection.execute(insert(definitions), values_of(row))
        except IntegrityError:
            return False
        return True

    def activate(self, scope: str, workflow: str, version: int | None) -> None:
        active = definitions.c.version == version if version is not None else definitions.c.version.is_(None)
        self.connection.execute(
            update(definitions)
            .where(definitions.c.scope == scope, definitions.c.workflow == workflow)
            .values(active=active)
        )
