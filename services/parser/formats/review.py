"""The edited workbook of a review: what was struck through, emptied, added, corrected, wished.

Strike-through is a property of the cell's font or of runs of its text, in whatever program it
was made; an empty id is the id of the row above. What cannot be taken is a finding that names
the sheet's number and the row, never what stands there.
"""

import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from libs.contracts.artefacts.diagnostics import Finding
from libs.contracts.entries import MAX_ID, MAX_KEYWORDS, Entry, RecordRules, Review
from libs.contracts.faults import Code, DocumentFault
from libs.contracts.review import KEYWORDS_TITLE, ReviewColumn, column_of
from services.parser.formats.archives import opened
from services.parser.formats.base import ParseInput
from services.parser.formats.rows import clean, one_line

MAX_ROWS = 300_000
MAX_QUESTION = 300
MAX_FEEDBACK = 2_000
MAX_TITLE_ROWS = 20
"""So many rows may stand above the heads: programs and people put titles there."""
MAX_FINDINGS = 200
_ESCAPED = re.compile(r"_x([0-9A-Fa-f]{4})_")
"""A character that XML cannot hold, as ISO/IEC 29500-1, 22.9.2.19 writes it."""
_SPLIT = re.compile(r"[,;|\n·、]+")


@dataclass
class Reviewed:
    """What a workbook says of one entry."""

    name: str = ""
    kept: dict[str, None] = field(default_factory=dict)
    struck: dict[str, None] = field(default_factory=dict)
    keywords: dict[str, None] = field(default_factory=dict)
    feedback: dict[str, None] = field(default_factory=dict)


@dataclass
class Workbook:
    """What a workbook says, by id, and what of it could not be taken."""

    entries: dict[str, Reviewed] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)

    def note(self, sheet: int, row: int | None, reason: str) -> None:
        """Note what a sheet, or a row of it, both counted from 1, holds that is not taken."""
        place = f"sheet {sheet}" + (f", row {row}" if row is not None else "")
        if len(self.findings) < MAX_FINDINGS:
            detail = f"{place}: {reason}"
            self.findings.append(Finding(code="row_refused", detail=detail, severity="warning"))
        elif len(self.findings) == MAX_FINDINGS:
            more = Finding(code="row_refused", detail="further rows", severity="warning")
            self.findings.append(more)
        else:
            last = self.findings[-1]
            self.findings[-1] = last.model_copy(update={"count": last.count + 1})


def read_review(given: ParseInput) -> Workbook:
    """What the workbook says. Raises `DocumentFault`: `UNSUPPORTED` for what is no XLSX workbook,
    `UNREADABLE` for a damaged one or one without the columns of a review."""
    if given.profile.format != "xlsx":
        raise DocumentFault(Code.UNSUPPORTED, "a review is an XLSX workbook: save it as one")
    import openpyxl

    given = opened(given)
    try:
        load: Any = openpyxl.load_workbook  # type: ignore[attr-defined]
        book = load(given.path, rich_text=True, keep_links=False)
    except (KeyError, TypeError, ValueError, OSError, EOFError, zipfile.BadZipFile) as problem:
        raise DocumentFault(
            Code.UNREADABLE, "the workbook is damaged; open and save it again"
        ) from problem
    found = Workbook()
    sheets = [_sheet(sheet, number, found) for number, sheet in enumerate(book.worksheets, 1)]
    if not any(sheets):
        raise DocumentFault(
            Code.UNREADABLE, "no sheet has the columns of a review: export it and edit that file"
        )
    given.progress(1)
    return found


def entries_of(found: Workbook, rules: RecordRules) -> Iterator[Entry]:
    """As entries: keywords, feedback, questions added and struck. As sample questions: those
    that stand, and those that are to be taken away."""
    for key, one in found.entries.items():
        if rules.kind == "questions":
            yield from (Entry(id=key, name=question) for question in one.kept)
            gone = (question for question in one.struck if question not in one.kept)
            yield from (Entry(id=key, name=question, deleted=True) for question in gone)
            continue
        review = Review(
            feedback=" ".join(one.feedback)[:MAX_FEEDBACK],
            struck=[question for question in one.struck if question not in one.kept],
            added=list(one.kept),
        )
        words = list(one.keywords)[:MAX_KEYWORDS]
        yield Entry(id=key, name="", keywords=words, review=review)


def standing(cell: Any) -> tuple[str, bool]:
    """The text of a cell without what is struck through, and whether anything was. A run of text
    says for itself whether it is; one without properties of its own is as its cell."""
    value = cell.value
    if value is None:
        return "", False
    whole = bool(cell.font and cell.font.strike)
    if not isinstance(value, list):
        return ("", True) if whole else (_text(value), False)
    runs = [(str(run), _struck(run, whole)) for run in value]
    text = "".join(text for text, struck in runs if not struck)
    return _text(text), any(struck for text, struck in runs if text.strip())


def _struck(run: Any, whole: bool) -> bool:
    font = getattr(run, "font", None)
    return whole if font is None else bool(font.strike)


def _text(value: Any) -> str:
    """A value as people see it: whole numbers without a point, no escapes."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return clean(_ESCAPED.sub(lambda found: chr(int(found[1], 16)), str(value)))


@dataclass(frozen=True)
class _Heads:
    """Where the columns of a sheet are; `words` is that of keywords."""

    columns: dict[ReviewColumn, int]
    words: int | None

    @property
    def complete(self) -> bool:
        return "id" in self.columns and self.useful

    @property
    def useful(self) -> bool:
        return "question" in self.columns or self.words is not None


def _heads(row: Any) -> _Heads:
    titles = {at: one_line(_value(row, at)) for at in range(len(row))}
    columns: dict[ReviewColumn, int] = {}
    for at, title in titles.items():
        name = column_of(title)
        if name is not None:
            columns.setdefault(name, at)
    words = next((at for at, title in titles.items() if title.casefold() in KEYWORDS_TITLE), None)
    return _Heads(columns, words)


def _sheet(sheet: Any, number: int, found: Workbook) -> bool:
    """Read one sheet; False for one that is none of a review."""
    rows = enumerate(sheet.iter_rows(max_row=min(sheet.max_row, MAX_ROWS)), 1)
    heads, useful = None, False
    for _, row in zip(range(MAX_TITLE_ROWS), rows, strict=False):
        known = _heads(row[1])
        useful = useful or "question" in known.columns
        if known.complete:
            heads = known
            break
    if heads is None:
        if useful:
            found.note(number, None, "no column names the id of its questions: none was taken")
        return False
    above = ""
    for place, row in rows:
        key = one_line(_value(row, heads.columns["id"])) or above
        above = key
        if not key or len(key) > MAX_ID:
            if any(cell.value is not None for cell in row):
                found.note(number, place, "it has no id" if not key else "its id is too long")
            continue
        one = found.entries.setdefault(key, Reviewed())
        one.name = one.name or one_line(_value(row, heads.columns.get("name")))
        if heads.words is not None and heads.words < len(row):
            text, struck = standing(row[heads.words])
            one.keywords |= dict.fromkeys(w for part in _SPLIT.split(text) if (w := one_line(part)))
            if struck:
                found.note(number, place, "a review adds keywords: what is struck through stays")
        if "question" in heads.columns:
            _question(row, heads.columns, one)
            if len(_value(row, heads.columns["question"])) > MAX_QUESTION:
                found.note(number, place, f"its question is cut at {MAX_QUESTION} characters")
    return True


def _question(row: Any, columns: dict[ReviewColumn, int], one: Reviewed) -> None:
    at = columns["question"]
    cell = row[at] if at < len(row) else None
    text, struck = ("", False) if cell is None else standing(cell)
    text = one_line(text)[:MAX_QUESTION]
    original = one_line(_value(row, columns.get("original")))[:MAX_QUESTION]
    if text:
        one.kept.setdefault(text)
    whole = one_line(_value(row, at)) if struck else ""
    changed = original if text != original else ""
    for gone in (changed, whole if whole != text else ""):
        if gone:
            one.struck.setdefault(gone[:MAX_QUESTION])
    place = columns.get("feedback")
    if place is not None and place < len(row):
        wish = one_line(standing(row[place])[0])[:MAX_FEEDBACK]
        if wish:
            one.feedback.setdefault(wish)


def _value(row: Any, at: int | None) -> str:
    value = row[at].value if at is not None and at < len(row) else None
    return "" if value is None else _text(value)
