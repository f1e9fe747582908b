"""JSON of any kind: objects as sections, lists of like objects as tables, values by their names."""

from typing import Any

import orjson

from services.parser.formats.base import ParseInput, ShardResult
from services.parser.formats.rows import Rows, one_line, read_text
from services.parser.formats.tables import (
    ROWS_A_PIECE,
    plain_cells,
    record_tables,
    split_body,
)

MAX_DEPTH = 12
"""How deep objects are followed; deeper ones stay text as written."""
MAX_ITEMS = 20_000
"""Values and objects that become rows."""
LINE = 4_000
"""Characters of a piece of text that is no JSON after all."""


def parse(given: ParseInput) -> ShardResult:
    """Rows of a JSON text; what is no JSON after all stays as it is written."""
    rows = Rows()
    text = read_text(given)
    try:
        value = orjson.loads(text)
    except ValueError:
        rows.note("invalid_json", "the text is no valid JSON: it is kept as written",
                  severity="warning")  # fmt: skip
        for start in range(0, len(text), LINE):
            rows.add("code", text[start : start + LINE])
        return rows.result("json")
    _Walker(given, rows).value("", value, 1)
    if not rows.rows:
        rows.add("code", text)
    return rows.result("json")


class _Walker:
    def __init__(self, given: ParseInput, rows: Rows) -> None:
        self.given = given
        self.rows = rows

    def value(self, name: str, value: Any, level: int) -> None:
        """Rows of a value below a heading that names it."""
        if len(self.rows.rows) > MAX_ITEMS:
            self.rows.note("values_left_out", "values past the limit were left out",
                           severity="warning")  # fmt: skip
            return
        if isinstance(value, dict | list) and not value:
            return
        if level > MAX_DEPTH:
            self.rows.add("code", orjson.dumps(value).decode())
        elif isinstance(value, dict):
            self._object(name, value, level)
        elif isinstance(value, list):
            self._list(name, value, level)
        else:
            self.rows.add("paragraph", f"{name}: {shown(value)}" if name else shown(value))

    def _object(self, name: str, value: dict[str, Any], level: int) -> None:
        self._heading(name, level)
        plain = [[k, shown(v)] for k, v in value.items() if not isinstance(v, dict | list)]
        told = [pair for pair in plain if pair[1]]
        if len(told) > 1:
            cells = plain_cells(told, header_rows=0)
            for piece in split_body(cells, ROWS_A_PIECE):
                self.rows.table([c.model_copy(update={"header": c.column == 0}) for c in piece])
        else:
            for key, text in told:
                self.rows.add("paragraph", f"{key}: {text}")
        for key, inner in value.items():
            if isinstance(inner, dict | list):
                self.value(key, inner, level + bool(name))
        self.given.progress(0)

    def _list(self, name: str, values: list[Any], level: int) -> None:
        if all(not isinstance(v, dict | list) for v in values):
            self._scalars(name, values)
        elif all(isinstance(v, dict) and _is_flat(v) for v in values):
            self._heading(name, level)
            for piece in record_tables([{k: _cell(v) for k, v in one.items()} for one in values]):
                self.rows.table(piece)
        else:
            self._heading(name, level)
            for number, value in enumerate(values, 1):
                self.value(_title(value) or f"{name or 'item'} {number}", value, level + bool(name))

    def _scalars(self, name: str, values: list[Any]) -> None:
        """Short values on one line, texts as items of a list."""
        texts = [t for v in values if (t := shown(v))]
        if sum(map(len, texts)) <= 400:
            joined = ", ".join(texts)
            self.rows.add("paragraph", f"{name}: {joined}" if name and joined else joined)
            return
        if name:
            self.rows.add("paragraph", f"{name}:")
        for text in texts[:MAX_ITEMS]:
            self.rows.add("list_item", text, marker="•", level=1)

    def _heading(self, name: str, level: int) -> None:
        if name:
            self.rows.heading(name, level, evidence="markup")


def shown(value: Any) -> str:
    """A plain value as text; nothing for null."""
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _is_flat(value: dict[str, Any]) -> bool:
    """Whether an object holds plain values, or short lists of them."""
    return all(
        not isinstance(v, dict)
        and (not isinstance(v, list) or all(not isinstance(x, dict | list) for x in v))
        and len(str(v)) <= 1_000
        for v in value.values()
    )


def _cell(value: Any) -> str:
    return ", ".join(map(shown, value)) if isinstance(value, list) else shown(value)


def _title(value: Any) -> str:
    """The name that an object gives itself."""
    if not isinstance(value, dict):
        return ""
    names = ("name", "title", "label", "id", "이름", "제목", "명칭")
    texts = (value.get(k) for k in names)
    return next((one_line(str(t))[:200] for t in texts if isinstance(t, str | int) and t), "")
