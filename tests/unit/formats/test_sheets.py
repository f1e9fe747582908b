import io
import zipfile
from datetime import date

import openpyxl
import pytest
import xlsxwriter
from PIL import Image

from libs.contracts.faults import Code, DocumentFault
from services.parser.formats import sheets_tables
from services.parser.formats.sheets_csv import sniff
from services.parser.formats.sheets_old import read_calamine, value_text
from services.parser.formats.sheets_tables import regions
from tests.support.fences import cpu_fence
from tests.support.odf import write_odf
from tests.support.parsing import parse_bytes


def _book(fill) -> bytes:
    out = io.BytesIO()
    with xlsxwriter.Workbook(out, {"in_memory": True}) as book:
        fill(book)
    return out.getvalue()


def test_cells_are_shown_with_their_formats():
    def fill(book):
        sheet = book.add_worksheet("Numbers")
        sheet.write_row(0, 0, ["Name", "Share", "Price", "Day"])
        sheet.write_string(1, 0, "fox")
        sheet.write_number(1, 1, 0.1234, book.add_format({"num_format": "0.0%"}))
        sheet.write_number(1, 2, 1234.5, book.add_format({"num_format": "#,##0.00"}))
        sheet.write_datetime(1, 3, date(2024, 3, 1), book.add_format({"num_format": "yyyy-mm-dd"}))
        sheet.write_formula(2, 1, "=1+1", None, 2)
        sheet.write_boolean(2, 2, True)

    parsed = parse_bytes(_book(fill), "xlsx")
    assert parsed.outline() == [(1, "Numbers")]
    assert parsed.only("table").text == (
        "Name: fox; Share: 12.3%; Price: 1,234.50; Day: 2024-03-01\nShare: 2; Price: TRUE"
    )


def test_merged_cells_become_spans_and_headers():
    def fill(book):
        sheet = book.add_worksheet("S")
        sheet.merge_range(0, 0, 1, 0, "Year")
        sheet.merge_range(0, 1, 0, 2, "Sales")
        sheet.write_row(1, 1, ["Home", "Abroad"])
        sheet.write_row(2, 0, [2023, 5, 7])
        sheet.merge_range(3, 0, 4, 0, "later")
        sheet.write_row(3, 1, [6, 8])
        sheet.write_row(4, 1, [7, 9])

    table = parse_bytes(_book(fill), "xlsx").only("table")
    assert table.html == (
        '<table><thead><tr><th rowspan="2">Year</th><th colspan="2">Sales</th></tr>'
        "<tr><th>Home</th><th>Abroad</th></tr></thead><tbody>"
        "<tr><td>2023</td><td>5</td><td>7</td></tr>"
        '<tr><td rowspan="2">later</td><td>6</td><td>8</td></tr><tr><td>7</td><td>9</td></tr>'
        "</tbody></table>"
    )
    assert "Year: later; Sales Home: 7" in table.text


def test_tables_of_one_sheet_are_parted_by_blank_rows_and_columns():
    def fill(book):
        sheet = book.add_worksheet("S")
        sheet.write(0, 0, "A title")
        sheet.write_row(2, 0, ["a", "b"])
        sheet.write_row(3, 0, [1, 2])
        sheet.write_row(2, 4, ["c", "d"])
        sheet.write_row(3, 4, [3, 4])
        sheet.write_row(7, 0, ["e", "f"])
        sheet.write_row(8, 0, [5, 6])

    parsed = parse_bytes(_book(fill), "xlsx")
    assert parsed.texts("paragraph") == ["A title"]
    assert parsed.texts("table") == ["a: 1; b: 2", "c: 3; d: 4", "e: 5; f: 6"]


def test_hidden_sheets_rows_and_columns_are_marked():
    def fill(book):
        sheet = book.add_worksheet("S")
        sheet.write_row(0, 0, ["k", "secret", "v"])
        sheet.write_row(1, 0, [1, 2, 3])
        sheet.write_row(2, 0, [4, 5, 6])
        sheet.set_column(1, 1, None, None, {"hidden": True})
        sheet.set_row(2, None, None, {"hidden": True})
        other = book.add_worksheet("Away")
        other.write(0, 0, "unseen")
        other.hide()

    parsed = parse_bytes(_book(fill), "xlsx")
    shown = " ".join(r.text for r in parsed.rows if not r.hidden)
    hidden = " ".join(r.text for r in parsed.rows if r.hidden)
    assert "secret" not in shown
    assert "k: 1; v: 3" in shown
    assert all(word in hidden for word in ("secret", "Away", "unseen", "4"))
    assert "hidden_text" in parsed.findings


def test_long_tables_repeat_their_header_and_wide_ones_their_labels():
    def fill(book):
        sheet = book.add_worksheet("Long")
        sheet.write_row(0, 0, ["n", "square"])
        for n in range(120):
            sheet.write_row(n + 1, 0, [n, n * n])
        wide = book.add_worksheet("Wide")
        wide.write_row(0, 0, ["item", *[f"c{n}" for n in range(100)]])
        wide.write_row(1, 0, ["fox", *range(100)])

    parsed = parse_bytes(_book(fill), "xlsx")
    tables = [r for r in parsed.rows if r.kind == "table"]
    long, wide = tables[:3], tables[3:]
    assert [t.text.count("\n") + 1 for t in long] == [50, 50, 20]
    assert all(t.html.startswith("<table><thead><tr><th>n</th>") for t in long)
    assert [max(c.column for c in t.cells) for t in wide] == [39, 39, 22]
    assert all(t.text.startswith("item: fox") for t in wide)
    assert "c99: 99" in wide[-1].text


def test_a_sheet_that_claims_billions_of_cells_is_fast():
    def fill(book):
        sheet = book.add_worksheet("S")
        sheet.write(0, 0, "first")
        sheet.write(1_048_575, 16_383, "last")

    with cpu_fence():
        parsed = parse_bytes(_book(fill), "xlsx")
    assert parsed.texts("paragraph") == ["first", "last"]


def test_pictures_text_boxes_comments_heads_and_feet():
    picture = io.BytesIO()
    Image.new("RGB", (9, 9), "green").save(picture, "PNG")

    def fill(book):
        sheet = book.add_worksheet("S")
        sheet.write(0, 0, "cell")
        sheet.write_comment(0, 0, "a remark")
        sheet.insert_image(3, 3, "x.png", {"image_data": picture})
        sheet.insert_textbox(6, 6, "in a box")
        sheet.set_header("&LTop left&CPage &P")
        sheet.set_footer("&RBottom")

    parsed = parse_bytes(_book(fill), "xlsx")
    assert parsed.only("image").media_type == "image/png"
    assert parsed.texts("paragraph") == ["cell", "in a box"]
    assert [n.endswith("a remark") for n in parsed.texts("note")] == [True]
    assert parsed.texts("page_header") == ["Top left", "Page"]
    assert parsed.texts("page_footer") == ["Bottom"]


def test_openpyxl_books_are_read_too():
    book = openpyxl.Workbook()
    book.active.append(["x", "y"])
    book.active.append([1, 2])
    out = io.BytesIO()
    book.save(out)
    assert parse_bytes(out.getvalue(), "xlsx").only("table").text == "x: 1; y: 2"


def test_too_many_cells_is_a_fault_with_a_way_out(monkeypatch):
    monkeypatch.setattr("services.parser.formats.sheets.MAX_CELLS", 10)
    monkeypatch.setattr("services.parser.formats.sheets_xlsx.MAX_CELLS", 10)

    def fill(book):
        sheet = book.add_worksheet("S")
        for n in range(20):
            sheet.write(n, 0, n)

    with pytest.raises(DocumentFault) as caught:
        parse_bytes(_book(fill), "xlsx")
    assert caught.value.code == Code.TOO_LARGE


@pytest.mark.parametrize("name", ["xlsx", "xls", "ods"])
def test_broken_books_are_document_faults(name):
    with pytest.raises(DocumentFault) as caught:
        parse_bytes(b"PK\x03\x04 nothing", name)
    assert caught.value.code == Code.UNREADABLE


def test_csv_with_quotes_and_blank_lines():
    parsed = parse_bytes(
        '이름;값;비고\n"가;나";1;"두 줄\n글"\n\n다;2;\n'.encode("cp949"), "csv", encoding="cp949"
    )
    assert parsed.only("table").text == "이름: 가;나; 값: 1; 비고: 두 줄 글\n이름: 다; 값: 2"
    assert parsed.outline() == []


@pytest.mark.parametrize(
    ("text", "delimiter"),
    [
        ("a,b,c\n1,2,3\n", ","),
        ("a;b\n1,5;2,5\n3,5;4,5\n", ";"),
        ("a\tb\n1, and\t2\n", "\t"),
        ("a|b|c\n1|2|3\n", "|"),
        ("only\nwords\n", ","),
    ],
)
def test_delimiters_are_found(text, delimiter):
    assert sniff(text) == delimiter


def test_a_field_that_never_ends_is_a_document_fault(monkeypatch):
    monkeypatch.setattr("services.parser.formats.sheets_csv.MAX_FIELD", 1000)
    with pytest.raises(DocumentFault) as caught:
        parse_bytes(b'a,"' + b"x" * 5000, "csv")
    assert caught.value.code == Code.UNREADABLE


def test_rows_past_the_limit_are_reported(monkeypatch):
    monkeypatch.setattr("services.parser.formats.sheets_csv.MAX_CELLS", 10)
    parsed = parse_bytes(b"a,b\n" + b"1,2\n" * 50, "csv")
    assert parsed.findings["rows_left_out"].severity == "warning"
    assert len(parsed.only("table").cells) == 10


def test_regions_of_sparse_cells():
    cells = {(0, 0): "t", (2, 0): "a", (3, 1): "b", (10, 5): "c", (11, 6): "d"}
    assert [sorted(g) for g in regions(cells, [])] == [
        [(0, 0)],
        [(2, 0), (3, 1)],
        [(10, 5), (11, 6)],
    ]
    assert regions({}, []) == []


def test_many_single_cells_are_parted_in_linear_time():
    many = [(3 * r, 3 * c) for r in range(200) for c in range(200)]
    with cpu_fence():
        assert len(regions(many, [])) == len(many)


def test_values_without_formats():
    from datetime import datetime, timedelta
    from datetime import time as clock

    assert value_text(3.0) == "3"
    assert value_text(datetime(2024, 3, 1)) == "2024-03-01"
    assert value_text(datetime(2024, 3, 1, 4, 5, 6)) == "2024-03-01 04:05:06"
    assert value_text(clock(4, 5)) == "04:05:00"
    assert value_text(timedelta(hours=30, minutes=1)) == "30:01:00"
    assert value_text(False) == "FALSE"
    assert sheets_tables.looks_numeric("$1,234.50")
    assert not sheets_tables.looks_numeric("v2")


def test_a_workbook_read_by_calamine_with_cells_far_apart_is_too_large(tmp_path):
    sheet = b'<worksheet><sheetData><row r="1"><c s="1" r="A1"/><c r="XFD1048576"/></row>'
    path = tmp_path / "far.xlsx"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("xl/worksheets/sheet1.xml", sheet)
    with pytest.raises(DocumentFault) as caught:
        list(read_calamine(path))
    assert caught.value.code is Code.TOO_LARGE
    assert "1048576 rows and 16384 columns" in caught.value.detail


def _sales(sheet):
    sheet.write_row(0, 0, ["Monat", "Umsatz", "Kosten"])
    for n, values in enumerate((("Mai", 1200, 0.25), ("Juni", 1350, 0.5)), 1):
        sheet.write_row(n, 0, values)


def test_a_chart_is_the_table_that_it_draws():
    out = io.BytesIO()
    book = xlsxwriter.Workbook(out)
    sheet = book.add_worksheet("Zahlen")
    _sales(sheet)
    chart = book.add_chart({"type": "column"})
    for column in (1, 2):
        place = ["Zahlen", 1, column, 2, column]
        name, labels = ["Zahlen", 0, column], ["Zahlen", 1, 0, 2, 0]
        chart.add_series({"name": name, "categories": labels, "values": place})
    chart.set_title({"name": "Umsatz und Kosten"})
    sheet.insert_chart("F2", chart)
    dots = book.add_chart({"type": "scatter"})
    dots.add_series({"categories": ["Zahlen", 1, 1, 2, 1], "values": ["Zahlen", 1, 2, 2, 2]})
    book.add_chartsheet("Bild").set_chart(dots)
    book.close()
    parsed = parse_bytes(out.getvalue(), "xlsx")
    _, drawn, alone = [row for row in parsed.rows if row.kind == "table"]
    assert drawn.caption == "Umsatz und Kosten"
    assert drawn.text == "Mai; Umsatz: 1200; Kosten: 0.25\nJuni; Umsatz: 1350; Kosten: 0.5"
    assert parsed.outline() == [(1, "Zahlen"), (1, "Bild")]
    assert [[c.text for c in alone.cells if c.row == row] for row in (1, 2)] == [
        ["1200", "0.25"],
        ["1350", "0.5"],
    ]


ODS_ROWS = """<table:table table:name="Liste">
<table:table-column table:number-columns-repeated="3"/>
<table:table-column table:visibility="collapse"/>
<table:table-row><table:table-cell office:value-type="string"><text:p>Posten</text:p>
</table:table-cell><table:table-cell office:value-type="string"><text:p>Betrag</text:p>
</table:table-cell></table:table-row>
<table:table-row><table:table-cell office:value-type="string"><text:p>Rohr</text:p>
</table:table-cell><table:table-cell office:value-type="currency" office:value="1234.5">
<office:annotation><text:p>netto</text:p></office:annotation>
<text:p>1.234,50<text:s/>€</text:p></table:table-cell><table:table-cell/>
<table:table-cell office:value-type="float" office:value="7"><text:p>7</text:p></table:table-cell>
</table:table-row>
<table:table-row table:number-rows-repeated="2"><table:table-cell office:value-type="string">
<text:p>Band</text:p></table:table-cell><table:table-cell office:value-type="percentage"
office:value="0.5"><text:p>50 %</text:p></table:table-cell></table:table-row>
</table:table>"""


def test_an_ods_shows_what_its_cells_show():
    body = f"<office:spreadsheet>{ODS_ROWS}</office:spreadsheet>"
    parsed = parse_bytes(write_odf(body, "spreadsheet"), "ods")
    shown = [row.text for row in parsed.rows if row.kind == "table" and not row.hidden]
    assert shown == ["Posten: Rohr; Betrag: 1.234,50 €" + "\nPosten: Band; Betrag: 50 %" * 2]
    assert [row.text for row in parsed.rows if row.hidden] == ["7"]
    assert parsed.texts("note") == ["B2: netto"]
    assert "number_formats" not in parsed.findings


def test_very_long_sheets_come_out_like_long_ones(monkeypatch):
    def fill(book):
        sheet = book.add_worksheet("Lang")
        sheet.write(0, 0, "Umsatz je Tag")
        sheet.write_row(1, 0, ["Tag", "Ort", "Summe"])
        for n in range(130):
            sheet.write_row(n + 2, 0, [f"Tag {n}", "Ulm", n])

    whole = parse_bytes(_book(fill), "xlsx")
    monkeypatch.setattr(sheets_tables, "LONG", 10)
    pieces = parse_bytes(_book(fill), "xlsx")
    assert pieces.rows == whole.rows
    assert len(pieces.texts("table")) == 3
