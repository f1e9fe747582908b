"""The audit log."""

from typing import Protocol

from libs.contracts.api.audit import Action, AuditEntry


class AuditStore(Protocol):
    """Entries are added and read. No method changes or removes one, and the database MUST
    refuse that too."""

    async def add(self, entry: AuditEntry) -> None:
        """Store an entry; the same `audit_id` again is an error."""
        ...

    async def select(
        self,
        namespace: str | None,
        *,
        action: Action | None = None,
        target: str | None = None,
        before: str | None = None,
        limit: int = 100,
    ) -> list[AuditEntry]:
        """Entries of a namespace, or all for None; newest first, older than the id `before`."""
        ...
