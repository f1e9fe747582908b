"""Writing down what a key is about to do; see `libs/contracts/api/audit.py`."""

from typing import Protocol

from libs.contracts.api.audit import Action, AuditEntry
from libs.contracts.api.documents import Role
from libs.contracts.tokens import new_id
from libs.runtime.telemetry import trace_id
from services.gateway.deps import Deps


class Actor(Protocol):
    """Who acts: a key."""

    @property
    def key_id(self) -> str:
        """Its id."""
        ...

    @property
    def role(self) -> Role:
        """What it may do."""
        ...


async def note(
    deps: Deps,
    actor: Actor,
    action: Action,
    target: str,
    *,
    namespace: str | None,
    reason: str | None = None,
    **detail: str | int,
) -> None:
    """Write it down before it is done: what cannot be written down is not done.

    Raises `WorldFault(STORE_AWAY)`.
    """
    await deps.stores.catalog.audit.add(
        AuditEntry(
            audit_id=new_id("audit"),
            at=deps.clock(),
            key_id=actor.key_id,
            role=actor.role,
            namespace=namespace,
            action=action,
            target=target,
            detail=detail,
            reason=reason,
            trace_id=trace_id(),
        )
    )
