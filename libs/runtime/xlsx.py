"""Writing workbooks without a library: plain cells, bold heads, widths, hidden columns.

ECMA-376 with inline strings, which every spreadsheet program reads. Equal content gives equal
bytes. No cell is ever a formula.
"""

import io
import re
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from xml.sax.saxutils import escape, quoteattr

MAX_CELL = 32_000
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]")
_FORBIDDEN = re.compile(r"[\[\]:*?/\\\x00-\x1f]")
_HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_MAIN = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_KIND = "application/vnd.openxmlformats-officedocument.spreadsheetml"
_STYLES = (
    f"{_HEAD}<styleSheet {_MAIN}>"
    '<fonts count="2"><font><sz val="11"/><name val="Calibri"/></font>'
    '<font><b/><sz val="11"/><name val="Calibri"/></font></fonts>'
    '<fills count="3"><fill><patternFill patternType="none"/></fill>'
    '<fill><patternFill patternType="gray125"/></fill>'
    '<fill><patternFill patternType="solid"><fgColor rgb="FFDDE8F0"/></patternFill></fill></fills>'
    '<borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders>'
    '<cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs>'
    '<cellXfs count="2"><xf numFmtId="49" fontId="0" fillId="0" borderId="0" xfId="0"'
    ' applyNumberFormat="1" applyAlignment="1"><alignment vertical="top" wrapText="1"/></xf>'
    '<xf numFmtId="49" fontId="1" fillId="2" borderId="0" xfId="0" applyFont="1"'
    ' applyFill="1"/></cellXfs><cellStyles count="1"><cellStyle name="Normal" xfId="0"'
    ' builtinId="0"/></cellStyles></styleSheet>'
)


@dataclass(frozen=True)
class Table:
    """One sheet: its title, the heads of its columns, rows of text, widths in characters, and
    the columns (from 0) that are hidden."""

    title: str
    heads: Sequence[str]
    rows: Sequence[Sequence[str]]
    widths: Sequence[float] = ()
    hidden: frozenset[int] = field(default_factory=frozenset)


def workbook(tables: Sequence[Table]) -> bytes:
    """The workbook of these sheets, at least one; titles are made what a title may be, unique."""
    titles = unique_titles([table.title for table in tables])
    numbers = range(1, len(tables) + 1)
    parts: dict[str, str] = {
        "[Content_Types].xml": _types(numbers),
        "_rels/.rels": _relations({"rId1": (f"{_OFFICE}/officeDocument", "xl/workbook.xml")}),
        "xl/workbook.xml": _book(titles),
        "xl/_rels/workbook.xml.rels": _relations(
            {
                **{
                    f"rId{n}": (f"{_OFFICE}/worksheet", f"worksheets/sheet{n}.xml") for n in numbers
                },
                f"rId{len(tables) + 1}": (f"{_OFFICE}/styles", "styles.xml"),
            }
        ),
        "xl/styles.xml": _STYLES,
        **{f"xl/worksheets/sheet{n}.xml": _sheet(t) for n, t in zip(numbers, tables, strict=True)},
    }
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in parts.items():
            archive.writestr(zipfile.ZipInfo(name), text.encode("utf-8"), zipfile.ZIP_DEFLATED)
    return held.getvalue()


def unique_titles(titles: Sequence[str]) -> list[str]:
    """Titles that spreadsheets take: at most 31 characters, none of `[]:*?/\\`, none twice."""
    found: list[str] = []
    taken: set[str] = set()
    for title in titles:
        base = _FORBIDDEN.sub(" ", title).strip(" '") or "-"
        name, number = base[:31].strip(), 1
        while name.casefold() in taken:
            number += 1
            end = f" {number}"
            name = base[: 31 - len(end)].strip() + end
        taken.add(name.casefold())
        found.append(name)
    return found


def column_name(number: int) -> str:
    """`A` for 0, `AA` for 26."""
    name = ""
    number += 1
    while number:
        number, rest = divmod(number - 1, 26)
        name = chr(ord("A") + rest) + name
    return name


def _sheet(table: Table) -> str:
    widths = [*table.widths, *[20.0] * (len(table.heads) - len(table.widths))]
    columns = "".join(
        f'<col min="{n}" max="{n}" width="{width}" customWidth="1"'
        f' hidden="{int(n - 1 in table.hidden)}"/>'
        for n, width in enumerate(widths, 1)
    )
    lines = [_row(1, table.heads, 1)]
    lines += [_row(number, row, 0) for number, row in enumerate(table.rows, 2)]
    last = f"{column_name(len(table.heads) - 1)}{len(table.rows) + 1}"
    return (
        f'{_HEAD}<worksheet {_MAIN}><sheetViews><sheetView workbookViewId="0">'
        '<pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/>'
        f"</sheetView></sheetViews><cols>{columns}</cols><sheetData>{''.join(lines)}</sheetData>"
        f'<autoFilter ref="A1:{last}"/></worksheet>'
    )


def _row(number: int, values: Sequence[str], style: int) -> str:
    cells = "".join(
        f'<c r="{column_name(at)}{number}" s="{style}" t="inlineStr"><is>'
        f'<t xml:space="preserve">{escape(_CONTROL.sub("", value)[:MAX_CELL])}</t></is></c>'
        for at, value in enumerate(values)
        if value
    )
    return f'<row r="{number}">{cells}</row>'


def _book(titles: Sequence[str]) -> str:
    sheets = "".join(
        f'<sheet name={quoteattr(title)} sheetId="{n}" r:id="rId{n}"/>'
        for n, title in enumerate(titles, 1)
    )
    return f'{_HEAD}<workbook {_MAIN} xmlns:r="{_OFFICE}"><sheets>{sheets}</sheets></workbook>'


def _relations(relations: Mapping[str, tuple[str, str]]) -> str:
    inner = "".join(
        f'<Relationship Id="{key}" Type="{kind}" Target="{target}"/>'
        for key, (kind, target) in relations.items()
    )
    return f'{_HEAD}<Relationships xmlns="{_PACKAGE}/relationships">{inner}</Relationships>'


def _types(numbers: Sequence[int]) -> str:
    parts = {"/xl/workbook.xml": "sheet.main+xml", "/xl/styles.xml": "styles+xml"}
    parts |= {f"/xl/worksheets/sheet{n}.xml": "worksheet+xml" for n in numbers}
    inner = "".join(
        f'<Override PartName="{name}" ContentType="{_KIND}.{kind}"/>'
        for name, kind in parts.items()
    )
    return (
        f'{_HEAD}<Types xmlns="{_PACKAGE}/content-types">'
        '<Default Extension="rels"'
        ' ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Default Extension="xml" ContentType="application/xml"/>{inner}</Types>'
    )
