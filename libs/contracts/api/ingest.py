"""What a caller says when a document is sent."""

from typing import Literal

from pydantic import Field

from libs.contracts.base import Request
from libs.contracts.tokens import Collection


class DocumentMetadata(Request):
    """Metadata by which documents are filtered and boosted; None means not stated."""

    year: int | None = Field(default=None, ge=0, le=9999)
    published_at: str | None = Field(default=None, max_length=40)
    country: str | None = Field(default=None, max_length=64)
    language: str | None = Field(default=None, max_length=16)
    domain: str | None = Field(default=None, max_length=128)
    document_type: str | None = Field(default=None, max_length=64)
    source_kind: Literal["document", "news"] | None = None
    tags: list[str] = Field(default_factory=list, max_length=64)


class IngestOptions(Request):
    """Options of one upload."""

    collection: Collection = "default"
    metadata: DocumentMetadata = Field(default_factory=DocumentMetadata)
    engine: str | None = Field(default=None, max_length=32)
    wait_for_dense: bool = False
