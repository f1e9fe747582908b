"""What a caller says when a document is sent."""

import re
from datetime import date, datetime
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, ValidationInfo

from libs.contracts.base import Request, is_stored
from libs.contracts.engines import Engine
from libs.contracts.entries import RecordRules
from libs.contracts.tokens import Collection, plain_text

_MOMENT = re.compile(
    r"(\d{4}-\d\d-\d\d)(?:[Tt ](\d\d:\d\d:\d\d)(?:\.\d{1,9})?(?:[Zz]|[+-]\d\d:[0-5]\d))?",
    re.ASCII,
)


def _stated_text(value: str, info: ValidationInfo) -> str:
    return value if is_stored(info) else plain_text(value)


def _stated_moment(value: str, info: ValidationInfo) -> str:
    """A `full-date` or a `date-time` of RFC 3339 that is in the calendar."""
    if is_stored(info):
        return value
    match = _MOMENT.fullmatch(value)
    try:
        if match is None:
            raise ValueError
        datetime.fromisoformat(f"{match[1]}T{match[2]}") if match[2] else date.fromisoformat(
            match[1]
        )
    except ValueError:
        raise ValueError(
            "give a date or a time with its offset, as 2024-05-06 or 2024-05-06T07:08:09Z"
        ) from None
    return value


Text = Annotated[str, AfterValidator(_stated_text)]
Moment = Annotated[str, AfterValidator(_stated_moment)]


class DocumentMetadata(Request):
    """Metadata by which documents are filtered and boosted; None means not stated.

    Texts hold no control characters; `published_at` is a date or date-time of RFC 3339.
    """

    year: int | None = Field(default=None, ge=0, le=9999)
    published_at: Moment | None = Field(default=None, max_length=40)
    country: Text | None = Field(default=None, max_length=64)
    language: Text | None = Field(default=None, max_length=16)
    domain: Text | None = Field(default=None, max_length=128)
    document_type: Text | None = Field(default=None, max_length=64)
    source_kind: Literal["document", "news"] | None = None
    tags: list[Text] = Field(default_factory=list, max_length=64)


class IngestOptions(Request):
    """Options of one upload; `records` says that the file holds records, and how they are read."""

    collection: Collection = "default"
    metadata: DocumentMetadata = Field(default_factory=DocumentMetadata)
    engine: Engine | None = Field(default=None, max_length=32)
    wait_for_dense: bool = False
    records: RecordRules | None = None


class Reprocess(Request):
    """How a document is made again: by another engine, or as before."""

    engine: Engine | None = Field(default=None, max_length=32)
