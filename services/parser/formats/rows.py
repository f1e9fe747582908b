"""The rows of one shard while they are made: order, clean text, tables, findings.

Conventions that every strategy keeps and the join and the chunker rely on:

* A heading's `text` is its whole title with its number; `marker` repeats the number alone.
* A list item's `text` stands without its marker; `marker` is the marker as shown.
* `\\n` inside a paragraph, list item or cell is a line break that the author set.
* An image row always has an `asset`; its `text` is the alternative text.
* A caption is a row of its own, and is repeated in the `caption` of its image or table.
"""

import re
import unicodedata
from collections.abc import Sequence
from typing import Any, Literal

from libs.contracts.artefacts.diagnostics import Finding
from libs.contracts.artefacts.rows import Row, RowKind, TableCell
from libs.contracts.faults import Code, DocumentFault
from services.parser.formats.base import ParseInput, ShardResult
from services.parser.formats.tables import table_html, table_text

MAX_LEVEL = 12
_CONTROL = re.compile(
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufeff\ufffe\uffff\xad\u200b]"
)
_BREAKS = re.compile(r"\r\n?|\u2028|\u2029|\x85")


def clean(text: str) -> str:
    """NFC, `\\n` for every line break, no control characters, soft hyphens or lone surrogates."""
    if text.isascii() and text.isprintable():
        return text.strip()
    text = _CONTROL.sub("", _BREAKS.sub("\n", text.replace("\x0b", "\n").replace("\xa0", " ")))
    return unicodedata.normalize("NFC", text).strip()


def one_line(text: str) -> str:
    """`clean`, every run of white space one space."""
    return " ".join(clean(text).split())


def read_text(given: ParseInput) -> str:
    """The source decoded as its profile says (UTF-8 where it does not), line breaks `\\n`.

    Bytes that do not fit become U+FFFD; an unknown encoding name counts as UTF-8.
    """
    data = given.path.read_bytes()
    try:
        text = data.decode(given.profile.encoding or "utf-8-sig", "replace")
    except LookupError:
        text = data.decode("utf-8-sig", "replace")
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


def _with_clean_text(cell: TableCell) -> TableCell:
    text = clean(cell.text)
    return cell if text == cell.text else cell.model_copy(update={"text": text})


class Rows:
    """Collects the rows and findings of a shard."""

    def __init__(self) -> None:
        self.rows: list[Row] = []
        self._findings: dict[tuple[str, int | None], Finding] = {}

    def add(self, kind: RowKind, text: str = "", **fields: Any) -> Row | None:
        """Append a row with clean text. Without text only an image or a table is a row."""
        text = clean(text)
        if not text and kind not in {"image", "table"}:
            return None
        row = Row(order=len(self.rows), kind=kind, text=text, **fields)
        self.rows.append(row)
        return row

    def heading(self, text: str, level: int, **fields: Any) -> Row | None:
        """Append a heading on one line; `level` is bounded to 1…12."""
        return self.add("heading", one_line(text), level=max(1, min(level, MAX_LEVEL)), **fields)

    def table(self, cells: Sequence[TableCell], **fields: Any) -> Row | None:
        """Append a table with its HTML and text rows; nothing when no cell has text."""
        if not any(c.text.strip() for c in cells):
            return None
        return self.add(
            "table",
            table_text(cells),
            html=clean(table_html(cells)),
            cells=[_with_clean_text(c) for c in cells],
            **fields,
        )

    def note(
        self,
        code: str,
        detail: str,
        *,
        severity: Literal["info", "warning"] = "info",
        page: int | None = None,
        count: int = 1,
    ) -> None:
        """Record a finding; the same code on the same page is counted, not repeated."""
        key = (code, page)
        known = self._findings.get(key)
        if known is None:
            self._findings[key] = Finding(
                code=code, detail=detail, severity=severity, page=page, count=count
            )
        else:
            self._findings[key] = known.model_copy(update={"count": known.count + count})

    def result(
        self, engine: str, versions: dict[str, str] | None = None, *, whole: bool = True
    ) -> ShardResult:
        """The shard's result; a `whole` file without any row is `DocumentFault(NO_CONTENT)`."""
        if whole and not self.rows:
            raise DocumentFault(
                Code.NO_CONTENT, "the file holds no text, table or image that could be read"
            )
        return ShardResult(
            rows=self.rows,
            findings=list(self._findings.values()),
            engine=engine,
            versions=versions or {},
        )
