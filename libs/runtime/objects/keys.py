"""Which strings are object keys: the one rule that every adapter applies before any I/O."""

import unicodedata

MAX_KEY_BYTES = 1024
"""As in S3."""

MAX_PART_BYTES = 255
"""As on the common file systems."""


def is_key(key: str) -> bool:
    """Whether `key` is one."""
    return _refusal(key) is None


def check_key(key: str) -> str:
    """`key`, or `ValueError` when it could name anything but an object below the root."""
    reason = _refusal(key)
    if reason:
        raise ValueError(f"not an object key: {key[:80]!a} {reason}")
    return key


def check_prefix(prefix: str) -> str:
    """`prefix`, or `ValueError`: it is empty, or a key followed by `/`."""
    if prefix:
        if not prefix.endswith("/"):
            raise ValueError(f"not a path prefix: {prefix[:80]!a} does not end in '/'")
        check_key(prefix[:-1])
    return prefix


def _refusal(key: str) -> str | None:
    if not key:
        return "is empty"
    if "\\" in key:
        return "holds a backslash"
    if not (key.isascii() and key.isprintable()) and any(
        unicodedata.category(sign) in {"Cc", "Cs"} for sign in key
    ):
        return "holds a control character or a lone surrogate"
    if len(key.encode()) > MAX_KEY_BYTES:
        return f"is longer than {MAX_KEY_BYTES} bytes"
    for part in key.split("/"):
        if part in {"", ".", ".."}:
            return "has an empty part, '.' or '..'"
        if len(part.encode()) > MAX_PART_BYTES:
            return f"has a part longer than {MAX_PART_BYTES} bytes"
    return None
