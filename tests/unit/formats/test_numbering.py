import pytest

from services.parser.formats.numbering import (
    NumberLevels,
    heading_number,
    is_bullet,
    is_caption,
    list_marker,
    reads_like_heading,
)


@pytest.mark.parametrize(
    ("text", "marker", "scheme", "title"),
    [
        ("제1장 총칙", "제1장", "chapter", "총칙"),
        ("제 3 절 벌칙", "제 3 절", "section", "벌칙"),
        ("제12조의2(특례)", "제12조의2", "article", "(특례)"),
        ("제2편", "제2편", "part", ""),
        ("부칙", "부칙", "chapter", ""),
        ("[별표 1] 기준", "[별표 1]", "chapter", "기준"),
        ("Chapter 4 The Whale", "Chapter 4", "chapter", "The Whale"),
        ("CHAPTER IV: Loomings", "CHAPTER IV", "chapter", "Loomings"),
        ("Appendix A. Tables", "Appendix A", "chapter", "Tables"),
        ("Article 12 - Duties", "Article 12", "article", "Duties"),
        ("1 Introduction", "1", "decimal-1", "Introduction"),
        ("1.2.3 Methods", "1.2.3", "decimal-3", "Methods"),
        ("2. Results", "2", "decimal-1", "Results"),
        ("A.1 Proofs", "A.1", "decimal-2", "Proofs"),
        ("Ⅰ. 개요", "Ⅰ.", "roman", "개요"),
        ("IV. Findings", "IV.", "roman", "Findings"),
        ("가. 목적", "가.", "hangul", "목적"),
        ("(1) 범위", "(1)", "paren-number", "범위"),
        ("① 항", "①", "circled", "항"),
    ],
)
def test_numbers_are_read(text, marker, scheme, title):
    number = heading_number(text)
    assert number is not None
    assert (number.marker, number.scheme, number.title) == (marker, scheme, title)


@pytest.mark.parametrize(
    "text",
    [
        "제3조에 따라 다음을 한다",
        "제1장 및 제2장의 규정",
        "chapters of a book",
        "2024년 예산",
        "1.5km away",
        "Article writing is hard",
    ],
)
def test_running_text_has_no_number(text):
    assert heading_number(text) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("제1장 총칙", True),
        ("1.2 Scope of work", True),
        ("1. Buy milk and eggs.", False),
        ("2. this goes on in lower case", False),
        ("제1장", True),
        ("1.2 " + "long " * 40, False),
    ],
)
def test_titles_read_like_titles(text, expected):
    number = heading_number(text)
    assert number is not None
    assert reads_like_heading(number) is expected


def test_levels_follow_the_nesting_of_a_law():
    texts = [
        "제1편 총칙",
        "제1장 통칙",
        "제1조(목적)",
        "제2조(정의)",
        "제2장 물건",
        "제3조(뜻)",
        "제2편 물권",
    ]
    levels = NumberLevels()
    assert [levels.level(heading_number(t)) for t in texts] == [1, 2, 3, 3, 2, 3, 1]


def test_levels_follow_decimals_under_chapters_and_skips():
    texts = ["Chapter 1 A", "1.1 B", "1.1.1 C", "1.2 D", "Chapter 2 E", "2.1.1 F", "2.2 G"]
    levels = NumberLevels()
    assert [levels.level(heading_number(t)) for t in texts] == [1, 2, 3, 2, 1, 2, 2]


def test_levels_of_a_korean_report():
    texts = ["Ⅰ. 개요", "1. 배경", "가. 경위", "나. 문제", "2. 목적", "Ⅱ. 본론", "1. 현황"]
    levels = NumberLevels()
    assert [levels.level(heading_number(t)) for t in texts] == [1, 2, 3, 3, 2, 1, 2]


@pytest.mark.parametrize(
    ("text", "marker", "rest"),
    [
        ("• one", "•", "one"),
        ("- two", "-", "two"),
        ("□추진 배경", "□", "추진 배경"),
        ("3) three", "3)", "three"),
        ("(b) four", "(b)", "four"),
        ("가. 다섯", "가.", "다섯"),
        ("\uf0b7 six", "\uf0b7", "six"),
    ],
)
def test_list_markers(text, marker, rest):
    assert list_marker(text) == (marker, rest)
    assert is_bullet(marker) == (not any(c.isalnum() for c in marker))


@pytest.mark.parametrize(
    "text",
    ["-5 degrees", "e.g. this", "plain", "2024 was", "o'clock", "(605) 574-2307 fax"],
)
def test_no_list_marker(text):
    assert list_marker(text) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Figure 3. A whale", True),
        ("Table A-1: Sizes", True),
        ("<표 1-2> 예산", True),
        ("[그림 3] 구조", True),
        ("Tables are useful", False),
        ("표본 3개", False),
        ("Figured 3 out", False),
    ],
)
def test_captions(text, expected):
    assert is_caption(text) is expected
