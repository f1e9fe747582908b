import ctypes
import io
import zipfile

import pytest
import xlsxwriter
from docx import Document
from pptx import Presentation
from pptx.util import Inches

from services.parser.formats import attached
from services.parser.formats.attached_find import unwrapped
from services.parser.formats.attached_kind import attached_format
from services.parser.formats.ole_write import write_ole
from tests.support.hwpx import text, write_hwpx
from tests.support.odf import write_odf
from tests.support.parsing import parse_bytes
from tests.support.pdfs import PdfPage, write_pdf
from tests.support.xls import label, workbook


def _docx(words: str) -> bytes:
    document = Document()
    document.add_heading("Kapitel", 1)
    document.add_paragraph(words)
    out = io.BytesIO()
    document.save(out)
    return out.getvalue()


def _xlsx() -> bytes:
    out = io.BytesIO()
    book = xlsxwriter.Workbook(out)
    book.add_worksheet("Blatt").write(0, 0, "Zelle")
    book.close()
    return out.getvalue()


def _mail(*files: tuple[str, bytes], inner: bytes | None = None) -> bytes:
    from email.message import EmailMessage
    from email.parser import BytesParser
    from email.policy import default

    message = EmailMessage()
    message["Subject"], message["From"] = "Anlagen", "a@example.org"
    message.set_content("siehe unten")
    for name, data in files:
        message.add_attachment(data, maintype="application", subtype="octet-stream", filename=name)
    if inner is not None:
        message.add_attachment(BytesParser(policy=default).parsebytes(inner))
    return message.as_bytes()


def _native(name: bytes, data: bytes) -> bytes:
    """A file packaged as an OLE object."""
    body = b"\x02\0" + name + b"\0" + b"C:\\x\0" + b"\0\0\x03\0" + (4).to_bytes(4, "little")
    stream = body + b"C:\\\0" + len(data).to_bytes(4, "little") + data
    return write_ole({("\x01Ole10Native",): len(stream).to_bytes(4, "little") + stream})


def test_what_a_mail_carries_is_read_below_its_name():
    parsed = parse_bytes(
        _mail(
            ("bericht.docx", _docx("Wörter")),
            ("목록.txt", "한글 본문".encode("cp949")),
            ("unlesbar.xyz", b"\0\1\2"),
        ),
        "eml",
    )
    assert parsed.outline() == [
        (1, "Anlagen"), (2, "bericht.docx"), (3, "Kapitel"), (2, "목록.txt"), (2, "unlesbar.xyz"),
    ]  # fmt: skip
    assert parsed.texts("paragraph") == ["siehe unten", "Wörter", "한글 본문"]
    assert [row.order for row in parsed.rows] == list(range(len(parsed.rows)))
    assert parsed.findings["attachments"].count == 1


def test_a_mail_inside_a_mail_keeps_its_text_below_its_own_heading():
    inner = _mail(("tabelle.xlsx", _xlsx()))
    parsed = parse_bytes(_mail(inner=inner), "eml")
    assert parsed.outline() == [
        (1, "Anlagen"), (2, "message.eml"), (3, "Anlagen"), (4, "tabelle.xlsx"), (5, "Blatt"),
    ]  # fmt: skip


def test_what_an_office_file_embeds_is_read():
    show = Presentation()
    slide = show.slides.add_slide(show.slide_layouts[6])
    for data, kind in ((_docx("eingebettet"), "Word.Document.12"), (_xlsx(), "Excel.Sheet.12")):
        slide.shapes.add_ole_object(io.BytesIO(data), kind, Inches(1), Inches(1))
    out = io.BytesIO()
    show.save(out)
    parsed = parse_bytes(out.getvalue(), "pptx", page_count=1)
    assert "eingebettet" in parsed.texts("paragraph")
    assert "Zelle" in parsed.texts("paragraph")
    names = [text for level, text in parsed.outline() if level == 1 and text != "Slide 1"]
    assert [n.rpartition(".")[2] for n in names] == ["docx", "xlsx"]


def test_the_workbook_behind_a_chart_is_no_attachment():
    from pptx.chart.data import CategoryChartData
    from pptx.enum.chart import XL_CHART_TYPE

    show = Presentation()
    slide = show.slides.add_slide(show.slide_layouts[6])
    data = CategoryChartData()
    data.categories = ["a"]
    data.add_series("s", (1,))
    corner = Inches(1)
    slide.shapes.add_chart(XL_CHART_TYPE.PIE, corner, corner, corner, corner, data)
    out = io.BytesIO()
    show.save(out)
    assert parse_bytes(out.getvalue(), "pptx", page_count=1).outline() == [(1, "Slide 1")]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (_native(b"notes.txt", b"hello"), ("notes.txt", b"hello")),
        (write_ole({("CONTENTS",): b"%PDF-1.4"}), ("o.bin", b"%PDF-1.4")),
        (write_ole({("\x01Ole10Native",): b"\0" * 9}), None),
        (b"plain", ("o.bin", b"plain")),
    ],
)
def test_files_wrapped_as_objects(data, expected):
    found = unwrapped("o.bin", data)
    assert (found.name, found.data) == (expected or ("o.bin", data))


def test_formats_are_told_by_content():
    assert attached_format("a.pdf", _docx("x")) == "docx"
    assert attached_format("a", write_hwpx(text("가"))) == "hwpx"
    assert attached_format("a", workbook([("S", 0, label(0, 0, "x"))], [])) == "xls"
    assert attached_format("a.txt", b"<!DOCTYPE html><p>x") == "html"
    assert attached_format("a.exe", b"MZ plain") is None
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("a.txt", "x")
    assert attached_format("a.zip", out.getvalue()) is None


def test_depth_and_number_are_bounded(monkeypatch):
    deep = _mail(("innen.txt", b"tief"))
    for _ in range(4):
        deep = _mail(inner=deep)
    parsed = parse_bytes(deep, "eml")
    assert "tief" not in parsed.texts("paragraph")
    assert "attachments" in parsed.findings
    monkeypatch.setattr(attached, "MAX_FILES", 2)
    many = parse_bytes(_mail(*((f"{i}.txt", b"x%d" % i) for i in range(4))), "eml")
    assert [text for _, text in many.outline()] == ["Anlagen", "0.txt", "1.txt"]
    assert "attachments_left_out" in many.findings


def test_a_damaged_attachment_leaves_the_mail_alone():
    broken = _docx("x")[:200]
    parsed = parse_bytes(_mail(("kaputt.docx", broken), ("gut.txt", b"gut")), "eml")
    assert parsed.texts("paragraph") == ["siehe unten", "gut"]


def _with_files(pdf: bytes, *files: tuple[str, bytes], pin: tuple[str, bytes] | None = None):
    """The PDF with files inside, and one pinned to its first page."""
    import pypdfium2
    from pypdfium2 import raw

    document = pypdfium2.PdfDocument(pdf)
    for name, data in files:
        document.new_attachment(name).set_data(data)
    if pin is not None:
        page = document[0]
        note = raw.FPDFPage_CreateAnnot(page, raw.FPDF_ANNOT_FILEATTACHMENT)
        name = (ctypes.c_ushort * (len(pin[0]) + 1))(*map(ord, pin[0]))
        file = raw.FPDFAnnot_AddFileAttachment(note, name)
        assert raw.FPDFAttachment_SetFile(file, document, pin[1], len(pin[1]))
        raw.FPDFPage_CloseAnnot(note)
    out = io.BytesIO()
    document.save(out)
    return out.getvalue()


def test_files_of_a_pdf_and_of_its_pages_are_read_after_its_last_page():
    page = PdfPage().text(72, 100, "Words on the page itself")
    data = _with_files(
        write_pdf(page, PdfPage().text(72, 100, "Words on the second page")),
        ("inner.pdf", write_pdf(PdfPage().text(72, 100, "Words of the PDF inside"))),
        ("werte.xlsx", _xlsx()),
        ("leer.bin", b""),
        pin=("notiz.txt", b"angeheftet\n"),
    )
    parsed = parse_bytes(data, "pdf", page_count=2)
    assert [(r.kind, r.text, r.level, r.page) for r in parsed.rows if r.kind != "note"] == [
        ("paragraph", "Words on the page itself", None, 1),
        ("paragraph", "Words on the second page", None, 2),
        ("heading", "notiz.txt", 1, None),
        ("paragraph", "angeheftet", None, None),
        ("heading", "inner.pdf", 1, None),
        ("paragraph", "Words of the PDF inside", None, None),
        ("heading", "leer.bin", 1, None),
        ("heading", "werte.xlsx", 1, None),
        ("heading", "Blatt", 2, None),
        ("paragraph", "Zelle", None, None),
    ]
    first = parse_bytes(data, "pdf", pages=(1, 1), page_count=2)
    assert [r.text for r in first.rows if r.kind != "note"] == ["Words on the page itself"]
    assert "upload them apart" in first.findings["attachments"].detail


def test_pdfs_inside_pdfs_are_read_to_the_depth_that_is_allowed():
    data = write_pdf(PdfPage().text(72, 100, "innermost"))
    for depth in range(attached.MAX_DEPTH + 1):
        data = _with_files(write_pdf(PdfPage().text(72, 100, f"around {depth}")), ("in.pdf", data))
    parsed = parse_bytes(data, "pdf")
    assert parsed.texts("paragraph") == ["around 2", "around 1", "around 0"]
    assert "attachments" in parsed.findings


SHEET = (
    "<office:spreadsheet><table:table table:name='Blatt'>"
    "<table:table-row><table:table-cell office:value-type='string'><text:p>Zelle</text:p>"
    "</table:table-cell></table:table-row></table:table></office:spreadsheet>"
)


def test_documents_inside_open_documents_are_read_below_their_names():
    inner = {
        "Object 1": ("spreadsheet", SHEET),
        "Object 2": ("text", "<office:text><text:p>innen</text:p></office:text>"),
        "Object 3": ("chart", "<office:chart/>"),
    }
    outer = "<office:text><text:h text:outline-level='1'>Kapitel</text:h></office:text>"
    parsed = parse_bytes(write_odf(outer, "text", objects=inner), "odt")
    assert parsed.outline() == [(1, "Kapitel"), (1, "Object 1"), (2, "Blatt"), (1, "Object 2")]
    assert parsed.texts("paragraph") == ["Zelle", "innen"]


def test_a_document_inside_a_workbook_is_read_after_its_sheets():
    inner = {"Object 1": ("text", "<office:text><text:p>innen</text:p></office:text>")}
    parsed = parse_bytes(write_odf(SHEET, "spreadsheet", objects=inner), "ods")
    assert parsed.outline() == [(1, "Blatt"), (1, "Object 1")]
    assert parsed.texts("paragraph") == ["Zelle", "innen"]


def test_a_note_on_a_page_names_who_wrote_it():
    import pypdfium2
    from pypdfium2 import raw

    document = pypdfium2.PdfDocument(write_pdf(PdfPage().text(72, 100, "Words on the page")))
    note = raw.FPDFPage_CreateAnnot(document[0], raw.FPDF_ANNOT_TEXT)
    for key, value in ((b"Contents", "check this"), (b"T", "Fuchs")):
        units = (ctypes.c_ushort * (len(value) + 1))(*map(ord, value))
        assert raw.FPDFAnnot_SetStringValue(note, key, units)
    raw.FPDFPage_CloseAnnot(note)
    out = io.BytesIO()
    document.save(out)
    assert parse_bytes(out.getvalue(), "pdf").texts("note") == ["[author: Fuchs]: check this"]


def test_a_hostile_archive_among_the_attachments_is_named_only():
    inside = io.BytesIO()
    with zipfile.ZipFile(inside, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.text")
        entity = '<?xml version="1.0"?><!DOCTYPE d [<!ENTITY a "spam">]><d>&a;</d>'
        archive.writestr("content.xml", entity)
    parsed = parse_bytes(_mail(("trap.odt", inside.getvalue())), "eml")
    assert "attachment_hostile" in parsed.findings
    assert "spam" not in " ".join(row.text for row in parsed.rows)


def test_a_text_that_speaks_of_a_pdf_stays_text():
    assert attached_format("note.txt", b"files begin with\n%PDF-1.4 and end\n") == "txt"


def test_an_endless_header_is_cut_and_the_mail_read():
    words = b"=?utf-8?B?4pyT?= " * 30_000
    mail = b"From: a@example.org\nSubject: " + words + b"\nTo: b@example.org\n\nBody text.\n"
    parsed = parse_bytes(mail, "eml")
    assert "Body text." in parsed.texts("paragraph")
    assert "b@example.org" in parsed.only("table").text
    assert parsed.findings["header_cut"].severity == "warning"
