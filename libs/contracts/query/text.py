"""The text of a query, as callers may send it."""

import unicodedata
from typing import Annotated

from pydantic import AfterValidator, Field

MAX_QUERY_CHARS = 4096
_SPACES = "\t\n\r"


def query_text(text: str) -> str:
    """`text` itself; ValueError where it holds control characters or nothing that can be seen."""
    kinds = {unicodedata.category(c) for c in text if c not in _SPACES}
    if kinds & {"Cc", "Cs"} or not text.strip():
        raise ValueError("the query must hold printable text and no control characters")
    return text


QueryText = Annotated[
    str, Field(min_length=1, max_length=MAX_QUERY_CHARS), AfterValidator(query_text)
]
