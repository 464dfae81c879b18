"""Published versions, in memory."""

from __future__ import annotations

from dataclasses import replace

from orchestrator.errors import NotFound
from orchestrator.ports.records import DefinitionRow
from orchestrator.store.in_memory.tables import Opened


class Definitions(Opened):
    """`ports.store.DefinitionTable`."""

    def definition(self, scope: str, workflow: str, version: int | None = None) -> DefinitionRow | None:
        if version is not None:
            return self.read.definitions.get((scope, workflow, version))
        return next((row for row in self.read.definitions.of((scope, workflow)) if row.active), None)

    def definitions(self, scope: str, workflow: str | None = None) -> list[DefinitionRow]:
        rows = self.read.definitions.values() if workflow is None else self.read.definitions.of((scope, workflow))
        return sorted((row for row in rows if row.scope == scope), key=lambda row: (row.workflow, row.version))

    def add_definition(self, row: DefinitionRow) -> bool:
        key = (row.scope, row.workflow, row.version)
        table = self.write.definitions
        if table.get(key) is not None:
            return False
        table.put(key, replace(row, active=False))
        if row.active:
            self.activate(row.scope, row.workflow, row.version)
        return True

    def activate(self, scope: str, workflow: str, version: int | None) -> None:
        table = self.write.definitions
        for row in table.of((scope, workflow)):
            table.put((scope, workflow, row.version), replace(row, active=row.version == version))
        if version is not None and table.get((scope, workflow, version)) is None:
            raise NotFound("definition", f"{workflow}@{version}")
