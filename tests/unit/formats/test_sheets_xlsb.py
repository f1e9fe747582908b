import io
import struct
import zipfile

import pytest

from libs.contracts.faults import Code, DocumentFault
from tests.support.parsing import parse_bytes

_RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_A = "http://schemas.openxmlformats.org/drawingml/2006/main"


def _record(kind: int, body: bytes = b"") -> bytes:
    out = bytes([kind]) if kind < 128 else bytes([kind & 0x7F | 0x80, kind >> 7])
    size = len(body)
    while size > 0x7F:
        out += bytes([size & 0x7F | 0x80])
        size >>= 7
    return out + bytes([size]) + body


def _text(text: str) -> bytes:
    return struct.pack("<I", len(text)) + text.encode("utf-16-le")


def _cell(kind: int, column: int, value: bytes, style: int = 0) -> bytes:
    return _record(kind, struct.pack("<II", column, style) + value)


def _row(number: int, *, hidden: bool = False) -> bytes:
    return _record(0, struct.pack("<IIHBB", number, 0, 0, 0, 0x10 if hidden else 0) + bytes(5))


def _relations(*targets: tuple[str, str]) -> str:
    listed = "".join(
        f'<Relationship Id="rId{at}" Type="{_OFFICE}/{kind}" Target="{target}"/>'
        for at, (kind, target) in enumerate(targets, 1)
    )
    return f'<Relationships xmlns="{_RELATIONS}">{listed}</Relationships>'


def _named(name: str, relation: str, *, hidden: bool = False, before: bytes = b"") -> bytes:
    return _record(156, struct.pack("<II", int(hidden), 1) + before + _text(relation) + _text(name))


def _workbook(rows: bytes, parts: dict[str, bytes | str] | None = None, **sheet: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr(
            "xl/_rels/workbook.bin.rels",
            _relations(
                ("worksheet", "worksheets/sheet1.bin"),
                ("sharedStrings", "sharedStrings.bin"),
                ("styles", "styles.bin"),
            ),
        )
        archive.writestr("xl/workbook.bin", sheet.get("named") or _named("Prices", "rId1"))
        archive.writestr(
            "xl/sharedStrings.bin",
            b"".join(_record(19, b"\0" + _text(t)) for t in ("Item", "Price", "연필")),
        )
        archive.writestr(
            "xl/styles.bin",
            _record(44, struct.pack("<H", 164) + _text('0.00" EUR"'))
            + _record(626) + _record(47, struct.pack("<HH", 0, 9)) + _record(627)
            + _record(617)
            + b"".join(_record(47, struct.pack("<HH", 0, number)) for number in (0, 164, 14))
            + _record(618),
        )  # fmt: skip
        archive.writestr("xl/worksheets/sheet1.bin", rows)
        for name, content in (parts or {}).items():
            archive.writestr(name, content)
    return out.getvalue()


HEAD = _row(0) + _cell(7, 0, struct.pack("<I", 0)) + _cell(7, 1, struct.pack("<I", 1))


def test_cells_are_shown_with_their_formats():
    rows = (
        HEAD
        + _row(1) + _cell(7, 0, struct.pack("<I", 2)) + _cell(5, 1, struct.pack("<d", 1.5), 1)
        + _row(2) + _cell(62, 0, b"\1" + _text("pen")) + _cell(2, 1, struct.pack("<i", 1003))
        + _row(3) + _cell(8, 0, _text("sum") + bytes(8)) + _cell(9, 1, struct.pack("<d", 45292), 2)
        + _row(4) + _cell(3, 0, b"\x07") + _cell(4, 1, b"\1")
    )  # fmt: skip
    parsed = parse_bytes(_workbook(rows), "xlsx")
    assert parsed.engine == "xlsb"
    assert parsed.outline() == [(1, "Prices")]
    assert parsed.only("table").text == (
        "Item: 연필; Price: 1.50 EUR\nItem: pen; Price: 2.5\n"
        "Item: sum; Price: 2024-01-01\nItem: #DIV/0!; Price: TRUE"
    )


def test_a_fraction_in_four_bytes_is_read():
    rows = _row(0) + _cell(2, 0, struct.pack("<d", 3.5)[4:])
    assert parse_bytes(_workbook(rows), "xlsx").only("paragraph").text == "3.5"


def test_spans_hidden_parts_heads_and_comments_are_read():
    rows = (
        _record(60, struct.pack("<IIIIH", 2, 2, 0, 0, 1))
        + HEAD + _cell(6, 2, _text("secret"))
        + _row(1) + _cell(6, 0, _text("both"))
        + _row(2, hidden=True) + _cell(6, 0, _text("unseen")) + _cell(6, 1, _text("9"))
        + _record(176, struct.pack("<4I", 1, 1, 0, 1))
        + _record(479, bytes(2) + _text("&Lhead&Rright") + _text("&Cfoot") + b"\xff" * 16)
    )  # fmt: skip
    comment = _record(635, struct.pack("<5I", 0, 1, 1, 1, 1) + bytes(16))
    comment += _record(637, b"\0" + _text("a comment"))
    parsed = parse_bytes(
        _workbook(
            rows,
            {
                "xl/worksheets/_rels/sheet1.bin.rels": _relations(
                    ("comments", "../comments1.bin"), ("drawing", "../drawings/drawing1.xml")
                ),
                "xl/comments1.bin": comment,
                "xl/drawings/drawing1.xml": (
                    f'<x xmlns:a="{_A}"><a:p><a:r><a:t>in a box</a:t></a:r></a:p></x>'
                ),
                "xl/drawings/_rels/drawing1.xml.rels": _relations(
                    ("diagramData", "../diagrams/data1.xml")
                ),
                "xl/diagrams/data1.xml": (
                    f'<x xmlns:a="{_A}"><a:p><a:t>in a diagram</a:t></a:p></x>'
                ),
            },
        ),
        "xlsx",
    )
    assert parsed.texts("note") == ["B2: a comment"]
    assert parsed.texts("page_header") == ["head", "right"]
    assert parsed.texts("page_footer") == ["foot"]
    assert parsed.texts("paragraph") == ["in a box", "in a diagram"]
    shown = next(row for row in parsed.rows if row.kind == "table" and not row.hidden)
    assert [(c.text, c.column_span) for c in shown.cells] == [
        ("Item", 1), ("Price", 1), ("both", 2),
    ]  # fmt: skip
    hidden = " ".join(row.text for row in parsed.rows if row.hidden)
    assert "secret" in hidden
    assert "unseen" in hidden


def test_sheets_as_the_first_versions_named_them_are_found():
    named = _named("Old", "rId1", hidden=True, before=bytes(4))
    parsed = parse_bytes(_workbook(HEAD, named=named), "xlsx")
    assert [(row.text, row.hidden) for row in parsed.rows if row.kind == "heading"] == [
        ("Old", True)
    ]


def test_a_damaged_list_of_sheets_is_refused():
    with pytest.raises(DocumentFault) as caught:
        parse_bytes(_workbook(HEAD, named=_record(156, bytes(10))), "xlsx")
    assert caught.value.code == Code.UNREADABLE
