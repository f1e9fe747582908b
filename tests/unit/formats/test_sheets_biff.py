import struct

import pytest

from libs.contracts.faults import Code, DocumentFault
from services.parser.formats.ole_write import write_ole
from tests.support.parsing import parse_bytes
from tests.support.xls import chart, label, number, record, text, text_object, workbook


def test_numbers_are_shown_with_their_formats():
    rk = struct.pack("<HHHI", 1, 1, 1, (250 << 2) | 2 | 1)
    many = struct.pack("<HHHIHIH", 2, 0, 2, (5 << 2) | 2, 3, (39208 << 2) | 2, 1)
    formula = struct.pack("<HHHdHIH", 3, 0, 2, -1599.994, 0, 0, 0)
    body = (
        label(0, 0, "Amount") + label(0, 1, "Share") + number(1, 0, 2, 1599.994)
        + record(0x27E, rk) + record(0xBD, many) + record(0x06, formula)
    )  # fmt: skip
    parsed = parse_bytes(
        workbook([("Sums", 0, body)], ["0.0%", '"$"#,##0.00_);("$"#,##0.00)'], (14,)), "xls"
    )
    table = parsed.only("table")
    assert [(c.row, c.column, c.text) for c in table.cells] == [
        (0, 0, "Amount"), (0, 1, "Share"), (1, 0, "$1,599.99"), (1, 1, "250.0%"),
        (2, 0, "$5.00"), (2, 1, "2007-05-06"), (3, 0, "($1,599.99)"),
    ]  # fmt: skip


def test_hidden_rows_and_columns_are_marked():
    row = struct.pack("<HHHHHHI", 1, 0, 3, 255, 0, 0, 0x20)
    column = struct.pack("<HHHHHH", 2, 2, 9, 0, 1, 0)
    cells = b"".join(number(r, c, 0, 10 * r + c) for r in range(3) for c in range(3))
    body = record(0x208, row) + record(0x7D, column) + cells
    parsed = parse_bytes(workbook([("S", 0, body)], []), "xls")
    shown = [r for r in parsed.rows if r.kind == "table" and not r.hidden]
    assert [c.text for c in shown[0].cells] == ["0", "1", "20", "21"]
    assert "hidden_text" in parsed.findings


def test_what_is_drawn_commented_and_printed():
    body = (
        record(0x14, text('&L&"Arial,Bold"Kopf&CPage &P&R&D'))
        + record(0x15, text("&C비밀 && offen"))
        + label(0, 0, "Wort")
        + text_object(1, 0x06, "텍스트 상자")
        + text_object(2, 0x19, "bitte prüfen")
        + record(0x1C, struct.pack("<HHHH", 4, 1, 0, 2) + text("who"))
        + chart("Umsatz", "Jahr")
    )
    parsed = parse_bytes(workbook([("S", 0, body), ("Kurve", 2, chart("Title")[20:-4])], []), "xls")
    assert parsed.texts("page_header") == ["Kopf", "Page"]
    assert parsed.texts("page_footer") == ["비밀 & offen"]
    assert parsed.texts("note") == ["B5: bitte prüfen"]
    assert parsed.texts("paragraph") == [
        "Wort",
        "텍스트 상자",
        "Chart: Umsatz; Jahr",
        "Chart: Title",
    ]
    assert parsed.outline() == [(1, "S"), (1, "Kurve")]


def test_records_that_lie_about_their_size_lose_only_themselves():
    broken = record(0x5D, b"\0") + record(0x7D, b"\1\0") + record(0x208) + record(0x1B6, b"\0")
    body = label(0, 0, "kept") + broken + record(0x3C) + text_object(1, 0x06, "box")
    parsed = parse_bytes(workbook([("S", 0, body)], []), "xls")
    assert parsed.texts("paragraph") == ["kept", "box"]


def test_a_date_in_the_style_of_the_reader_is_written_year_first_whatever_the_file_spells():
    whole = workbook([("S", 0, number(0, 0, 1, 39208))], [], (14,), {14: "m/d/yyyy"})
    assert parse_bytes(whole, "xls").texts("paragraph") == ["2007-05-06"]


def _foxes(rows: int) -> bytes:
    cells = b"".join(label(row, column, f"Fuchs {row}") for row in range(rows) for column in (0, 1))
    return workbook([("Blatt", 0, cells)], [])


@pytest.mark.parametrize("rows", [3, 60, 3000])
def test_workbooks_of_every_size_are_read(rows: int) -> None:
    cells = [cell for row in parse_bytes(_foxes(rows), "xls").rows for cell in row.cells]
    assert {cell.text for cell in cells} == {f"Fuchs {row}" for row in range(rows)}


def test_a_workbook_whose_sectors_run_in_circles_is_read_as_far_as_its_sizes_say() -> None:
    whole = _foxes(3000)
    table = struct.unpack("<1024I", whole[-4096:])
    circles = [at if entry == 0xFFFFFFFE else entry for at, entry in enumerate(table)]
    damaged = whole[:-4096] + struct.pack("<1024I", *circles)
    assert parse_bytes(damaged, "xls").rows == parse_bytes(whole, "xls").rows


def test_sheets_and_strings_announced_larger_than_the_file_take_no_memory() -> None:
    """Either announcement is of gigabytes, which ends the process where they are set aside."""
    dimensions = record(0x200, struct.pack("<IIHH2x", 0, 2**32 - 1, 0, 2**16 - 1))
    strings = record(0xFC, struct.pack("<II", 2**32 - 1, 2**31 - 1) + text("Fuchs"))
    cells = dimensions + strings + label(0, 0, "Fuchs") + label(1, 0, "Boot")
    parsed = parse_bytes(workbook([("Blatt", 0, cells)], []), "xls")
    assert parsed.texts("paragraph") == ["Fuchs", "Boot"]


def test_a_workbook_without_its_records_is_damaged() -> None:
    with pytest.raises(DocumentFault) as caught:
        parse_bytes(write_ole({("Other",): b"words"}), "xls")
    assert caught.value.code is Code.UNREADABLE


@pytest.mark.parametrize("left", [0, 1, 5])
def test_a_table_that_begins_further_right_keeps_each_value_once(left: int) -> None:
    cells = label(2, left, "Year") + label(2, left + 1, "Foxes")
    cells += number(3, left, 0, 2019) + number(3, left + 1, 0, 120)
    table = parse_bytes(workbook([("Blatt", 0, cells)], []), "xls").only("table")
    assert [(c.row, c.column, c.text) for c in table.cells] == [
        (0, 0, "Year"), (0, 1, "Foxes"), (1, 0, "2019"), (1, 1, "120"),
    ]  # fmt: skip


def test_merged_cells_lie_where_the_values_are() -> None:
    cells = label(0, 2, "red") + label(0, 3, "grey") + label(1, 2, "Foxes")
    cells += label(2, 2, "five") + label(2, 3, "six")
    cells += record(0xE5, struct.pack("<HHHHH", 1, 1, 1, 2, 3))
    table = parse_bytes(workbook([("Blatt", 0, cells)], []), "xls").only("table")
    spans = {cell.text: cell.column_span for cell in table.cells}
    assert spans == {"red": 1, "grey": 1, "Foxes": 2, "five": 1, "six": 1}
