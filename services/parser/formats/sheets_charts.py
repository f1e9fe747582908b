"""Charts of an XLSX workbook as the tables that they draw (ECMA-376 part 1, 21.2).

Points come from the values that the chart keeps of its cells, each as its number format shows it.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from libs.contracts.artefacts.rows import TableCell
from services.parser.formats.rows import clean, one_line
from services.parser.formats.sheets_format import shown

MAX_POINTS = 20_000
MAX_SERIES = 255
MAX_CELLS = 50_000
_C = "{http://schemas.openxmlformats.org/drawingml/2006/chart}"
_A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_LABELS = ("cat", "xVal")
_NUMBERS = (f"{_C}numCache", f"{_C}numLit")
_VALUES = ("val", "yVal", "bubbleSize")


@dataclass
class Chart:
    """`title` as drawn, empty for none; `cells` a row a category, a column a series."""

    title: str
    cells: list[TableCell] = field(default_factory=list)


@dataclass
class _Series:
    name: str
    labels: dict[int, str]
    values: dict[int, str]


def chart_of(root: Any) -> Chart | None:
    """The chart of a chart part; None for one that keeps no points."""
    series = list(_series(root))
    if not series:
        return None
    title = root.find(f"{_C}chart/{_C}title")
    return Chart(_rich(title) if title is not None else "", _cells(series))


def _series(root: Any) -> Iterator[_Series]:
    for count, element in enumerate(root.iter(f"{_C}ser")):
        if count == MAX_SERIES:
            return
        name = next(iter(_points(element.find(f"{_C}tx")).values()), "")
        labels = _first(element, _LABELS)
        for kind in _VALUES:
            values = _points(element.find(f"{_C}{kind}"))
            if values:
                yield _Series(name if kind != "bubbleSize" else f"{name} (size)", labels, values)


def _first(element: Any, kinds: tuple[str, ...]) -> dict[int, str]:
    found = (_points(element.find(f"{_C}{kind}")) for kind in kinds)
    return next(filter(None, found), {})


def _points(element: Any) -> dict[int, str]:
    """The texts of a series' points by their number; of labels on several levels, all levels."""
    if element is None:
        return {}
    texts: dict[int, list[str]] = {}
    code = next((str(c.text or "") for c in element.iter(f"{_C}formatCode")), "General")
    numbers = {id(p) for tag in _NUMBERS for numeric in element.iter(tag) for p in numeric}
    for at, point in enumerate(element.iter(f"{_C}pt")):
        if at >= MAX_POINTS:
            break
        index, value = point.get("idx", ""), point.find(f"{_C}v")
        text = one_line(value.text or "") if value is not None else ""
        if index.isdecimal() and text:
            own = point.get("formatCode") or code
            text = _number(text, own) if id(point) in numbers else text
            texts.setdefault(int(index), []).insert(0, text)
    if not texts and (plain := element.find(f"{_C}v")) is not None:
        return {0: one_line(plain.text or "")}
    return {index: " · ".join(parts) for index, parts in texts.items()}


def _number(text: str, code: str) -> str:
    try:
        return shown(float(text), code)
    except (ValueError, OverflowError):
        return text


def _rich(element: Any) -> str:
    return clean(" ".join(filter(None, ("".join(t.text or "" for t in p.iter(f"{_A}t"))
                                        for p in element.iter(f"{_A}p")))))  # fmt: skip


def _cells(series: list[_Series]) -> list[TableCell]:
    """Series that share their labels stand side by side, behind a column of these."""
    made: list[TableCell] = []
    column, labels = -1, None
    for one in series:
        points = sorted(one.values)[: max(0, MAX_CELLS - len(made))]
        if one.labels != labels:
            column, labels = column + 1, one.labels
            made.append(TableCell(row=0, column=column, header=True))
            same = (other for other in series if other.labels == labels)
            for index in sorted({index for other in same for index in other.values})[:MAX_POINTS]:
                text = labels.get(index, str(index + 1))
                made.append(TableCell(row=index + 1, column=column, text=text))
        column += 1
        made.append(TableCell(row=0, column=column, text=one.name, header=True))
        made += [TableCell(row=i + 1, column=column, text=one.values[i]) for i in points]
    rows = {row: at for at, row in enumerate(sorted({c.row for c in made}))}
    closed = [c.model_copy(update={"row": rows[c.row]}) for c in made]
    return sorted(closed, key=lambda c: (c.row, c.column))
