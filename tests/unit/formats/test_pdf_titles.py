"""Headings by words, looks and surroundings, on small made-up columns."""

import pytest

from services.parser.formats.pdf_blocks import Block, Line
from services.parser.formats.pdf_titles import Place, Typography, is_heading, is_no_title

BODY = "A paragraph that follows its title and goes on long enough to be one of the text."
PLAIN = Typography(10.0, False, [18.0])


def block(text: str, y: float = 300, *, em: float = 10, bold: bool = False) -> Block:
    line = Line(72, y, 72 + 5 * len(text), y + em, text, em, bold)
    return Block(line.x0, line.y0, line.x1, line.y1, [line], text, em, bold)


def heading(text: str, *, em: float = 10, bold: bool = False, above: float = 20) -> bool:
    """Whether `text` is a heading `above` points below one paragraph and right above another."""
    own = block(text, em=em, bold=bold)
    place = Place(own, block(BODY, 290 - above), block(BODY, 304 + em), 792)
    return is_heading(place, PLAIN)


@pytest.mark.parametrize(
    "text", ["Methods Used in the Field", "COURSE MARKING DRIVERS", "11 Two Presentations",
             "Contents", "참 고 문 헌", "1. 추진 배경"],
)  # fmt: skip
def test_a_line_apart_that_is_written_like_a_title_needs_no_type_of_its_own(text: str) -> None:
    assert heading(text)


@pytest.mark.parametrize(
    "text",
    ["and then they went home", "Record the question that is asked", "추진 배경은 다음과 같다"],
)
def test_a_line_apart_that_is_written_like_text_is_none(text: str) -> None:
    assert not heading(text)


def test_without_white_space_above_wording_says_nothing() -> None:
    assert not heading("Methods Used in the Field", above=2)


def test_a_title_apart_needs_text_below_it() -> None:
    alone = Place(block("John Smith"), block(BODY, 250), None, 792)
    assert not is_heading(alone, PLAIN)


@pytest.mark.parametrize(
    "text",
    ["June 2023", "Dec 17, 2022", "2023. 6. 15.", "2023년 6월", "www.law.gov", "law@loc.gov",
     "copyrightandcreativity.org", r"\frac{a}{b}\times20 = c", "E = m c^2", "groundwire", "cc"],
)  # fmt: skip
def test_dates_addresses_formulas_and_logos_are_no_headings_however_large(text: str) -> None:
    assert not heading(text, em=20)


@pytest.mark.parametrize(
    "text", ["May the force", "A = B in every case of the theorem", "Version 2"]
)
def test_words_that_only_resemble_them_are_titles(text: str) -> None:
    assert not is_no_title(text)
    assert heading(text, em=20)


def test_a_bold_term_in_lower_case_counts_where_it_stands_apart() -> None:
    assert heading("password", bold=True)
    assert not heading("password", bold=True, above=2)


def test_a_running_foot_behind_a_bar_is_no_heading_though_it_names_a_chapter() -> None:
    assert not heading("Chapter 3 Orbits and Gravity | 99", em=12, bold=True)
    assert not heading("Appendix 5 Page 8 of 11", em=12, bold=True)
    assert heading("Chapter 3 Orbits and Gravity", em=12, bold=True)
