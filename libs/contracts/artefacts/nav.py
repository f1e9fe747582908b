"""`doc_nav.json`: the section tree by which agents walk a document."""

from typing import Literal

from libs.contracts.base import Contract


class NavResource(Contract):
    """An image or table that belongs to a section."""

    chunk_id: str
    type: Literal["image", "table"]
    title: str = ""
    file_path: str | None = None


class NavSection(Contract):
    """A node of the heading tree. `path` includes its own title; the root's is empty.

    `chunk_count` counts the chunks directly in the section, `total_chunk_count` those
    below as well.
    """

    section_id: str
    title: str
    path: list[str]
    level: int
    order: int
    summary: str = ""
    evidence: str | None = None
    page_numbers: list[int] = []
    chunk_ids: list[str] = []
    chunk_count: int = 0
    total_chunk_count: int = 0
    resources: list[NavResource] = []
    children: list["NavSection"] = []


class DocNav(Contract):
    """The file itself; `root` stands for the document."""

    schema_version: Literal[1] = 1
    document_id: str
    file_name: str
    title: str
    summary: str = ""
    root: NavSection
