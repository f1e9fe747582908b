import io

import docx
import pytest
from docx.oxml import parse_xml

from tests.support.parsing import parse_bytes

_W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
WRAPPERS = ["ins", "moveTo", "smartTag", "customXml", "dir", "bdo", "sdt"]


def _wrapped(name: str, content: str):
    inner = f"<w:sdtContent>{content}</w:sdtContent>" if name == "sdt" else content
    return parse_xml(f"<w:{name} {_W}>{inner}</w:{name}>")


def _run(text: str) -> str:
    return f'<w:r><w:t xml:space="preserve">{text}</w:t></w:r>'


def _saved(document) -> bytes:
    out = io.BytesIO()
    document.save(out)
    return out.getvalue()


@pytest.mark.parametrize("name", WRAPPERS)
def test_text_in_a_wrapper_is_read_in_paragraphs_and_in_cells(name):
    document = docx.Document()
    document.add_paragraph("before ")._p.append(_wrapped(name, _run("inside ")))
    table = document.add_table(1, 2)
    table.cell(0, 0).text = "left"
    paragraph = table.cell(0, 1).paragraphs[0]._p
    paragraph.append(_wrapped("smartTag", "<w:smartTagPr/>"))
    paragraph[-1].append(_wrapped(name, _run("deep")))
    parsed = parse_bytes(_saved(document), "docx")
    assert parsed.texts("paragraph") == ["before inside"]
    assert [cell.text for cell in parsed.only("table").cells] == ["left", "deep"]


def test_what_was_deleted_or_moved_away_stays_out():
    document = docx.Document()
    paragraph = document.add_paragraph("kept")._p
    paragraph.append(_wrapped("moveFrom", _run(" moved")))
    paragraph.append(_wrapped("del", "<w:r><w:delText> gone</w:delText></w:r>"))
    assert parse_bytes(_saved(document), "docx").texts("paragraph") == ["kept"]


@pytest.mark.parametrize("inside", ["row", "cell"])
def test_rows_and_cells_in_a_field_belong_to_the_table(inside):
    document = docx.Document()
    table = document.add_table(2, 2)
    for at, text in enumerate(("a", "b", "c", "d")):
        table.cell(at // 2, at % 2).text = text
    element = table.rows[1]._tr if inside == "row" else table.cell(1, 1)._tc
    field = _wrapped("sdt", "")
    element.addprevious(field)
    field[0].append(element)
    parsed = parse_bytes(_saved(document), "docx")
    assert [(c.row, c.column, c.text) for c in parsed.only("table").cells] == [
        (0, 0, "a"), (0, 1, "b"), (1, 0, "c"), (1, 1, "d"),
    ]  # fmt: skip


@pytest.mark.parametrize("columns", [0, 1])
def test_a_table_has_as_many_columns_as_its_rows(columns):
    document = docx.Document()
    table = document.add_table(1, 3)
    for at, text in enumerate(("08:30", "Registration", "Lobby")):
        table.cell(0, at).text = text
    grid = table._tbl.tblGrid
    for column in list(grid)[columns:]:
        grid.remove(column)
    parsed = parse_bytes(_saved(document), "docx")
    assert [cell.text for cell in parsed.only("table").cells] == ["08:30", "Registration", "Lobby"]
