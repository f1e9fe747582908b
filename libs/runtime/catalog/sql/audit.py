"""The audit log in SQL."""

import json
from typing import Any

from sqlalchemy import Connection, Row, insert, select

from libs.contracts.api.audit import Action, AuditEntry
from libs.runtime.catalog.sql.audit_schema import audit
from libs.runtime.catalog.sql.database import Database


def _entry(row: Row[Any]) -> AuditEntry:
    return AuditEntry.model_validate({**row._mapping, "detail": json.loads(row.detail)})


def _add(connection: Connection, entry: AuditEntry) -> None:
    fields = {**entry.model_dump(), "detail": json.dumps(entry.detail, ensure_ascii=False)}
    connection.execute(insert(audit), fields)


def _select(
    connection: Connection,
    namespace: str | None,
    action: Action | None,
    target: str | None,
    before: str | None,
    limit: int,
) -> list[AuditEntry]:
    query = select(audit).order_by(audit.c.audit_id.desc()).limit(limit)
    for column, wanted in (
        (audit.c.namespace, namespace), (audit.c.action, action), (audit.c.target, target),
    ):  # fmt: skip
        if wanted is not None:
            query = query.where(column == wanted)
    if before is not None:
        query = query.where(audit.c.audit_id < before)
    return [_entry(row) for row in connection.execute(query)]


class SqlAudit:
    """The `AuditStore` of a database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, entry: AuditEntry) -> None:
        """See the port."""
        await self._database.write(_add, entry)

    async def select(
        self,
        namespace: str | None,
        *,
        action: Action | None = None,
        target: str | None = None,
        before: str | None = None,
        limit: int = 100,
    ) -> list[AuditEntry]:
        """See the port."""
        return await self._database.read(_select, namespace, action, target, before, limit)
