"""Upload links: what was agreed is in the link itself, signed, so no state is kept.

A link is bound to its namespace, size and file name. It may be written to until it
expires; as an upload id it names what was written, for a caller with a key.
"""

import base64
import binascii
import hashlib
import hmac

from pydantic import ValidationError

from libs.contracts.base import Contract
from libs.contracts.tokens import FileName, Namespace

MAX_TOKEN_CHARS = 4096


class Link(Contract):
    """What the token says; `expires_at` in seconds since 1970."""

    namespace: Namespace
    upload_id: str
    file_name: FileName
    media_type: str | None = None
    size: int
    expires_at: float


def sign_link(secret: bytes, link: Link) -> str:
    """The token, safe in a path."""
    body = _encode(link.model_dump_json(exclude_none=True).encode())
    return f"{body}.{_encode(_mac(secret, body))}"


def open_link(secret: bytes, token: str) -> Link | None:
    """What a genuine token says, expired or not; None for any other text."""
    body, _, mac = token.partition(".")
    if len(token) > MAX_TOKEN_CHARS or not token.isascii():
        return None
    if not hmac.compare_digest(_encode(_mac(secret, body)), mac):
        return None
    try:
        return Link.model_validate_json(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)))
    except (binascii.Error, ValidationError):
        return None


def _mac(secret: bytes, body: str) -> bytes:
    return hmac.digest(secret, body.encode(), hashlib.sha256)


def _encode(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()
