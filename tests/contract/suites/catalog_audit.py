"""What every audit log must do. Give the fixture `catalog`."""

from datetime import UTC, datetime
from typing import Any

import pytest
from sqlalchemy import Connection, delete, update
from sqlalchemy.exc import DBAPIError

from libs.contracts.api.audit import Action, AuditEntry
from libs.contracts.faults import Fault
from libs.runtime.catalog.sql import SqlCatalog
from libs.runtime.catalog.sql.audit_schema import audit
from tests.support.catalogs import NS, OTHER

MOMENT = datetime(2026, 3, 1, 12, 30, 15, 123456, tzinfo=UTC)


def entry(number: int, **changes: Any) -> AuditEntry:
    fields: dict[str, Any] = {
        "audit_id": f"audit-{number}",
        "at": MOMENT,
        "key_id": "key-1",
        "role": "operator",
        "namespace": NS,
        "action": Action.DOCUMENT_DELETE,
        "target": "doc",
        **changes,
    }
    return AuditEntry(**fields)


class AuditStoreSuite:
    """The MUSTs of `libs/runtime/catalog/audit.py`."""

    async def test_entries_come_back_newest_first_page_by_page(self, catalog: SqlCatalog) -> None:
        made = [entry(n, detail={"revision": n}, reason="왜", trace_id="f" * 32) for n in range(5)]
        for one in made:
            await catalog.audit.add(one)
        assert await catalog.audit.select(NS) == made[::-1]
        first = await catalog.audit.select(NS, limit=2)
        rest = await catalog.audit.select(NS, before=first[-1].audit_id)
        assert first + rest == made[::-1]

    async def test_they_are_chosen_by_namespace_action_and_target(
        self, catalog: SqlCatalog
    ) -> None:
        mine = entry(1)
        foreign = entry(2, namespace=OTHER, action=Action.KEY_REVOKE, target="key-9")
        of_all = entry(3, namespace=None, action=Action.STAGE_PAUSE, target="parser")
        for one in (mine, foreign, of_all):
            await catalog.audit.add(one)
        assert await catalog.audit.select(NS) == [mine]
        assert await catalog.audit.select(None) == [of_all, foreign, mine]
        assert await catalog.audit.select(None, action=Action.STAGE_PAUSE) == [of_all]
        assert await catalog.audit.select(None, target="key-9") == [foreign]
        assert await catalog.audit.select(NS, target="key-9") == []

    @pytest.mark.parametrize(
        "change", [delete(audit), update(audit).values(target="x")], ids=["delete", "update"]
    )
    async def test_the_database_itself_refuses_to_change_an_entry(
        self, catalog: SqlCatalog, change: Any
    ) -> None:
        await catalog.audit.add(entry(1))

        def tamper(connection: Connection) -> None:
            connection.execute(change)

        with pytest.raises((DBAPIError, Fault)):
            await catalog.database.write(tamper)
        with pytest.raises((DBAPIError, Fault)):
            await catalog.audit.add(entry(1, target="other"))
        assert await catalog.audit.select(NS) == [entry(1)]
