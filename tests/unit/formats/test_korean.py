"""Korean laws and reports: articles, boxes around titles, items nested by their markers."""

import pytest

from services.parser.formats.korean import ItemDepths, article, boxed_title
from services.parser.formats.pdf_blocks import Line, to_blocks


def test_an_article_is_its_title_and_the_text_behind_it():
    assert article("제1조(목적) 이 법은") == ("제1조(목적)", "이 법은")
    assert article("제4조의2(점검 주기)① 매년") == ("제4조의2(점검 주기)", "① 매년")
    assert article("제1조(목적)") == ("제1조(목적)", "")
    assert article("제4조(특례)에 따른 점검") is None
    assert article("제4조에 따른 점검(매년)") is None


@pytest.mark.parametrize(
    ("texts", "title"),
    [
        (["Ⅰ", "", "추진 배경"], "Ⅰ 추진 배경"),
        (["붙임 1", "설비 목록"], "붙임 1 설비 목록"),
        (["가", "1,000"], None),
        (["구분", "금액"], None),
        (["1", "끝난 문장이다."], None),
        (["1", "가", "나"], None),
    ],
)
def test_a_row_of_boxes_around_a_title(texts, title):
    assert boxed_title(texts) == title


def test_signs_nest_in_their_own_order_whatever_comes_first():
    depths = ItemDepths()
    assert [depths.of(m) for m in ("-", "○", "-", "□", "-", "※", "○")] == [1, 1, 2, 1, 2, 3, 2]
    depths.close()
    assert [depths.of(m) for m in ("가.", "□", "○", "나.", "1)")] == [1, 2, 3, 1, 2]


def test_lines_of_a_law_set_without_white_space_are_blocks_of_their_own():
    widths = {"제2장 점검": 60, "제1절 정기점검": 80,
              "제4조(주기) 점검은 매년 1회 하며 그 결과를": 400,
              "시장에게 보고한다.": 90, "부      칙": 40}  # fmt: skip
    lines = [
        Line(70, 100 + 14 * i, 70 + wide, 110 + 14 * i, text, 10)
        for i, (text, wide) in enumerate(widths.items())
    ]
    assert [block.text for block in to_blocks(lines)] == [
        "제2장 점검",
        "제1절 정기점검",
        "제4조(주기) 점검은 매년 1회 하며 그 결과를 시장에게 보고한다.",
        "부      칙",
    ]
