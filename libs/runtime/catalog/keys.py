"""Namespaces and API keys."""

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from libs.contracts.api.documents import Role


@dataclass(frozen=True)
class KeyRecord:
    """A key as stored: only the sha256 of its secret is known. It is live until `revoked_at`,
    which may lie ahead."""

    key_id: str
    namespace: str
    role: Role
    label: str
    secret_hash: str
    created_at: datetime
    revoked_at: datetime | None = None

    def live(self, moment: datetime) -> bool:
        """Whether the key is good at this moment."""
        return self.revoked_at is None or self.revoked_at > moment


class KeyStore(Protocol):
    """Keys belong to one namespace; role `admin` spans namespaces."""

    async def create_namespace(self, namespace: str) -> bool:
        """Make it; False when it was there."""
        ...

    async def list_namespaces(self) -> list[str]:
        """All, by name."""
        ...

    async def pause(self, namespace: str, paused: bool) -> bool:
        """Hold the namespace's waiting jobs back, or let them go on; what runs is not
        touched. False when there is no such namespace; again changes nothing."""
        ...

    async def paused(self) -> dict[str, datetime]:
        """Paused namespaces, and since when."""
        ...

    async def add(self, record: KeyRecord) -> None:
        """Store a key; its namespace is made when absent. The same `key_id` again with the
        same hash is not an error, so the local key survives a restart."""
        ...

    async def find(self, secret_hash: str) -> KeyRecord | None:
        """The live key with this hash; one that has ended is absent."""
        ...

    async def select(self, namespace: str | None) -> list[KeyRecord]:
        """Keys of a namespace, or all; revoked ones included, oldest first."""
        ...

    async def revoke(self, key_id: str, at: datetime | None = None) -> bool:
        """End a key at once, or at a moment ahead; an end is never put off. False when it is
        unknown or ends before that anyway."""
        ...
