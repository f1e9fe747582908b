"""`profile.json`: what one look at the whole file says, made once, followed by all."""

from typing import Literal

from libs.contracts.artefacts.diagnostics import Finding
from libs.contracts.base import Contract
from libs.contracts.entries import RECORD_FORMAT, RecordRules

Format = Literal[
    "pdf",
    "docx",
    "pptx",
    "xlsx",
    "csv",
    "md",
    "txt",
    "html",
    "image",
    "jsonl",
    "fragments",
    "eml",
    "odt",
    "ods",
    "odp",
    "rtf",
    "doc",
    "ppt",
    "xls",
    "hwp",
    "hwpx",
    "epub",
    "xml",
    "json",
    "ipynb",
    "mbox",
    "msg",
    "vtt",
    "rst",
    "adoc",
    "org",
    "tex",
]
Kind = Literal["standard", "scanned", "slides", "atlas", "entries"]


class OutlineEntry(Contract):
    """One entry of an embedded outline; `page` counts from 1 and is None where unknown."""

    level: int
    title: str
    page: int | None = None


class PageRange(Contract):
    """One shard: pages `first` to `last`, both included, from 1; 0–0 where there are no pages."""

    first: int
    last: int


class Profile(Contract):
    """Format by content, language (ISO 639-1 or `und`), page count (0 = not paged), shards.

    `kind` is how the document is read; `semantic_kind` what it is (`report`, `law`), in an open
    set of words, where a model named it. `findings` are for the document's diagnostics.
    """

    schema_version: Literal[1] = 1
    format: Format
    media_type: str
    file_name: str
    size: int
    sha256: str
    encoding: str | None = None
    language: str = "und"
    page_count: int = 0
    kind: Kind = "standard"
    semantic_kind: str | None = None
    outline: list[OutlineEntry] = []
    shards: list[PageRange] = [PageRange(first=0, last=0)]
    title: str | None = None
    metadata: dict[str, str] = {}
    inferred: dict[str, str | int] = {}
    records: RecordRules | None = None
    findings: list[Finding] = []

    @property
    def known_as(self) -> str:
        """The format by which filters know the document: that of records is `entries`."""
        return self.format if self.records is None else RECORD_FORMAT
