"""JSON lines: records as headed two-column tables, raw fragments as the rows they name."""

from collections.abc import Iterator
from typing import Any

import orjson

from libs.contracts.artefacts.rows import RowKind
from libs.contracts.faults import Code, DocumentFault
from services.parser.formats.base import ParseInput, ShardResult
from services.parser.formats.rows import MAX_LEVEL, Rows, one_line, read_text
from services.parser.formats.tables import plain_cells

NAMES = ("name", "title", "label", "heading", "subject", "id", "key", "이름", "제목", "명칭")
MAX_FIELDS = 200
MAX_DEPTH = 4
PROGRESS_LINES = 2_000
_KINDS: dict[str, RowKind] = {
    "text": "paragraph",
    "paragraph": "paragraph",
    "table": "table",
    "list": "list_item",
    "list_item": "list_item",
    "code": "code",
    "formula": "formula",
    "caption": "caption",
    "footnote": "footnote",
    "note": "note",
    "heading": "heading",
    "title": "heading",
}


def parse(given: ParseInput) -> ShardResult:
    """Rows of JSON lines (or of one JSON array): each record a heading and its fields."""
    rows = Rows()
    for count, record in enumerate(read_records(given, rows), 1):
        if isinstance(record, dict):
            named = next((k for k in NAMES if _is_name(record.get(k))), None)
            title = one_line(str(record[named])) if named else f"Record {count}"
            rows.heading(title, 1, evidence="markup" if named else "none")
            fields = list(flat_fields(record))[:MAX_FIELDS]
            if len(fields) > 1 or not named:
                cells = plain_cells([list(f) for f in fields], header_rows=0)
                rows.table([c.model_copy(update={"header": c.column == 0}) for c in cells])
        else:
            rows.add("paragraph", _shown(record))
    return rows.result("jsonl")


def parse_fragments(given: ParseInput) -> ShardResult:
    """Rows of raw fragments, lines of {type, content, path, page}.

    A fragment's path opens the headings that the one before did not have. Table content may
    be HTML; a fragment of an unknown type counts as text, with a finding.
    """
    from services.parser.formats.html import add_fragment

    rows = Rows()
    open_path: list[str] = []
    for record in read_records(given, rows):
        if not isinstance(record, dict):
            rows.note("fragment_refused", "lines that are no fragments were left out",
                      severity="warning")  # fmt: skip
            continue
        page = record.get("page")
        page = page if isinstance(page, int) and not isinstance(page, bool) and page > 0 else None
        path = [one_line(p) for p in _path(record.get("path")) if one_line(p)][:MAX_LEVEL]
        shared = 0
        while shared < min(len(path), len(open_path)) and path[shared] == open_path[shared]:
            shared += 1
        for level, title in enumerate(path[shared:], shared + 1):
            rows.heading(title, level, evidence="markup", page=page)
        open_path = path
        content = record.get("content")
        text = content if isinstance(content, str) else _shown(content)
        kind = _KINDS.get(str(record.get("type", "text")).lower())
        if kind is None:
            rows.note("fragment_type", "fragments of an unknown type were taken as text")
        if kind == "heading":
            rows.heading(text, min(len(path) + 1, MAX_LEVEL), evidence="markup", page=page)
        elif kind == "table" and "<t" in text.lower():
            before = len(rows.rows)
            add_fragment(rows, given.assets, text)
            rows.rows[before:] = [r.model_copy(update={"page": page}) for r in rows.rows[before:]]
        else:
            rows.add("paragraph" if kind in (None, "table") else kind, text, page=page)
    return rows.result("fragments")


class NoJson:
    """Stands for a line that is no JSON."""


def numbered_records(given: ParseInput) -> Iterator[tuple[int, Any]]:
    """Each record with its line from 1, of one JSON array with its place; `NoJson` for a line
    that is none."""
    text = read_text(given)
    if text.lstrip()[:1] == "[":
        try:
            whole = orjson.loads(text)
        except orjson.JSONDecodeError:
            whole = None
        if isinstance(whole, list):
            yield from enumerate(whole, 1)
            return
    for number, line in enumerate(text.split("\n"), 1):
        if number % PROGRESS_LINES == 1:
            given.progress(0)
        if not line.strip():
            continue
        try:
            yield number, orjson.loads(line)
        except orjson.JSONDecodeError:
            yield number, NoJson()


def read_records(given: ParseInput, rows: Rows) -> Iterator[Any]:
    """The records in order. Lines that are no JSON are a finding; none at all a fault."""
    good = bad = 0
    for _, record in numbered_records(given):
        if isinstance(record, NoJson):
            bad += 1
            continue
        good += 1
        yield record
    if bad and not good:
        raise DocumentFault(Code.UNREADABLE, "no line of the file is a JSON record")
    if bad:
        rows.note(
            "lines_left_out", "lines that are no JSON were left out", severity="warning", count=bad
        )


def _is_name(value: object) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool) and bool(str(value).strip())


def _path(value: object) -> list[str]:
    if isinstance(value, str):
        return value.split("/")
    return [str(v) for v in value] if isinstance(value, list) else []


def flat_fields(
    record: dict[str, Any], prefix: str = "", depth: int = 0
) -> Iterator[tuple[str, str]]:
    """Fields as (name, text); nested objects under dotted names."""
    for key, value in record.items():
        name = f"{prefix}{key}"
        if isinstance(value, dict) and depth < MAX_DEPTH:
            yield from flat_fields(value, f"{name}.", depth + 1)
            continue
        text = _shown(value)
        if text.strip():
            yield name, text


def _shown(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, list) and all(not isinstance(v, dict | list) for v in value):
        return ", ".join(_shown(v) for v in value)
    return orjson.dumps(value).decode()
