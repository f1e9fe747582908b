"""What every engine shares: a chunk's place as one number, and tokens cut to what fits."""

import re
from typing import NamedTuple

MAX_TOKEN_BYTES = 512
ORDER_BITS = 24
_SEPARATORS = re.compile("[ \t\n\r\f]+")


class Place(NamedTuple):
    """Where a chunk stands: its revision's number and its order there."""

    revn: int
    order: int


def to_number(revn: int, order: int) -> int:
    """A place as one number, which sorts as places do; `ValueError` when it is out of range."""
    if not (0 <= order < 1 << ORDER_BITS and 0 <= revn < 1 << (63 - ORDER_BITS)):
        raise ValueError(f"revision {revn}, order {order} is out of the index's range")
    return revn << ORDER_BITS | order


def to_place(number: int) -> Place:
    """The place that `to_number` made a number of."""
    return Place(number >> ORDER_BITS, number & ((1 << ORDER_BITS) - 1))


def index_tokens(tokens: list[str]) -> list[str]:
    """`tokens` as the content and path fields split them: cut at ASCII white space, without
    those that are too long to be indexed."""
    pieces = _SEPARATORS.split(encodable(" ".join(tokens)))
    return [p for p in pieces if 0 < len(p.encode()) < MAX_TOKEN_BYTES]


def encodable(text: str) -> str:
    """`text` without lone surrogates, which UTF-8 cannot hold."""
    return text.encode("utf-8", "replace").decode()
