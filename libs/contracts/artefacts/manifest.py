"""`manifest.json` (what this revision is made of) and `hierarchy.json` (its headings alone)."""

from typing import Literal

from libs.contracts.base import Contract


class HierarchyNode(Contract):
    """A heading and what lies below it."""

    title: str
    level: int
    children: list["HierarchyNode"] = []


class Hierarchy(Contract):
    """`hierarchy.json`."""

    schema_version: Literal[1] = 1
    title: str
    children: list[HierarchyNode] = []


class SourceInfo(Contract):
    """Where the revision came from."""

    file_name: str
    media_type: str
    format: str
    size: int
    sha256: str
    language: str
    page_count: int
    kind: str


class Statistics(Contract):
    """Counts over the revision; tokens are model tokens."""

    rows: int
    chunks: int
    text_chunks: int
    image_chunks: int
    table_chunks: int
    sections: int
    tokens: int
    characters: int


class Manifest(Contract):
    """`manifest.json`: source, statistics, engine and the nested hierarchy."""

    schema_version: Literal[1] = 1
    document_id: str
    revision: int
    source: SourceInfo
    statistics: Statistics
    engine: str
    versions: dict[str, str] = {}
    options: dict[str, str] = {}
    keywords: list[str] = []
    chunk_digest: str
    HIERARCHY: Hierarchy
