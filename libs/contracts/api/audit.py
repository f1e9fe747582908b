"""What was done by whom: the audit log as the HTTP interface shows it."""

from datetime import datetime
from enum import StrEnum

from libs.contracts.api.documents import Role
from libs.contracts.base import Contract


class Action(StrEnum):
    """What is written down: whatever takes something away or decides who may do what."""

    DOCUMENT_DELETE = "document.delete"
    DOCUMENT_ACTIVATE = "document.activate"
    DOCUMENT_REPROCESS = "document.reprocess"
    ENTRY_DELETE = "entry.delete"
    LETTER_REPLAY = "dead_letter.replay"
    LETTER_DISCARD = "dead_letter.discard"
    KEY_CREATE = "key.create"
    KEY_ROTATE = "key.rotate"
    KEY_REVOKE = "key.revoke"
    NAMESPACE_CREATE = "namespace.create"
    STAGE_PAUSE = "stage.pause"
    STAGE_RESUME = "stage.resume"
    NAMESPACE_PAUSE = "namespace.pause"
    NAMESPACE_RESUME = "namespace.resume"


class AuditEntry(Contract):
    """One act of the key `key_id`, written before it was begun, so also of one that failed.

    `namespace` is whose things were touched, None where it was the whole system; `target` is
    the id of the document, letter, key, stage or namespace; `detail` says more in ids and
    numbers, never in text of documents; `reason` is what the operator stated.
    """

    audit_id: str
    at: datetime
    key_id: str
    role: Role
    namespace: str | None
    action: Action
    target: str
    detail: dict[str, str | int] = {}
    reason: str | None = None
    trace_id: str | None = None
