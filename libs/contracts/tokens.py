"""Constrained identifiers: what may stand in a subject, an object key or a URL.

A token never holds a dot, a slash, white space or a NATS wildcard, so it can be put
into a subject or a key without escaping; a value that breaks the rule is refused when
it enters, by the type.
"""

import hashlib
import re
import secrets
import time
import unicodedata
from typing import Annotated

from pydantic import AfterValidator, Field, StringConstraints

NAMESPACE_PATTERN = r"^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$"
TOKEN_PATTERN = r"^[A-Za-z0-9](?:[A-Za-z0-9_-]{0,126}[A-Za-z0-9])?$"  # noqa: S105
MAX_FILE_NAME_BYTES = 255

Namespace = Annotated[str, StringConstraints(pattern=NAMESPACE_PATTERN)]
DocumentId = Annotated[str, StringConstraints(pattern=TOKEN_PATTERN)]
JobId = Annotated[str, StringConstraints(pattern=TOKEN_PATTERN)]
RunId = Annotated[str, StringConstraints(pattern=TOKEN_PATTERN)]
Collection = Annotated[str, StringConstraints(pattern=NAMESPACE_PATTERN)]
Revision = Annotated[int, Field(ge=1, le=2**31 - 1)]
Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]


def safe_file_name(name: str) -> str:
    """The last path component of `name`, NFC, without control characters, ≤ 255 bytes.

    The result is safe as one path component: never empty, `.`, `..` or hidden behind a
    separator of any system. A name that is too long keeps its suffix.
    """
    text = unicodedata.normalize("NFC", name.encode("utf-8", "replace").decode("utf-8"))
    text = re.split(r"[\\/]", text)[-1]
    text = "".join(c for c in text if unicodedata.category(c) not in {"Cc", "Cf", "Cs", "Zl", "Zp"})
    text = text.strip().strip(":")
    if text in {"", ".", ".."}:
        return "unnamed"
    if len(text.encode()) <= MAX_FILE_NAME_BYTES:
        return text
    stem, dot, suffix = text.rpartition(".")
    suffix = dot + suffix if dot and len(suffix.encode()) <= 16 else ""
    stem = stem if suffix else text
    room = MAX_FILE_NAME_BYTES - len(suffix.encode())
    return stem.encode()[:room].decode("utf-8", "ignore") + suffix


FileName = Annotated[str, AfterValidator(safe_file_name)]


def plain_text(text: str) -> str:
    """`text` itself; ValueError where it holds control characters, line ends or half a pair."""
    if any(unicodedata.category(c) in {"Cc", "Cs", "Zl", "Zp"} for c in text):
        raise ValueError("control characters and line ends are not allowed")
    return text


PlainText = Annotated[str, AfterValidator(plain_text)]


def new_id(kind: str) -> str:
    """A fresh identifier such as `job-0192f3…`: sorts by creation time, 64 random bits."""
    return f"{kind}-{time.time_ns() // 1_000_000:011x}{secrets.token_hex(8)}"


def document_id_for(*identity: str) -> str:
    """The deterministic document id of an outside identity, such as (bucket, key)."""
    return "doc-" + hashlib.sha256("\x1f".join(identity).encode()).hexdigest()[:32]
