"""What operators do with dead letters, and admins with keys, namespaces and usage."""

from urllib.parse import quote

from libs.client.calls import Call, as_model, given, nothing
from libs.contracts.api.audit import AuditEntry
from libs.contracts.api.documents import KeyView, Page, Usage
from libs.contracts.api.letters import LetterView


def dead_letters(
    *,
    stage: str | None,
    code: str | None,
    document_id: str | None,
    cursor: str | None,
    limit: int | None,
) -> Call[Page[LetterView]]:
    """What ran out of deliveries, oldest first."""
    params = given(stage=stage, code=code, document_id=document_id, cursor=cursor, limit=limit)
    return Call("GET", "/v1/dead-letters", as_model(Page[LetterView]), params)


def _letter(letter_id: str, *rest: str) -> str:
    return "/".join(("/v1/dead-letters", quote(letter_id, safe=""), *rest))


def dead_letter(letter_id: str) -> Call[LetterView]:
    """One dead letter, whole."""
    return Call("GET", _letter(letter_id), as_model(LetterView))


def replay(letter_id: str) -> Call[None]:
    """Send a dead letter again, as a new message."""
    return Call("POST", _letter(letter_id, "replay"), nothing, repeatable=False)


def discard(letter_id: str, reason: str | None) -> Call[None]:
    """Drop a dead letter for good."""
    return Call("DELETE", _letter(letter_id), nothing, given(reason=reason))


def audit(
    *,
    namespace: str | None,
    action: str | None,
    target: str | None,
    cursor: str | None,
    limit: int | None,
) -> Call[Page[AuditEntry]]:
    """Who did what, newest first."""
    params = given(namespace=namespace, action=action, target=target, cursor=cursor, limit=limit)
    return Call("GET", "/v1/audit", as_model(Page[AuditEntry]), params)


def keys(namespace: str | None, *, cursor: str | None, limit: int | None) -> Call[Page[KeyView]]:
    """Keys; a namespace's, or all."""
    params = given(namespace=namespace, cursor=cursor, limit=limit)
    return Call("GET", "/v1/keys", as_model(Page[KeyView]), params)


def create_key(namespace: str, role: str, label: str) -> Call[KeyView]:
    """A new key; its secret is in this answer only."""
    body = {"namespace": namespace, "role": role, "label": label}
    return Call("POST", "/v1/keys", as_model(KeyView), json=body, repeatable=False)


def rotate_key(key_id: str, overlap_seconds: int) -> Call[KeyView]:
    """A key in the place of another, which stays good for so long."""
    path = f"/v1/keys/{quote(key_id, safe='')}/rotate"
    params = given(overlap_seconds=overlap_seconds or None)
    return Call("POST", path, as_model(KeyView), params, repeatable=False)


def revoke_key(key_id: str) -> Call[None]:
    """End a key at once."""
    return Call("DELETE", f"/v1/keys/{quote(key_id, safe='')}", nothing)


def namespaces(*, cursor: str | None, limit: int | None) -> Call[Page[str]]:
    """All namespaces, by name."""
    params = given(cursor=cursor, limit=limit)
    return Call("GET", "/v1/namespaces", as_model(Page[str]), params)


def usage(namespace: str | None, *, cursor: str | None, limit: int | None) -> Call[Page[Usage]]:
    """What a namespace holds, or each of them."""
    params = given(namespace=namespace, cursor=cursor, limit=limit)
    return Call("GET", "/v1/usage", as_model(Page[Usage]), params)


def create_namespace(namespace: str) -> Call[None]:
    """A new namespace."""
    return Call("POST", "/v1/namespaces", nothing, json={"namespace": namespace})
