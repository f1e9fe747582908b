"""A review's workbook, edited by programs: openpyxl, xlsxwriter, LibreOffice."""

import io
import shutil
import subprocess
import zipfile
from pathlib import Path
from typing import Any

import openpyxl
import pytest
import xlsxwriter
from openpyxl.cell.rich_text import CellRichText, TextBlock
from openpyxl.cell.text import InlineFont
from openpyxl.styles import Font

from libs.contracts.artefacts.profile import PageRange, Profile
from libs.contracts.entries import Enrichment, Entry, RecordRules, Review, united
from libs.contracts.faults import Code, DocumentFault
from libs.runtime.xlsx import Table, column_name, unique_titles, workbook
from services.gateway.review import review_workbook
from services.parser.formats.base import AssetSink, ParseInput, ShardResult
from services.parser.formats.records import parse

SOFFICE = shutil.which("soffice")
MADE = Enrichment(
    function_desc="잃어버린 카드를 막는다.",
    sample_queries=["카드를 잃어버렸어요", "카드 뭐지", "=1+1 <b>"],
)
LOST = Entry(
    id="M3", name="카드 분실 신고", path="카드 > 분실", category="카드", keywords=["분실"],
    fields={"부서": "카드부"}, enriched=MADE,
)  # fmt: skip
RATE = Entry(id="M1", name="환율 조회", category="외환", text="오늘의 환율")


@pytest.fixture
def parsed(tmp_path: Path) -> Any:
    def reading(data: bytes, kind: Any = "entries") -> ShardResult:
        path = tmp_path / "source.xlsx"
        path.write_bytes(data)
        profile = Profile(
            format="xlsx", media_type="x", file_name="m", size=1, sha256="0" * 64,
            records=RecordRules(kind=kind, review=True),
        )  # fmt: skip
        pages, sink = PageRange(first=0, last=0), AssetSink(tmp_path / "out")
        return parse(ParseInput(path, profile, pages, sink, tmp_path))

    return reading


@pytest.fixture
def read(parsed: Any) -> Any:
    return lambda *given: [row.entry for row in parsed(*given).rows if row.entry]


@pytest.fixture
def told(parsed: Any) -> Any:
    return lambda data: [finding.detail for finding in parsed(data).findings]


def saved(book: Any) -> bytes:
    held = io.BytesIO()
    book.save(held)
    return held.getvalue()


def edited(data: bytes) -> Any:
    """A reviewer's edits: one question struck, one corrected, one added, feedback, a keyword."""
    book = openpyxl.load_workbook(io.BytesIO(data))
    sheet = book["카드"]
    assert [cell.value for cell in sheet[1]][4:7] == ["예시 질문", "작성", "의견"]
    sheet["E3"].font = Font(strike=True)
    sheet["E2"].value = "카드를 도둑맞았어요"
    sheet["E5"].value = "지갑째 없어졌어"
    sheet["G2"].value = "도난도 넣어 주세요"
    book["키워드"]["C2"].value = "분실, 도난"
    return book


def test_an_unedited_workbook_changes_nothing(read: Any) -> None:
    data = review_workbook([LOST, RATE], "category", "ko")
    assert data == review_workbook([LOST, RATE], "category", "ko")
    found = {entry.id: entry for entry in read(data)}
    assert found["M3"].review == Review(added=MADE.sample_queries)
    assert united(LOST, found["M3"]).review == Review()
    assert united(LOST, found["M3"]).questions() == LOST.questions()
    assert found["M1"].review == Review()


@pytest.mark.parametrize("through", ["openpyxl", "libreoffice"])
def test_struck_corrected_added_and_wished(read: Any, tmp_path: Path, through: str) -> None:
    data = saved(edited(review_workbook([LOST, RATE], "category", "ko")))
    if through == "libreoffice":
        data = resaved(data, tmp_path)
    lost = next(entry for entry in read(data) if entry.id == "M3")
    assert lost.keywords == ["분실", "도난"]
    assert lost.review is not None
    assert lost.review.feedback == "도난도 넣어 주세요"
    assert sorted(lost.review.struck) == ["카드 뭐지", "카드를 잃어버렸어요"]
    whole = united(LOST, lost)
    assert whole.review is not None
    assert sorted(whole.review.added) == ["지갑째 없어졌어", "카드를 도둑맞았어요"]
    assert sorted(whole.questions()) == ["=1+1 <b>", "지갑째 없어졌어", "카드를 도둑맞았어요"]
    questions = read(data, "questions")
    assert sorted(e.name for e in questions if not e.deleted) == sorted(whole.questions())
    assert sorted(e.name for e in questions if e.deleted) == ["카드 뭐지", "카드를 잃어버렸어요"]


def resaved(data: bytes, folder: Path) -> bytes:
    """The workbook as LibreOffice saves it."""
    if SOFFICE is None:
        pytest.skip("needs LibreOffice: apt-get install libreoffice-calc")
    (folder / "in").mkdir()
    (folder / "in" / "review.xlsx").write_bytes(data)
    subprocess.run(
        [SOFFICE, f"-env:UserInstallation=file://{folder}/profile", "--headless", "--norestore",
         "--convert-to", "xlsx", "--outdir", str(folder / "out"),
         str(folder / "in" / "review.xlsx")],
        check=True, capture_output=True, timeout=300, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    return (folder / "out" / "review.xlsx").read_bytes()


def test_a_part_that_is_struck_through_is_a_correction(read: Any) -> None:
    book = openpyxl.load_workbook(io.BytesIO(review_workbook([LOST], "category", "en")))
    struck = TextBlock(InlineFont(strike=True), "카드를 ")
    book["카드"]["E2"].value = CellRichText(struck, "잃어버렸어요")
    (lost,) = read(saved(book))
    assert lost.review.struck == ["카드를 잃어버렸어요"]
    assert "잃어버렸어요" in lost.review.added


def test_a_workbook_that_another_program_wrote_anew(read: Any) -> None:
    held = io.BytesIO()
    with xlsxwriter.Workbook(held) as book:
        sheet = book.add_worksheet("anything")
        strike = book.add_format({"font_strikeout": True})
        sheet.write_row(0, 0, ["Feedback", "Sample question", "ID"])
        sheet.write_row(1, 0, ["", "kept", "A"])
        sheet.write(2, 1, "gone", strike)
        sheet.write_rich_string(3, 1, "stays ", strike, "goes")
    (one,) = read(held.getvalue())
    assert one.id == "A"
    assert one.review == Review(struck=["gone", "stays goes"], added=["kept", "stays"])


HEADS = ["아이디", "이름", "예시 질문", "의견", "원래 질문"]


def raw_workbook(rows: str) -> bytes:
    """A workbook as Numbers and Google Sheets may write it: inline strings, and no styles."""
    package = "http://schemas.openxmlformats.org/package/2006"
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    book = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as made:
        made.writestr(
            "[Content_Types].xml",
            f'<Types xmlns="{package}/content-types">'
            '<Default Extension="rels" '
            'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
            f'<Override PartName="/xl/workbook.xml" ContentType="{book}.sheet.main+xml"/>'
            '<Override PartName="/xl/worksheets/sheet1.xml" '
            f'ContentType="{book}.worksheet+xml"/></Types>',
        )
        made.writestr(
            "_rels/.rels",
            f'<Relationships xmlns="{package}/relationships"><Relationship Id="r1" '
            f'Type="{office}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        )
        made.writestr(
            "xl/workbook.xml",
            f'<workbook xmlns="{main}" xmlns:r="{office}"><sheets>'
            '<sheet name="Tabelle 1" sheetId="1" r:id="r1"/></sheets></workbook>',
        )
        made.writestr(
            "xl/_rels/workbook.xml.rels",
            f'<Relationships xmlns="{package}/relationships"><Relationship Id="r1" '
            f'Type="{office}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>',
        )
        made.writestr(
            "xl/worksheets/sheet1.xml",
            f'<worksheet xmlns="{main}"><sheetData>{rows}</sheetData></worksheet>',
        )
    return held.getvalue()


def inline(place: str, inner: str) -> str:
    return f'<c r="{place}" t="inlineStr"><is>{inner}</is></c>'


def test_inline_strings_without_styles_below_a_title(read: Any) -> None:
    heads = "".join(inline(f"{'ABCDE'[n]}3", f"<t>{head}</t>") for n, head in enumerate(HEADS))
    struck = "<r><rPr><strike/></rPr><t>돈 보내기</t></r>"
    partly = '<r><t xml:space="preserve">남는 말 </t></r><r><rPr><strike/></rPr><t>지운 말</t></r>'
    rows = (
        f'<row r="1">{inline("A1", "<t>2024 메뉴 검토</t>")}</row><row r="3">{heads}</row>'
        f'<row r="4"><c r="A4"><v>17.0</v></c>{inline("C4", struck)}'
        f"{inline('E4', '<t>돈 보내기</t>')}</row>"
        f'<row r="5" hidden="1">{inline("C5", partly)}'
        f"{inline('E5', '<t>남는 말 지운 말</t>')}</row>"
        f'<row r="6">{inline("C6", "<t>새 질문_x000D_&#10;둘째 줄</t>")}</row>'
        f'<row r="7">{inline("D7", "<t>더 쉽게</t>")}</row>'
    )
    (one,) = read(raw_workbook(rows))
    assert one.id == "17"
    assert one.review == Review(
        feedback="더 쉽게",
        struck=["돈 보내기", "남는 말 지운 말"],
        added=["남는 말", "새 질문 둘째 줄"],
    )


def test_a_run_with_properties_of_its_own_is_struck_as_it_says(read: Any) -> None:
    book = openpyxl.load_workbook(io.BytesIO(review_workbook([LOST], "category", "en")))
    cell = book["카드"]["E2"]
    cell.value = CellRichText(TextBlock(InlineFont(sz=11), "카드를 잃어버렸어요"), " 정말로")
    cell.font = Font(strike=True)
    (lost,) = read(saved(book))
    assert "카드를 잃어버렸어요" in lost.review.added
    assert lost.review.struck == ["카드를 잃어버렸어요 정말로"]


def test_every_wish_counts_and_keywords_are_parted_as_people_part_them(read: Any) -> None:
    book = openpyxl.load_workbook(io.BytesIO(review_workbook([LOST], "category", "ko")))
    book["카드"]["G2"].value = "짧게"
    book["카드"]["G4"].value = "도난도 넣기"
    book["키워드"]["C2"].value = "분실; 도난\n정지"
    (lost,) = read(saved(book))
    assert lost.review.feedback == "짧게 도난도 넣기"
    assert lost.keywords == ["분실", "도난", "정지"]


def test_what_cannot_be_taken_is_said_by_sheet_and_row(told: Any) -> None:
    book = openpyxl.load_workbook(io.BytesIO(review_workbook([LOST, RATE], "category", "ko")))
    book["외환"]["A1"].value = "번호표"
    book["카드"].insert_rows(2)
    book["카드"]["E2"].value = "번호 없는 질문"
    book["카드"]["E3"].value = "길고 " * 200
    book["키워드"]["C2"].font = Font(strike=True)
    assert told(saved(book)) == [
        "sheet 1: no column names the id of its questions: none was taken",
        "sheet 2, row 2: it has no id",
        "sheet 2, row 3: its question is cut at 300 characters",
        "sheet 3, row 2: a review adds keywords: what is struck through stays",
    ]


def test_a_review_without_sample_questions_says_so(read: Any) -> None:
    data = review_workbook([RATE.model_copy(update={"enriched": None})], "category", "en")
    with pytest.raises(DocumentFault, match="the review has no sample questions") as none:
        read(data, "questions")
    assert none.value.code is Code.NO_CONTENT
    assert [entry.id for entry in read(data)] == [RATE.id]


def test_by_department_and_what_is_no_review(read: Any) -> None:
    book = openpyxl.load_workbook(io.BytesIO(review_workbook([LOST, RATE], "부서", "en")))
    assert book.sheetnames == ["-", "카드부", "keywords", "how to"]
    assert book["카드부"].column_dimensions["H"].hidden
    with pytest.raises(DocumentFault) as caught:
        read(workbook([Table("x", ["a", "b"], [["1", "2"]])]))
    assert caught.value.code == Code.UNREADABLE
    with pytest.raises(DocumentFault):
        read(b"PK\x03\x04 no workbook")


def test_titles_and_columns_are_what_spreadsheets_take() -> None:
    titles = unique_titles(["a/b", "a:b", "", "x" * 40, "X" * 40])
    assert titles == ["a b", "a b 2", "-", "x" * 31, "X" * 29 + " 2"]
    assert [column_name(n) for n in (0, 25, 26, 701, 702)] == ["A", "Z", "AA", "ZZ", "AAA"]
    text = openpyxl.load_workbook(
        io.BytesIO(workbook([Table("t", ["h"], [["=SUM(A1)\x00<&>"], [" a "]])]))
    )["t"]
    assert (text["A2"].value, text["A2"].data_type) == ("=SUM(A1)<&>", "s")
    assert text["A3"].value == " a "
