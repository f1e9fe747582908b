"""Files of records (CSV, XLSX and other sheets, JSON lines): each good row one entry.

What is wrong with a row is a finding that names the row, never what stands in it.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from libs.contracts.artefacts.diagnostics import Finding
from libs.contracts.entries import MAX_ID, MAX_KEYWORDS, Entry, RecordRules, united
from libs.contracts.faults import Code, DocumentFault
from services.parser.formats.archives import opened
from services.parser.formats.base import AssetSink, ParseInput, ShardResult
from services.parser.formats.jsonl import flat_fields, numbered_records
from services.parser.formats.record_columns import COLUMNS, QUESTION, folded, stated_columns
from services.parser.formats.record_pictures import PictureRefused, checked, from_url
from services.parser.formats.review import entries_of, read_review
from services.parser.formats.rows import Rows, clean, one_line
from services.parser.formats.sheets_csv import read_csv
from services.parser.formats.sheets_ods import read_ods
from services.parser.formats.sheets_old import read_calamine
from services.parser.formats.sheets_tables import Sheet
from services.parser.formats.sheets_xlsb import is_xlsb, read_xlsb
from services.parser.formats.sheets_xlsx import NotReadable, read_xlsx

MAX_FINDINGS = 200
MAX_NAME = 300
MAX_TEXT = 8_000
MAX_FREE = 40
SHEETS = frozenset({"csv", "xlsx", "xls", "ods"})
JSON = frozenset({"jsonl", "fragments", "json"})
JSON_SUFFIXES = frozenset({"jsonl", "ndjson", "json"})
CSV_SUFFIXES = frozenset({"csv", "tsv", "tab"})
_NO = frozenset({"0", "n", "no", "false", "hidden", "아니오", "아니요", "숨김", "비노출", "미노출"})
_YES = frozenset({"1", "y", "yes", "true", "예", "네", "삭제"})
_SPLIT = re.compile(r"[,;|\n·]+")
_COUNT = re.compile(r"\d{1,12}(?:\.0+)?")


class _Refused(Exception):
    """A row that is no entry; the message says why, without its text."""


@dataclass(frozen=True)
class _Line:
    """A row of the file, counted from 1: its values by folded column, None where it is no
    record, whether it is hidden, and the picture that is anchored in it."""

    number: int
    record: dict[str, str] | None
    hidden: bool = False
    picture: bytes | None = None


def parse(given: ParseInput) -> ShardResult:
    """One row an entry; one without a name, such as a line of a keyword sheet, is for the entry
    that is published under its id. Pictures become assets; a row with a bad one is an entry
    without it, and a finding. Raises `DocumentFault`: `UNSUPPORTED` for a file that is no
    table, `UNREADABLE` where the rules refuse faulty rows, `NO_CONTENT` without a good one."""
    rules = given.profile.records or RecordRules()
    rows = Rows()
    if rules.review:
        review = read_review(given)
        for entry in entries_of(review, rules):
            rows.add("paragraph", entry.name or entry.id, entry=entry)
        if not rows.rows:
            raise DocumentFault(
                Code.NO_CONTENT,
                "the review has no sample questions: those that stand stay as they are"
                if rules.kind == "questions"
                else "the review names no entry",
            )
        result = rows.result("records")
        if rules.kind == "entries":
            result.findings.extend(review.findings)
        return result
    columns = stated_columns(rules)
    good: dict[tuple[str, str], Entry] = {}
    faults: list[Finding] = []
    left_out = 0
    for line in _records(given, rows):
        try:
            if line.record is None:
                raise _Refused("it is no JSON object")
            entry = _entry(line.record, columns, rules)
            key = (entry.id, entry.name if rules.kind == "questions" else "")
            if key in good and rules.duplicates == "refuse":
                raise _Refused("the id is in the file twice")
        except _Refused as reason:
            faults.append(_fault(line, "row_refused", str(reason)))
            continue
        said = line.record.get(columns.get("visible", ""), "")
        if rules.visible_only and not entry.deleted and (line.hidden or said.casefold() in _NO):
            left_out += 1
            continue
        if key in good and rules.duplicates == "first":
            continue
        if rules.kind == "entries" and not entry.deleted:
            try:
                image = _picture(line, line.record.get(columns.get("image", ""), ""), given.assets)
                entry = entry.model_copy(update={"image": image})
            except PictureRefused as reason:
                faults.append(_fault(line, "row_picture", str(reason)))
            if entry.image:
                given.progress(0)
        known = good.get(key) if rules.duplicates == "merge" else None
        good[key] = united(known, entry) if known else entry
    if faults and rules.on_error == "refuse":
        named = "; ".join(fault.detail for fault in faults[:5])
        raise DocumentFault(
            Code.UNREADABLE, f"{len(faults)} rows are faulty and none was taken: {named}"
        )
    if faults and not good:
        raise DocumentFault(Code.NO_CONTENT, f"no row is an entry: {faults[0].detail}")
    for entry in good.values():
        rows.add("paragraph", entry.name or entry.id, entry=entry, asset=entry.image or None)
    if left_out:
        rows.note("rows_not_visible", "rows that are not visible were left out", count=left_out)
    result = rows.result("records")
    result.findings.extend(faults[:MAX_FINDINGS])
    if (more := len(faults) - MAX_FINDINGS) > 0:
        rest = Finding(code="row_refused", detail="further rows", severity="warning", count=more)
        result.findings.append(rest)
    return result


def _fault(line: _Line, code: str, reason: str) -> Finding:
    return Finding(code=code, detail=f"row {line.number}: {reason}", severity="warning")


def _picture(line: _Line, value: str, assets: AssetSink) -> str:
    """The asset of the row's picture, that of its column before one that is anchored in it;
    empty without any."""
    if value.strip():
        return assets.add(*from_url(value.strip()), by_looks=False)
    if line.picture is None:
        return ""
    return assets.add(line.picture, checked(line.picture), by_looks=False)


def _entry(record: Mapping[str, str], columns: dict[str, str], rules: RecordRules) -> Entry:
    """The entry of a record whose keys are folded; fills `columns` as it meets their names."""
    for field, names in {**COLUMNS, "question": QUESTION}.items():
        if field not in columns:
            known = next((n for n in map(folded, names) if n in record), None)
            if known is not None:
                columns[field] = known

    def value(field: str) -> str:
        return record.get(columns.get(field, ""), "").strip()

    key = one_line(value("id"))
    if not key and "id" not in columns:
        raise _Refused("no column names its id: `id`, `code`, or one that `columns` states")
    if not key:
        raise _Refused("it has no id")
    if len(key) > MAX_ID:
        raise _Refused(f"its id is longer than {MAX_ID} characters")
    deleted = value("deleted").casefold() in _YES
    name = one_line(value("question" if rules.kind == "questions" else "name"))
    if not name and not deleted and (rules.kind == "questions" or rules.mode == "replace"):
        raise _Refused(f"it has no {'question' if rules.kind == 'questions' else 'name'}")
    count = value("search_count").replace(",", "")
    if count and not _COUNT.fullmatch(count):
        raise _Refused("its search_count is no whole number")
    taken = set(columns.values())
    free = [(k, v) for k, v in record.items() if k not in taken and v.strip()]
    words = [one_line(w)[:MAX_ID] for w in _SPLIT.split(value("keywords"))]
    return Entry(
        id=key,
        name=name[:MAX_NAME],
        path=one_line(value("path"))[:MAX_NAME],
        category=one_line(value("category"))[:MAX_ID],
        keywords=list(dict.fromkeys(w for w in words if w))[:MAX_KEYWORDS],
        search_count=int(count.split(".")[0]) if count else 0,
        text=clean(value("text"))[:MAX_TEXT],
        fields={k[:MAX_ID]: clean(v)[:MAX_TEXT] for k, v in free[:MAX_FREE]},
        deleted=deleted,
    )


def _format(given: ParseInput) -> str:
    """How the file is read: a text as its name says, whatever its first lines look like."""
    name = given.profile.format
    if given.profile.encoding is None or name in SHEETS:
        return name
    suffix = given.profile.file_name.rpartition(".")[2].casefold()
    if name in JSON or suffix in JSON_SUFFIXES:
        return "jsonl"
    return "csv" if suffix in CSV_SUFFIXES else name


def _records(given: ParseInput, rows: Rows) -> Iterator[_Line]:
    name = _format(given)
    if name in JSON:
        for number, record in numbered_records(given):
            if isinstance(record, dict):
                yield _Line(number, {folded(k): v for k, v in flat_fields(record)})
            else:
                yield _Line(number, None)
        return
    if name not in SHEETS:
        raise DocumentFault(
            Code.UNSUPPORTED,
            "entries are read from JSON lines, CSV and workbooks only",
        )
    for sheet in _sheets(given, rows, name):
        if not (sheet.hidden and (given.profile.records or RecordRules()).visible_only):
            yield from _of_sheet(sheet)
        given.progress(1)


def _sheets(given: ParseInput, rows: Rows, name: str) -> Iterator[Sheet]:
    if name == "csv":
        yield read_csv(given, rows)
        return
    if name == "xlsx":
        given = opened(given)
        if is_xlsb(given.path):
            yield from read_xlsb(given)
            return
        try:
            yield from list(read_xlsx(given))
        except NotReadable:
            pass
        else:
            return
    if name == "ods":
        yield from read_ods(opened(given))
        return
    yield from read_calamine(given.path)


def _of_sheet(sheet: Sheet) -> Iterator[_Line]:
    """The rows below the first filled one, which names the columns."""
    lines: dict[int, dict[int, str]] = {}
    for (row, column), text in sheet.cells.items():
        lines.setdefault(row, {})[column] = text
    if not lines:
        return
    first, *rest = sorted(lines)
    names = {column: folded(text) for column, text in lines[first].items()}
    for row in rest:
        values: dict[str, Any] = {
            names[column]: text for column, text in lines[row].items() if column in names
        }
        yield _Line(row + 1, values, row in sheet.hidden_rows, sheet.pictures.get(row))
