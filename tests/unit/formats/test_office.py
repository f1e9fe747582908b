import io
import zipfile

import pytest
from docx import Document
from docx.enum.style import WD_STYLE_TYPE
from docx.oxml import OxmlElement, parse_xml
from docx.oxml.ns import nsdecls, qn
from PIL import Image
from pptx import Presentation
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.util import Inches, Pt

from libs.contracts.faults import Code, DocumentFault
from services.parser.formats.office_numbers import korean_number
from tests.support.odf import write_odf
from tests.support.parsing import parse_bytes


def _picture(color: str = "red") -> io.BytesIO:
    out = io.BytesIO()
    Image.new("RGB", (20, 10), color).save(out, "PNG")
    out.seek(0)
    return out


def _saved(document) -> bytes:
    out = io.BytesIO()
    document.save(out)
    return out.getvalue()


def _numbered_style(document, name: str, level: int, pattern: str, form: str) -> None:
    """Give a heading style an automatic number."""
    numbering = document.part.numbering_part.element
    abstract = numbering.find(f"{qn('w:abstractNum')}[@{qn('w:abstractNumId')}='99']")
    if abstract is None:
        abstract = parse_xml(f'<w:abstractNum {nsdecls("w")} w:abstractNumId="99"/>')
        numbering.insert(0, abstract)
        numbering.append(
            parse_xml(f'<w:num {nsdecls("w")} w:numId="99"><w:abstractNumId w:val="99"/></w:num>')
        )
    abstract.append(
        parse_xml(
            f'<w:lvl {nsdecls("w")} w:ilvl="{level}"><w:start w:val="1"/>'
            f'<w:numFmt w:val="{form}"/><w:lvlText w:val="{pattern}"/></w:lvl>'
        )
    )
    properties = document.styles[name].element.get_or_add_pPr()
    properties.append(
        parse_xml(
            f'<w:numPr {nsdecls("w")}><w:ilvl w:val="{level}"/><w:numId w:val="99"/></w:numPr>'
        )
    )


def test_docx_in_source_order():
    document = Document()
    document.add_heading("Report", 0)
    document.add_heading("First", 1)
    document.add_paragraph("A paragraph with ").add_run("bold").bold = True
    table = document.add_table(3, 3)
    for r in range(3):
        for c in range(3):
            table.cell(r, c).text = f"{r}{c}"
    table.cell(0, 0).merge(table.cell(0, 1))
    table.cell(1, 2).merge(table.cell(2, 2))
    document.add_paragraph("item", style="List Bullet")
    document.add_paragraph("inner", style="List Bullet 2")
    document.add_heading("Second", 2)
    document.add_picture(_picture())
    document.add_paragraph("Figure 1. A red box", style="Caption")
    parsed = parse_bytes(_saved(document), "docx")
    assert parsed.kinds() == [
        "heading", "heading", "paragraph", "table", "list_item", "list_item", "heading", "image",
        "caption",
    ]  # fmt: skip
    assert parsed.outline() == [(1, "Report"), (2, "First"), (3, "Second")]
    assert parsed.texts("paragraph") == ["A paragraph with bold"]
    spans = {(c.row, c.column): (c.row_span, c.column_span) for c in parsed.only("table").cells}
    assert spans[(0, 0)] == (1, 2)
    assert spans[(1, 2)] == (2, 1)
    assert parsed.only("image").caption == "Figure 1. A red box"
    assert parsed.media_types[parsed.only("image").asset] == "image/png"


def test_docx_heading_numbers_are_written_as_their_pattern_says():
    document = Document()
    _numbered_style(document, "Heading 1", 0, "제%1장", "decimal")
    _numbered_style(document, "Heading 2", 1, "%1.%2", "decimal")
    _numbered_style(document, "Heading 3", 2, "%3.", "ganada")
    titles = ("총칙", "목적", "하나", "둘", "벌칙", "범위", "셋")
    for text, level in zip(titles, (1, 2, 3, 3, 1, 2, 3), strict=True):
        document.add_heading(text, level)
        document.add_paragraph("본문")
    parsed = parse_bytes(_saved(document), "docx")
    assert parsed.outline() == [
        (1, "제1장 총칙"),
        (2, "1.1 목적"),
        (3, "가. 하나"),
        (3, "나. 둘"),
        (1, "제2장 벌칙"),
        (2, "2.1 범위"),
        (3, "가. 셋"),
    ]
    assert [r.marker for r in parsed.rows if r.kind == "heading"][:2] == ["제1장", "1.1"]
    assert {r.evidence for r in parsed.rows if r.kind == "heading"} == {"style"}


@pytest.mark.parametrize(
    ("value", "form", "expected"),
    [
        (3, "ganada", "다"),
        (15, "ganada", "가"),
        (2, "chosung", "ㄴ"),
        (12, "koreanDigital", "일이"),
        (12, "koreanCounting", "십이"),
        (205, "koreanCounting", "이백오"),
        (10, "koreanDigital2", "一〇"),
        (1, "decimal", None),
    ],
)
def test_korean_numbers(value, form, expected):
    assert korean_number(value, form) == expected


def test_docx_outline_levels_contents_hidden_text_and_changes():
    document = Document()
    toc = document.styles.add_style("toc 1", WD_STYLE_TYPE.PARAGRAPH)
    document.add_paragraph("Chapter one ........ 3", style=toc)
    paragraph = document.add_paragraph("Chapter one")
    level = OxmlElement("w:outlineLvl")
    level.set(qn("w:val"), "1")
    paragraph._p.get_or_add_pPr().append(level)
    run = document.add_paragraph().add_run("not to be seen")
    run.font.hidden = True
    changed = document.add_paragraph("kept ")
    changed._p.append(
        parse_xml(
            f'<w:ins {nsdecls("w")} w:id="1" w:author="a"><w:r><w:t>inserted</w:t></w:r></w:ins>'
        )
    )
    changed._p.append(
        parse_xml(
            f'<w:del {nsdecls("w")} w:id="2" w:author="a"><w:r><w:delText>gone</w:delText></w:r>'
            "</w:del>"
        )
    )
    parsed = parse_bytes(_saved(document), "docx")
    assert parsed.texts("toc") == ["Chapter one ........ 3"]
    assert parsed.outline() == [(2, "Chapter one")]
    hidden = [r.text for r in parsed.rows if r.hidden]
    assert hidden == ["not to be seen"]
    assert "kept inserted" in parsed.texts("paragraph")
    assert "gone" not in " ".join(r.text for r in parsed.rows)


def test_docx_heads_feet_and_nested_tables():
    document = Document()
    document.add_paragraph("body")
    document.sections[0].header.paragraphs[0].text = "running head"
    document.sections[0].footer.paragraphs[0].text = "running foot"
    table = document.add_table(2, 1)
    table.cell(0, 0).text = "outer"
    inner = table.cell(1, 0).add_table(1, 2)
    inner.cell(0, 0).text, inner.cell(0, 1).text = "in1", "in2"
    parsed = parse_bytes(_saved(document), "docx")
    assert parsed.texts("page_header") == ["running head"]
    assert parsed.texts("page_footer") == ["running foot"]
    assert parsed.texts("table") == ["outer: in1 | in2", "in1 | in2"]
    assert "in1" in parsed.texts("table")[0]
    assert "in2" in parsed.texts("table")[0]


def test_docx_without_styles_gets_headings_by_numbers_and_bold():
    document = Document()
    for text in ("제1장 총칙", "제1조(목적)", "제2장 벌칙"):
        document.add_paragraph(text)
        document.add_paragraph("본문은 여기에 이렇게 이어진다.")
    document.add_paragraph().add_run("Bold title").bold = True
    parsed = parse_bytes(_saved(document), "docx")
    assert parsed.outline() == [
        (1, "제1장 총칙"),
        (2, "제1조(목적)"),
        (1, "제2장 벌칙"),
        (1, "Bold title"),
    ]
    assert parsed.rows[-1].evidence == "font"


def test_docx_automatic_chapter_numbers_without_styles_are_headings():
    document = Document()
    _numbered_style(document, "Body Text", 0, "제%1장", "decimal")
    _numbered_style(document, "Body Text 2", 1, "제%2조", "decimal")
    document.add_paragraph("총칙", style="Body Text")
    document.add_paragraph("목적", style="Body Text 2")
    document.add_paragraph("이 규정은 업무를 정한다.")
    document.add_paragraph("적용 범위", style="Body Text 2")
    parsed = parse_bytes(_saved(document), "docx")
    assert parsed.outline() == [(1, "제1장 총칙"), (2, "제1조 목적"), (2, "제2조 적용 범위")]


@pytest.mark.parametrize("size", [(30_000, 20_000), (8_000, 7_000)])
def test_a_docx_loses_a_bomb_among_its_pictures_and_nothing_else(size):
    bomb = io.BytesIO()
    Image.new("1", size).save(bomb, "PNG")
    bomb.seek(0)
    document = Document()
    document.add_heading("Report", 1)
    document.add_picture(_picture())
    document.add_picture(bomb)
    document.add_paragraph("After the bomb.")
    parsed = parse_bytes(_saved(document), "docx")
    assert parsed.kinds() == ["heading", "image", "paragraph"]
    found = parsed.findings["image_too_large"]
    assert (found.detail, found.severity) == (
        "pictures of over 50 million pixels were left out", "warning",
    )  # fmt: skip


def test_pptx_one_section_a_slide():
    deck = Presentation()
    first = deck.slides.add_slide(deck.slide_layouts[1])
    first.shapes.title.text = "Opening"
    body = first.placeholders[1].text_frame
    body.text = "point"
    body.add_paragraph().text = "sub point"
    body.paragraphs[1].level = 1
    first.notes_slide.notes_text_frame.text = "say this"
    second = deck.slides.add_slide(deck.slide_layouts[6])
    table = second.shapes.add_table(2, 2, Inches(1), Inches(1), Inches(4), Inches(1)).table
    for r in range(2):
        for c in range(2):
            table.cell(r, c).text = f"{r}{c}"
    table.cell(0, 0).merge(table.cell(0, 1))
    picture = second.shapes.add_picture(_picture("blue"), Inches(1), Inches(3))
    picture._element.nvPicPr.cNvPr.set("descr", "a blue box")
    data = CategoryChartData()
    data.categories = ["Jan", "Feb"]
    data.add_series("Sales", (5, 7))
    second.shapes.add_chart(
        XL_CHART_TYPE.COLUMN_CLUSTERED, Inches(5), Inches(1), Inches(3), Inches(3), data
    )
    third = deck.slides.add_slide(deck.slide_layouts[5])
    third.shapes.title.text = "Secret"
    third._element.set("show", "0")
    parsed = parse_bytes(_saved(deck), "pptx")
    assert parsed.outline() == [(1, "Opening"), (1, "Slide 2"), (1, "Secret")]
    assert [r.page for r in parsed.rows if r.kind == "heading"] == [1, 2, 3]
    items = [(r.text, r.level) for r in parsed.rows if r.kind == "list_item"]
    assert items == [("point", 1), ("sub point", 2)]
    assert parsed.texts("note") == ["say this"]
    tables = [r for r in parsed.rows if r.kind == "table"]
    assert any(c.column_span == 2 for c in tables[0].cells)
    assert "Jan; Sales: 5" in tables[1].text
    assert tables[0].boxes[0].bbox[:2] == pytest.approx((72, 72), abs=0.5)
    assert parsed.only("image").text == "a blue box"
    assert [r.hidden for r in parsed.rows if r.text == "Secret"] == [True]


def test_pptx_words_on_a_layout_are_kept_apart():
    deck = Presentation()
    deck.slide_layouts[6].shapes._spTree.append(parse_xml_shape("Property of the fox club"))
    slide = deck.slides.add_slide(deck.slide_layouts[6])
    box = slide.shapes.add_textbox(Inches(1), Inches(1), Inches(2), Inches(1))
    box.text_frame.text = "words"
    box.text_frame.paragraphs[0].font.size = Pt(12)
    parsed = parse_bytes(_saved(deck), "pptx")
    assert parsed.texts("page_header") == ["Property of the fox club"]
    assert parsed.texts("paragraph") == ["words"]


def parse_xml_shape(text: str):
    """A free text box, as a layout may hold one."""
    from pptx.oxml import parse_xml as parse_pptx

    spaces = (
        'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" '
        'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'
    )
    return parse_pptx(
        f'<p:sp {spaces}><p:nvSpPr><p:cNvPr id="77" name="t"/><p:cNvSpPr txBox="1"/><p:nvPr/>'
        f"</p:nvSpPr><p:spPr/><p:txBody><a:bodyPr/><a:p><a:r><a:t>{text}</a:t></a:r></a:p>"
        f"</p:txBody></p:sp>"
    )


def test_odt():
    parsed = parse_bytes(
        write_odf(
            "<office:text><text:h text:outline-level='1'>One</text:h><text:p>text</text:p>"
            "<text:h text:outline-level='2'>Two</text:h>"
            "<text:list><text:list-item><text:p>item</text:p></text:list-item></text:list>"
            "<table:table><table:table-row><table:table-cell table:number-columns-spanned='2'>"
            "<text:p>wide</text:p></table:table-cell><table:covered-table-cell/></table:table-row>"
            "<table:table-row><table:table-cell><text:p>a</text:p></table:table-cell>"
            "<table:table-cell><text:p>b</text:p></table:table-cell></table:table-row>"
            "</table:table></office:text>",
            "text",
        ),
        "odt",
    )
    assert parsed.outline() == [(1, "One"), (2, "Two")]
    assert parsed.texts("paragraph") == ["text"]
    assert parsed.texts("list_item") == ["item"]
    assert parsed.only("table").cells[0].column_span == 2


@pytest.mark.parametrize("name", ["docx", "pptx", "odt"])
def test_broken_and_protected_files_are_document_faults(name):
    with pytest.raises(DocumentFault) as caught:
        parse_bytes(b"PK\x03\x04 no archive at all", name)
    assert caught.value.code == Code.UNREADABLE
    with pytest.raises(DocumentFault) as caught:
        parse_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600, name)
    assert caught.value.code == Code.ENCRYPTED


def test_a_zip_bomb_is_refused():
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("word/document.xml", b"\0" * (80 << 20))
    with pytest.raises(DocumentFault) as caught:
        parse_bytes(out.getvalue(), "docx")
    assert caught.value.code == Code.HOSTILE


def test_an_archive_without_a_document_is_unreadable():
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("hello.txt", "hi")
    with pytest.raises(DocumentFault) as caught:
        parse_bytes(out.getvalue(), "docx")
    assert caught.value.code == Code.UNREADABLE


def test_xml_entities_are_not_expanded():
    document = Document()
    document.add_paragraph("text")
    source = io.BytesIO(_saved(document))
    out = io.BytesIO()
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(out, "w") as new:
        for member in old.infolist():
            data = old.read(member)
            if member.filename == "word/document.xml":
                bomb = b'<!DOCTYPE d [<!ENTITY a "xxxxxxxxxx"><!ENTITY b "&a;&a;&a;&a;">]>'
                data = data.replace(b"?>", b"?>" + bomb, 1).replace(b"text<", b"&b;<", 1)
            new.writestr(member, data)
    try:
        parsed = parse_bytes(out.getvalue(), "docx")
    except (DocumentFault, ValueError):
        return
    assert "xxxxxxxxxx" not in " ".join(r.text for r in parsed.rows)


def test_odp_one_section_a_slide():
    page = (
        "<draw:page draw:name='page1'><draw:frame presentation:class='title'><draw:text-box>"
        "<text:p>{0}</text:p></draw:text-box></draw:frame>"
        "<draw:frame presentation:class='outline'><draw:text-box><text:list><text:list-item>"
        "<text:p>{1}</text:p></text:list-item></text:list></draw:text-box></draw:frame></draw:page>"
    )
    slides = page.format("Opening", "point") + page.format("Closing", "thanks")
    parsed = parse_bytes(
        write_odf(f"<office:presentation>{slides}</office:presentation>", "presentation"), "odp"
    )
    assert [(r.page, r.text) for r in parsed.rows if r.kind == "heading"] == [
        (1, "Opening"),
        (2, "Closing"),
    ]
    assert [r.text for r in parsed.rows if r.kind != "heading"] == ["point", "thanks"]


def _box(words: str, *, ticked: bool):
    """A paragraph of a box to tick and words behind it."""
    return parse_xml(
        f'<w:p {nsdecls("w")} xmlns:w14="http://schemas.microsoft.com/office/word/2010/wordml">'
        f'<w:sdt><w:sdtPr><w14:checkbox><w14:checked w14:val="{int(ticked)}"/></w14:checkbox>'
        f"</w:sdtPr><w:sdtContent><w:r><w:t>{'☒' if ticked else '☐'}</w:t></w:r></w:sdtContent>"
        f'</w:sdt><w:r><w:t xml:space="preserve"> {words}</w:t></w:r></w:p>'
    )


def test_boxes_keep_their_ticks_in_the_text_and_in_cells():
    document = Document()
    document.add_paragraph("To do:")
    for element in (_box("done", ticked=True), _box("open", ticked=False)):
        document.element.body.append(element)
    cell = document.add_table(2, 1).cell(1, 0)._tc
    for element in (_box("tea", ticked=False), _box("coffee", ticked=True)):
        cell.append(element)
    parsed = parse_bytes(_saved(document), "docx")
    assert parsed.texts("paragraph") == ["To do:", "☑ done", "☐ open"]
    (filled,) = [c.text.split("\n") for c in parsed.only("table").cells if c.text]
    assert filled == ["☐ tea", "☑ coffee"]


def test_docx_bullets_keep_their_signs():
    document = Document()
    document.add_paragraph("between", style="List Bullet")
    (level,) = document.part.numbering_part.element.xpath(
        "w:abstractNum[w:lvl/w:pStyle/@w:val='ListBullet']/w:lvl[1]/w:lvlText"
    )
    for sign, shown in (("\uf0d8", "➢"), ("□", "□"), ("o", "○"), ("\uf8f0", "•")):
        level.set("{http://schemas.openxmlformats.org/wordprocessingml/2006/main}val", sign)
        assert parse_bytes(_saved(document), "docx").only("list_item").marker == shown
