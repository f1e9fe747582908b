"""Bytes that stand as base64 in a text."""

import base64


def from_base64(text: str) -> bytes | None:
    """The bytes of a base64 text (RFC 4648), white space in it left out; None for any other."""
    try:
        return base64.b64decode("".join(text.split()), validate=True)
    except ValueError:
        return None
