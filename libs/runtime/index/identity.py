"""Chunk ids as columns of numbers, which are read many times faster than stored text.

A chunk id is a letter, a SHA-256 in hexadecimal, and `-k` for a repeat. The letter and k
are one number, the hash four of 64 bits. An id of another form gets the tag 0 and is read
from the stored document.
"""

import re
from collections.abc import Sequence

TAG = "id_tag"
HASH = ("id_0", "id_1", "id_2", "id_3")

_FORM = re.compile(r"([a-z])([0-9a-f]{64})(?:-([1-9][0-9]{0,8}))?")
_LETTER_BITS = 7


def to_columns(chunk_id: str) -> dict[str, int]:
    """The values of `TAG` and `HASH` for a chunk id."""
    match = _FORM.fullmatch(chunk_id)
    if match is None:
        return dict.fromkeys((TAG, *HASH), 0)
    letter, digest, repeat = match.groups()
    parts = [int(digest[start : start + 16], 16) for start in range(0, 64, 16)]
    tag = int(repeat or 0) << _LETTER_BITS | ord(letter)
    return {TAG: tag, **dict(zip(HASH, parts, strict=True))}


def from_columns(tag: int, parts: Sequence[int]) -> str | None:
    """The chunk id of such values; None for one that has another form."""
    if not tag:
        return None
    letter, repeat = chr(tag & ((1 << _LETTER_BITS) - 1)), tag >> _LETTER_BITS
    digest = "".join(map("{:016x}".format, parts))
    return f"{letter}{digest}-{repeat}" if repeat else f"{letter}{digest}"
