"""The edited workbook of a review: what was struck through, emptied, added, corrected, wished.

Strike-through is a property of the cell's font or of runs of its text, in whatever program it
was made; an empty id is the id of the row above.
"""

import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from libs.contracts.entries import MAX_ID, MAX_KEYWORDS, Entry, RecordRules, Review
from libs.contracts.faults import Code, DocumentFault
from libs.contracts.review import KEYWORDS_TITLE, ReviewColumn, column_of
from services.parser.formats.archives import opened
from services.parser.formats.base import ParseInput
from services.parser.formats.rows import clean, one_line

MAX_ROWS = 300_000
MAX_QUESTION = 300
MAX_FEEDBACK = 2_000


@dataclass
class Reviewed:
    """What a workbook says of one entry."""

    name: str = ""
    kept: dict[str, None] = field(default_factory=dict)
    struck: dict[str, None] = field(default_factory=dict)
    keywords: dict[str, None] = field(default_factory=dict)
    feedback: str = ""


def read_review(given: ParseInput) -> dict[str, Reviewed]:
    """What the workbook says, by id. Raises `DocumentFault`: `UNSUPPORTED` for what is no XLSX
    workbook, `UNREADABLE` for a damaged one or one without the columns of a review."""
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
    found: dict[str, Reviewed] = {}
    sheets = [_sheet(sheet, found) for sheet in book.worksheets]
    if not any(sheets):
        raise DocumentFault(
            Code.UNREADABLE, "no sheet has the columns of a review: export it and edit that file"
        )
    given.progress(1)
    return found


def entries_of(found: dict[str, Reviewed], rules: RecordRules) -> Iterator[Entry]:
    """As entries: keywords, feedback, questions added and struck. As sample questions: those
    that stand, and those that are to be taken away."""
    for key, one in found.items():
        if rules.kind == "questions":
            yield from (Entry(id=key, name=question) for question in one.kept)
            gone = (question for question in one.struck if question not in one.kept)
            yield from (Entry(id=key, name=question, deleted=True) for question in gone)
            continue
        review = Review(
            feedback=one.feedback,
            struck=[question for question in one.struck if question not in one.kept],
            added=list(one.kept),
        )
        words = list(one.keywords)[:MAX_KEYWORDS]
        yield Entry(id=key, name="", keywords=words, review=review)


def standing(cell: Any) -> tuple[str, bool]:
    """The text of a cell without what is struck through, and whether anything was."""
    value = cell.value
    if value is None:
        return "", False
    if bool(cell.font and cell.font.strike):
        return "", True
    if not isinstance(value, list):
        return one_line(clean(str(value))), False
    runs = [(str(run), _struck(run)) for run in value]
    text = "".join(text for text, struck in runs if not struck)
    return one_line(clean(text)), any(struck for text, struck in runs if text.strip())


def _struck(run: Any) -> bool:
    font = getattr(run, "font", None)
    return bool(font is not None and font.strike)


def _sheet(sheet: Any, found: dict[str, Reviewed]) -> bool:
    """Read one sheet; False for one that is none of a review."""
    rows = sheet.iter_rows(max_row=min(sheet.max_row, MAX_ROWS))
    heads = next(rows, ())
    titles = {at: one_line(str(cell.value or "")) for at, cell in enumerate(heads)}
    columns: dict[ReviewColumn, int] = {}
    for at, title in titles.items():
        name = column_of(title)
        if name is not None:
            columns.setdefault(name, at)
    words = next((at for at, title in titles.items() if title.casefold() in KEYWORDS_TITLE), None)
    if "id" not in columns or ("question" not in columns and words is None):
        return False
    above = ""
    for row in rows:
        key = one_line(str(_value(row, columns.get("id")) or "")) or above
        above = key
        if not key or len(key) > MAX_ID:
            continue
        one = found.setdefault(key, Reviewed())
        one.name = one.name or one_line(str(_value(row, columns.get("name")) or ""))
        if words is not None and words < len(row):
            text, _ = standing(row[words])
            one.keywords |= dict.fromkeys(w for part in text.split(",") if (w := one_line(part)))
        if "question" in columns:
            _question(row, columns, one)
    return True


def _question(row: Any, columns: dict[ReviewColumn, int], one: Reviewed) -> None:
    at = columns["question"]
    cell = row[at] if at < len(row) else None
    text, struck = ("", False) if cell is None else standing(cell)
    text = text[:MAX_QUESTION]
    original = one_line(str(_value(row, columns.get("original")) or ""))[:MAX_QUESTION]
    if text:
        one.kept.setdefault(text)
    whole = one_line(str(cell.value or "")) if cell is not None and struck else ""
    changed = original if text != original else ""
    for gone in (changed, whole if whole != text else ""):
        if gone:
            one.struck.setdefault(gone[:MAX_QUESTION])
    place = columns.get("feedback")
    if place is not None and place < len(row) and not one.feedback:
        one.feedback = standing(row[place])[0][:MAX_FEEDBACK]


def _value(row: Any, at: int | None) -> Any:
    return row[at].value if at is not None and at < len(row) else None
