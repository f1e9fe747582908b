import io

import pytest

from libs.contracts.faults import Code, DocumentFault
from services.parser.formats import ocr
from services.parser.formats.pdf_hyphens import Compounds, join_lines
from services.parser.formats.pdf_page import Segment, plain_text
from tests.support.parsing import parse_bytes
from tests.support.pdfs import PdfPage, write_pdf

BODY = [
    "The quick brown fox jumps over the lazy dog and runs through the",
    "forest until it comes to a river that it cannot cross without help",
    "from somebody who has a boat and time to row.",
]


def _parse(*pages: PdfPage, **more):
    return parse_bytes(write_pdf(*pages), "pdf", **more)


def test_headings_paragraphs_and_lists_with_boxes():
    page = PdfPage()
    page.text(72, 80, "A study of foxes", 20, bold=True)
    page.lines(72, 120, BODY)
    page.text(72, 190, "1.2 Rivers and boats", 12, bold=True)
    page.lines(72, 215, BODY)
    page.text(72, 280, "• first thing").text(72, 294, "• second thing")
    page.text(84, 306, "goes on here")
    parsed = _parse(page)
    assert [t for _, t in parsed.outline()] == ["A study of foxes", "1.2 Rivers and boats"]
    title, numbered = (r for r in parsed.rows if r.kind == "heading")
    assert (title.evidence, title.bold, title.font_size) == ("font", True, 20)
    assert (numbered.evidence, numbered.marker) == ("numbering", "1.2")
    assert parsed.texts("paragraph") == [" ".join(BODY)] * 2
    assert parsed.texts("list_item") == ["first thing", "second thing goes on here"]
    x0, y0, x1, y1 = title.boxes[0].bbox
    assert title.page == 1
    assert x0 == pytest.approx(72, abs=2)
    assert y0 < 80 < y1 + 6
    assert 72 < x1 < 300


def test_two_columns_are_read_one_after_the_other():
    page = PdfPage()
    page.text(72, 60, "A title that goes over both of the columns of this page", 14)
    left = [f"left column line {i} of the text here" for i in range(20)]
    right = [f"right column line {i} of the text it" for i in range(20)]
    page.lines(72, 100, left).lines(310, 104, right)
    text = " ".join(r.text for r in _parse(page).rows)
    assert text.index("left column line 19") < text.index("right column line 0")
    assert text.index("both of the columns") < text.index("left column line 0")


def test_a_form_is_read_along_its_rows():
    page = PdfPage()
    labels = ["Name:", "Born:", "Town:", "Post:"]
    values = ["Ann Smith of Leeds", "1 May 1990", "Leeds", "head of reading"]
    page.lines(72, 100, labels).lines(200, 100, values)
    text = " ".join(r.text for r in _parse(page).rows)
    assert text.index("Ann Smith") < text.index("Born:")


def test_ruled_table_with_spans():
    xs, ys = [72.0, 172.0, 272.0, 372.0], [100.0, 120.0, 140.0, 160.0, 180.0]
    page = PdfPage().lines(72, 60, ["A line of text above the table."])
    for x in (xs[0], xs[1], xs[3]):
        page.rule(x, ys[0], x, ys[-1])
    page.rule(xs[2], ys[1], xs[2], ys[-1])
    for y in (ys[0], ys[1], ys[2], ys[4]):
        page.rule(xs[0], y, xs[3], y)
    page.rule(xs[1], ys[3], xs[3], ys[3])
    page.text(80, 114, "Year").text(180, 114, "Sales abroad and at home")
    page.text(180, 134, "Home").text(280, 134, "Abroad")
    page.text(80, 164, "2023")
    page.text(180, 154, "5").text(280, 154, "7").text(180, 174, "6").text(280, 174, "8")
    parsed = _parse(page)
    table = parsed.only("table")
    assert [(c.row, c.column, c.row_span, c.column_span, c.text) for c in table.cells] == [
        (0, 0, 1, 1, "Year"),
        (0, 1, 1, 2, "Sales abroad and at home"),
        (1, 0, 1, 1, ""),
        (1, 1, 1, 1, "Home"),
        (1, 2, 1, 1, "Abroad"),
        (2, 0, 2, 1, "2023"),
        (2, 1, 1, 1, "5"),
        (2, 2, 1, 1, "7"),
        (3, 1, 1, 1, "6"),
        (3, 2, 1, 1, "8"),
    ]
    assert "Sales abroad and at home Home: 5" in table.text
    assert table.boxes[0].bbox == pytest.approx((72, 100, 372, 180), abs=1)
    assert parsed.texts("paragraph") == ["A line of text above the table."]


def test_words_of_one_item_go_into_their_own_cells():
    page = PdfPage()
    page.grid([72, 110, 200, 300], [100, 120, 140])
    page.text(76, 114, "ab            cd").text(205, 114, "ef")
    page.text(76, 134, "1").text(120, 134, "2").text(205, 134, "3")
    cells = {(c.row, c.column): c.text for c in _parse(page).only("table").cells}
    assert cells[(0, 2)] == "ef"
    assert cells[(0, 0)] + cells[(0, 1)] == "abcd"


def test_a_frame_around_text_is_no_table():
    page = PdfPage().grid([60, 540], [60, 300]).lines(72, 80, BODY)
    assert _parse(page).kinds() == ["paragraph"]


def test_running_heads_and_page_numbers_are_kept_apart():
    pages = []
    for number in range(1, 6):
        page = PdfPage().text(72, 40, "Annual report of foxes").lines(72, 120, BODY)
        pages.append(page.text(500, 815, str(number)))
    parsed = _parse(*pages)
    assert parsed.texts("page_header") == ["Annual report of foxes"] * 5
    assert parsed.texts("page_footer") == ["1", "2", "3", "4", "5"]
    assert parsed.texts("paragraph") == [" ".join(BODY)] * 5


def test_a_shard_reads_its_pages_only_and_numbers_them_absolutely():
    pages = [PdfPage().text(72, 100, f"Text of page {n}") for n in range(1, 31)]
    parsed = _parse(*pages, pages=(27, 29), page_count=30)
    assert [(r.page, r.text) for r in parsed.rows] == [
        (n, f"Text of page {n}") for n in (27, 28, 29)
    ]
    assert len(_parse(*pages).rows) == 30


def test_images_are_assets_at_their_place_with_captions():
    page = PdfPage().lines(72, 80, BODY).picture(72, 130, 200, 100, (200, 30, 90))
    page.text(72, 250, "Figure 1. A red picture of a fox")
    page.lines(72, 300, BODY).picture(500, 20, 28, 28, (0, 0, 0))
    parsed = _parse(page)
    assert parsed.kinds() == ["paragraph", "image", "caption", "paragraph"]
    image = parsed.only("image")
    assert image.caption == "Figure 1. A red picture of a fox"
    assert image.boxes[0].bbox == pytest.approx((72, 130, 272, 230), abs=1)
    assert image.media_type in {"image/png", "image/jpeg"}
    assert parsed.findings["small_images"].count == 1


def test_white_and_outside_text_is_hidden():
    page = PdfPage().lines(72, 100, BODY)
    page.text(72, 300, "ignore all of this", gray=1.0).text(900, 300, "far away")
    parsed = _parse(page)
    hidden = [r.text for r in parsed.rows if r.hidden]
    assert len(hidden) == 1
    assert "ignore all of this" in hidden[0]
    assert parsed.findings["hidden_text"].severity == "warning"


@pytest.mark.parametrize("size", [0.1, 0.9])
def test_text_too_small_to_be_read_is_hidden(size):
    parsed = _parse(PdfPage().lines(72, 100, BODY).text(72, 300, "obey the small print", size))
    assert [r.text for r in parsed.rows if r.hidden] == ["obey the small print"]
    assert parsed.findings["hidden_text"].page == 1


def test_text_without_ink_is_hidden():
    page = PdfPage().lines(72, 100, BODY)
    page.operators.append("3 Tr")
    page.text(72, 300, "obey this as well")
    parsed = _parse(page)
    assert [r.text for r in parsed.rows if r.hidden] == ["obey this as well"]


def test_text_of_no_size_at_all_is_reported():
    page = PdfPage().lines(72, 100, BODY).text(72, 300, "obey the vanished", 0)
    parsed = _parse(page)
    assert "vanished" not in " ".join(row.text for row in parsed.rows)
    assert parsed.findings["hidden_text"].severity == "warning"
    assert "hidden_text" not in _parse(PdfPage().lines(72, 100, BODY)).findings


@pytest.mark.parametrize(
    ("matrix", "start", "step", "first"),
    [
        ("0 1 -1 0", (200, 200), (14, 0), (191, 510, 203, 642)),
        ("0 -1 1 0", (400, 700), (-14, 0), (398, 142, 410, 274)),
        ("-1 0 0 -1", (400, 400), (0, 14), (268, 440, 400, 452)),
    ],
)
def test_sideways_pages_are_read_upright_with_boxes_as_shown(matrix, start, step, first):
    page = PdfPage()
    for i in range(4):
        x, y = start[0] + step[0] * i, start[1] + step[1] * i
        page.operators.append(
            f"BT /F1 10 Tf {matrix} {x} {y} Tm (turned line number {i} of words) Tj ET"
        )
    page.operators.append("BT /F1 10 Tf 1 0 0 1 30 30 Tm (upright) Tj ET")
    parsed = _parse(page)
    row = next(r for r in parsed.rows if "turned" in r.text)
    assert row.text == " ".join(f"turned line number {i} of words" for i in range(4))
    x0, y0, x1, y1 = row.boxes[0].bbox
    assert x0 <= first[0] + 2
    assert x1 >= first[2] - 2
    assert y0 <= first[1] + 2
    assert y1 >= first[3] - 2
    assert (x1 - x0) * (y1 - y0) < 10_000


def test_a_blank_page_inside_a_document_is_no_fault():
    pages = [PdfPage().text(72, 100, "Words on the first page"), PdfPage(), PdfPage()]
    assert parse_bytes(write_pdf(*pages), "pdf", pages=(2, 3), page_count=3).rows == []


def test_contents_lines_are_no_headings():
    page = PdfPage().text(72, 80, "Contents", 16, bold=True)
    for i, title in enumerate(["Introduction", "Methods", "Results"]):
        page.text(72, 110 + 14 * i, f"{i + 1}. {title} . . . . . . . . . . . . . . . {i + 3}")
    parsed = _parse(page)
    assert parsed.outline() == [(1, "Contents")]
    assert len(parsed.texts("toc")) == 3


def test_broken_words_and_ligatures_are_made_whole():
    assert join_lines(["the effi-", "cient way of Sino-", "Japanese"]) == (
        "the efficient way of Sino-Japanese"
    )
    assert join_lines(["日本", "語です"]) == "日本語です"
    assert join_lines(["한국", "정부"]) == "한국 정부"
    assert join_lines(["and/", "or", "-- so"]) == "and/or -- so"
    assert plain_text("eﬃcient ﬂows of ﬁre") == "efficient flows of fire"


def test_hyphens_of_words_stay_where_the_text_spells_them_within_lines():
    compounds = Compounds(["a well-kept, State-of-the-art co-op of", "the coop and its e-mail-"])
    assert join_lines(["no well-", "kept one"], compounds) == "no well-kept one"
    assert join_lines(["state-of-the-", "art things"], compounds) == "state-of-the-art things"
    assert join_lines(["the co-", "op here"], compounds) == "the coop here"
    assert join_lines(["in govern-", "ment"], compounds) == "in government"
    assert join_lines(["x-well-", "kept"], compounds) == "x-wellkept"


def test_a_compound_at_the_end_of_a_line_is_told_from_a_broken_word():
    page = PdfPage().lines(72, 80, [
        "The fox comes to a well-kept garden, where it finds an exam\xad",
        "ple of what it was looking for all of the day, which is a well-",
        "kept hedge that nobody has cut in the whole history of the govern-",
        "ment of the town.",
    ])  # fmt: skip
    assert _parse(page).texts("paragraph") == [
        "The fox comes to a well-kept garden, where it finds an example of what it was looking for "
        "all of the day, which is a well-kept hedge that nobody has cut in the whole history of "
        "the government of the town."
    ]


def test_footnotes_are_kept_apart_from_a_paragraph_that_runs_over_the_page():
    first = PdfPage().lines(72, 80, BODY).lines(72, 700, BODY[:2])
    first.lines(72, 740, ["1 See the report of the committee, which tells all of the things that",
                          "are known of foxes."], 8)  # fmt: skip
    first.text(
        72, 759.2, "2 The river is the longer one of all the rivers that are known to it,", 8
    )
    first.text(
        72, 768.8, "and is the deeper one as well, as far as anybody who is here can tell/", 8
    )
    first.text(72, 778.4, "3 It was built by the town.", 8).text(72, 792, "6 7 8", 8)
    parsed = _parse(first, PdfPage().lines(72, 80, BODY[2:]))
    assert parsed.texts("footnote") == [
        "1 See the report of the committee, which tells all of the things that are known of foxes.",
        "2 The river is the longer one of all the rivers that are known to it, and is the deeper "
        "one as well, as far as anybody who is here can tell/",
        "3 It was built by the town.",
    ]
    assert parsed.texts("paragraph") == [" ".join(BODY), " ".join(BODY[:2]), "6 7 8", BODY[2]]


def test_encrypted_and_broken_files_are_document_faults(tmp_path):
    with pytest.raises(DocumentFault) as caught:
        parse_bytes(b"%PDF-1.7\nnothing here", "pdf")
    assert caught.value.code == Code.UNREADABLE
    with pytest.raises(DocumentFault) as caught:
        parse_bytes(b"", "pdf")
    assert caught.value.code == Code.UNREADABLE


def test_a_blank_page_is_no_content():
    with pytest.raises(DocumentFault) as caught:
        _parse(PdfPage())
    assert caught.value.code == Code.NO_CONTENT


@pytest.fixture
def scan() -> bytes:
    """A page that is one picture."""
    from PIL import Image, ImageDraw

    picture = Image.new("RGB", (600, 200), "white")
    ImageDraw.Draw(picture).text((30, 60), "Scanned words", fill="black", font_size=48)
    out = io.BytesIO()
    picture.save(out, "PDF", resolution=72.0)
    return out.getvalue()


def test_a_scan_is_read_by_ocr_with_boxes_in_points(scan, monkeypatch):
    def read(self, image, number=None):
        ratio = image.width / 600
        return [Segment(30 * ratio, 60 * ratio, 370 * ratio, 110 * ratio, "Scanned words", 36)]

    monkeypatch.setattr(ocr.Reader, "read", read)
    parsed = parse_bytes(scan, "pdf")
    assert parsed.kinds()[0] == "image"
    row = parsed.rows[1]
    assert row.text == "Scanned words"
    assert row.boxes[0].bbox == pytest.approx((30, 60, 370, 110), abs=1)


def test_text_of_a_page_that_ocr_cannot_read_is_kept(monkeypatch):
    monkeypatch.setattr(ocr.Reader, "read", lambda self, image, number=None: [])
    page = PdfPage().text(72, 100, "2024").picture(72, 130, 200, 100, (200, 30, 90))
    assert parse_bytes(write_pdf(page), "pdf").texts("paragraph") == ["2024"]


@pytest.mark.parametrize("where", ["_render", "_load_rapidocr"])
@pytest.mark.parametrize("problem", [MemoryError(), ValueError("secret"), ZeroDivisionError()])
def test_a_page_that_ocr_fails_on_keeps_its_text_and_says_so(monkeypatch, where, problem):
    def fail(*args):
        raise problem

    monkeypatch.setattr(ocr, where, fail)
    page = PdfPage().text(72, 100, "2024").picture(72, 130, 200, 100, (200, 30, 90))
    parsed = _parse(page, PdfPage().lines(72, 100, BODY))
    assert parsed.texts("paragraph")[0] == "2024"
    assert "quick brown" in parsed.texts("paragraph")[1]
    found = parsed.findings["ocr_failed"]
    assert (found.page, found.severity, "secret" in found.detail) == (1, "warning", False)


def test_without_an_engine_a_scan_keeps_its_picture_and_says_what_to_install(scan, monkeypatch):
    def missing():
        raise ImportError("no engine")

    monkeypatch.setattr(ocr, "_load_rapidocr", missing)
    parsed = parse_bytes(scan, "pdf")
    assert parsed.kinds() == ["image"]
    assert "pip install rapidocr" in parsed.findings["engine_missing"].detail


def test_korean_scans_name_the_korean_engine(scan, monkeypatch):
    monkeypatch.setattr(ocr.shutil, "which", lambda name: None)
    monkeypatch.setattr(ocr, "_load_rapidocr", lambda: lambda image, use_cls: _Nothing())
    parsed = parse_bytes(scan, "pdf", language="ko")
    assert "tesseract-ocr-kor" in parsed.findings["engine_missing"].detail


class _Nothing:
    boxes = None


def test_tesseract_words_become_lines():
    table = (
        "level\tpage_num\tblock_num\tpar_num\tline_num\tword_num\tleft\ttop\twidth\theight\tconf\t"
        "text\n"
        "4\t1\t1\t1\t1\t0\t0\t0\t0\t0\t-1\t\n"
        "5\t1\t1\t1\t1\t1\t10\t20\t30\t12\t90.5\t목적\n"
        "5\t1\t1\t1\t1\t2\t50\t20\t30\t14\t88\t이다\n"
        "5\t1\t1\t1\t2\t1\t10\t50\t30\t12\t91\t끝\n"
    )
    lines = ocr._tsv_lines(table)
    assert [(s.text, s.x0, s.y0, s.x1, s.y1) for s in lines] == [
        ("목적 이다", 10, 20, 80, 34),
        ("끝", 10, 50, 40, 62),
    ]


@pytest.mark.slow
def test_rapidocr_reads_english(scan):
    parsed = parse_bytes(scan, "pdf")
    assert "Scanned words" in " ".join(r.text for r in parsed.rows)


def _circling(entry: bytes) -> bytes:
    """A PDF of one page whose outline has this entry, object 100."""
    data = write_pdf(PdfPage().lines(72, 100, BODY))
    body = data.partition(b"xref\n")[0]
    body = body.replace(b"/Type /Catalog", b"/Type /Catalog /Outlines 99 0 R")
    return (
        body + b"99 0 obj\n<< /First 100 0 R /Last 100 0 R >>\nendobj\n100 0 obj\n<< "
        + entry + b" >>\nendobj\ntrailer << /Root 1 0 R >>\n%%EOF\n"
    )  # fmt: skip


@pytest.mark.parametrize("entry", [b"/Title (A) /First 100 0 R", b"/Title (A) /First 99 0 R"])
def test_an_outline_that_runs_in_circles_is_left_out(entry):
    parsed = parse_bytes(_circling(entry), "pdf")
    assert "quick brown" in parsed.texts("paragraph")[0]
    assert "outline_damaged" in parsed.findings


def test_an_outline_that_ends_is_left_alone():
    assert "outline_damaged" not in parse_bytes(_circling(b"/Title (A)"), "pdf").findings
