import io

import pytest
from PIL import Image

from libs.contracts.faults import Code, DocumentFault
from services.parser.formats.hwp_inline import deep_text, text_and_style
from tests.support.hwpx import picture, table, text, write_hwpx
from tests.support.parsing import parse_bytes


def test_a_korean_official_document():
    out = io.BytesIO()
    Image.new("RGB", (8, 8), "navy").save(out, "PNG")
    parsed = parse_bytes(
        write_hwpx(
            text("제1장 총칙"),
            text("이 규정은 여우를 보호한다."),
            text("제1조(목적)"),
            text("□ 추진 배경"),
            text("○ 세부 사항"),
            text("<표 1> 예산"),
            table(
                [
                    [("머리", 0, 1, 2), ("합계", 2, 1, 1)],
                    [("가", 0, 2, 1), ("나", 1, 1, 1), ("1", 2, 1, 1)],
                    [("다", 1, 1, 1), ("2", 2, 1, 1)],
                ]
            ),
            picture("BIN0001"),
            text("제2장 벌칙"),
            pictures={"BIN0001": out.getvalue()},
        ),
        "hwpx",
    )
    assert parsed.outline() == [(1, "제1장 총칙"), (2, "제1조(목적)"), (1, "제2장 벌칙")]
    assert [(r.marker, r.level, r.text) for r in parsed.rows if r.kind == "list_item"] == [
        ("□", 1, "추진 배경"),
        ("○", 2, "세부 사항"),
    ]
    found = parsed.only("table")
    assert found.caption == "<표 1> 예산"
    assert [(c.row, c.column, c.row_span, c.column_span, c.text) for c in found.cells] == [
        (0, 0, 1, 2, "머리"),
        (0, 2, 1, 1, "합계"),
        (1, 0, 2, 1, "가"),
        (1, 1, 1, 1, "나"),
        (1, 2, 1, 1, "1"),
        (2, 1, 1, 1, "다"),
        (2, 2, 1, 1, "2"),
    ]
    assert "머리: 가; 머리: 나; 합계: 1" in found.text
    image = parsed.only("image")
    assert (parsed.folder / "out" / image.asset).read_bytes() == out.getvalue()


def test_a_frame_of_one_cell_gives_its_paragraphs():
    parsed = parse_bytes(write_hwpx(table([[("제3장 부칙", 0, 1, 1)]])), "hwpx")
    assert parsed.outline() == [(1, "제3장 부칙")]


def test_inline_pieces_of_every_kind():
    assert text_and_style({"Text": {"text": "a", "style": {"bold": True}}}) == (
        "a",
        {"bold": True},
    )
    assert text_and_style("LineBreak") == ("\n", {})
    assert text_and_style({"Link": {"text": "x", "url": "u"}}) == ("x", {})
    assert text_and_style({"Image": {"id": "1"}}) == ("", {})
    note = {"Footnote": {"number": 1, "content": [{"content": [{"Text": {"text": "주석"}}]}]}}
    assert text_and_style(note) == ("", {})
    assert deep_text(note["Footnote"]) == "주석"


@pytest.mark.parametrize("name", ["hwp", "hwpx"])
@pytest.mark.parametrize(
    "data", [b"", b"no document", b"PK\x03\x04 broken", b"\xd0\xcf\x11\xe0" * 9]
)
def test_broken_documents_are_document_faults(name, data):
    with pytest.raises(DocumentFault) as caught:
        parse_bytes(data, name)
    assert caught.value.code == Code.UNREADABLE


def test_a_table_in_a_cell_is_a_table_too():
    nested = table([[("품명", 0, 1, 1), ("수량", 1, 1, 1)], [("관", 0, 1, 1), ("3", 1, 1, 1)]])
    outer = table([[("구분", 0, 1, 1), ("내역", 1, 1, 1)], [("가", 0, 1, 1), ("자리", 1, 1, 1)]])
    parsed = parse_bytes(write_hwpx(text("앞"), outer.replace(text("자리"), nested)), "hwpx")
    first, second = [row for row in parsed.rows if row.kind == "table"]
    assert "품명 | 수량" in first.text
    assert [c.text for c in second.cells] == ["품명", "수량", "관", "3"]


def test_frames_around_frames_lose_nothing():
    inside = table([[("품명", 0, 1, 1), ("수량", 1, 1, 1)], [("관", 0, 1, 1), ("3", 1, 1, 1)]])
    framed = table([[("자리", 0, 1, 1)]]).replace(text("자리"), text("틀 속의 글") + inside)
    outer = table([[("자리", 0, 1, 1)]]).replace(text("자리"), text("틀의 글") + framed)
    parsed = parse_bytes(write_hwpx(outer), "hwpx")
    assert parsed.texts("paragraph") == ["틀의 글", "틀 속의 글"]
    assert [c.text for c in parsed.only("table").cells] == ["품명", "수량", "관", "3"]


HEAD = """<hh:head {spaces}><hh:refList><hh:paraProperties itemCnt="2">
<hh:paraPr id="0"><hh:heading type="NONE" idRef="0" level="0"/></hh:paraPr>
<hh:paraPr id="1"><hh:heading type="OUTLINE" idRef="0" level="0"/></hh:paraPr>
<hh:paraPr id="2"><hh:heading type="OUTLINE" idRef="0" level="1"/></hh:paraPr>
</hh:paraProperties></hh:refList></hh:head>"""


def _outlined(*paragraphs: tuple[str, int]) -> bytes:
    blocks = (text(t).replace('paraPrIDRef="0"', f'paraPrIDRef="{n}"') for t, n in paragraphs)
    return write_hwpx(*blocks, head=HEAD)


def test_paragraphs_of_the_outline_are_headings():
    body = ("본문은 길게 이어지며 제목보다 훨씬 많은 글자를 가진다.", 0)
    parsed = parse_bytes(_outlined(("추진 배경", 1), body, ("현황", 2), body), "hwpx")
    assert parsed.outline() == [(1, "추진 배경"), (2, "현황")]
    assert {r.evidence for r in parsed.rows if r.kind == "heading"} == {"style"}


def test_a_document_set_in_outline_paragraphs_has_no_headings_by_them():
    parsed = parse_bytes(_outlined(("모든 문단이 개요이다", 1), ("이것도", 2), ("글", 0)), "hwpx")
    assert parsed.outline() == []


def test_a_regulation_has_its_articles_supplements_and_forms_as_headings():
    parsed = parse_bytes(
        write_hwpx(
            text("제1장 총칙"),
            text("제1조(목적) 이 규정은 시설의 관리에 필요한 사항을 정함을 목적으로 한다."),
            text("제3조(책무) ① 시장은 시설을 관리하여야 한다. <개정 2023. 1. 1.>"),
            text("② 과장은 이를 보고한다."),
            text("제4조(특례)에 따른 점검은 매년 한다."),
            text("부      칙 <제12호, 2024. 2. 20.>"),
            text("제1조(시행일) 이 규정은 공포한 날부터 시행한다."),
            text("[별표 1] <개정 2024. 2. 20.>"),
            text("[별지 제1호서식]"),
        ),
        "hwpx",
    )
    assert parsed.outline() == [
        (1, "제1장 총칙"),
        (2, "제1조(목적)"),
        (2, "제3조(책무)"),
        (1, "부 칙 <제12호, 2024. 2. 20.>"),
        (2, "제1조(시행일)"),
        (1, "[별표 1] <개정 2024. 2. 20.>"),
        (1, "[별지 제1호서식]"),
    ]
    assert parsed.texts("list_item") == [
        "시장은 시설을 관리하여야 한다. <개정 2023. 1. 1.>",
        "과장은 이를 보고한다.",
    ]
    assert "제4조(특례)에 따른 점검은 매년 한다." in parsed.texts("paragraph")


def test_a_report_nests_its_items_and_draws_boxes_around_titles():
    parsed = parse_bytes(
        write_hwpx(
            text("○○시 시설관리과"),
            table([[("Ⅰ", 0, 1, 1), ("", 1, 1, 1), ("추진 배경", 2, 1, 1)]]),
            text("□ 근거"),
            text(" ○ 수도법 제12조"),
            text("   - 노후 펌프"),
            text("   ※ 점검 결과 참조"),
            text("□ 현황"),
            table([[("Ⅱ", 0, 1, 1), ("추진 계획", 1, 1, 1)]]),
            text("1. 사업 개요"),
            text("가. 기간은 올해로 한다."),
            text("1) 국비"),
            text("가) 1차분"),
            text("(1) 설계비"),
            text("① 조사비"),
            text("나. 사업비"),
            text("붙임  1. 설비 목록 1부."),
            text("【붙임 1】"),
            table([[("가", 0, 1, 1), ("1,000", 1, 1, 1)]]),
        ),
        "hwpx",
    )
    assert parsed.outline() == [(1, "Ⅰ 추진 배경"), (1, "Ⅱ 추진 계획"), (1, "【붙임 1】")]
    assert [(r.marker, r.level) for r in parsed.rows if r.kind == "list_item"] == [
        ("□", 1), ("○", 2), ("-", 3), ("※", 4), ("□", 1),
        ("1.", 1), ("가.", 2), ("1)", 3), ("가)", 4), ("(1)", 5), ("①", 6), ("나.", 2),
    ]  # fmt: skip
    assert parsed.texts("paragraph") == ["○○시 시설관리과", "붙임  1. 설비 목록 1부."]
    assert parsed.only("table").text == "가 | 1,000"
