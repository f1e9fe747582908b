"""Headings on whole pages: numbers above titles, small bold titles, letterheads, lines above."""

import pytest

from tests.support.parsing import parse_bytes
from tests.support.pdfs import PdfPage, write_pdf

BODY = [
    "The quick brown fox jumps over the lazy dog and runs through the",
    "forest until it comes to a river that it cannot cross without help",
    "from somebody who has a boat and time to row.",
]


def _parse(page: PdfPage):
    return parse_bytes(write_pdf(page), "pdf")


def _titles(page: PdfPage) -> list[str]:
    return [title for _, title in _parse(page).outline()]


@pytest.mark.parametrize("number", ["III.", "3", "Chapter 3", "CHAPTER THREE", "B"])
def test_a_number_by_itself_above_its_title_is_one_heading_with_it(number: str) -> None:
    page = PdfPage().text(72, 120, number, 24, bold=True)
    page.text(72, 150, "Rivers and Boats", 24, bold=True).lines(72, 200, BODY)
    assert _titles(page) == [f"{number} Rivers and Boats"]


def test_a_number_in_the_type_of_the_text_is_no_part_of_a_title() -> None:
    page = PdfPage().lines(72, 100, BODY).text(72, 200, "3")
    page.text(72, 230, "Rivers and Boats", 20, bold=True).lines(72, 270, BODY)
    assert _titles(page) == ["Rivers and Boats"]


def _with_small_title(top: float, *, below: float = 8) -> PdfPage:
    """Text in 11 points, and a bold line in 9 at `top` over a column of `below` points."""
    page = PdfPage().lines(72, 100, BODY * 3, 11)
    page.text(72, top, "Currents of the lower river", 9, bold=True)
    return page.lines(72, top + 14, BODY, below)


def test_a_bold_line_smaller_than_the_body_heads_text_of_its_own_size() -> None:
    assert _titles(_with_small_title(300)) == ["Currents of the lower river"]


def test_it_heads_no_larger_text_and_none_without_white_space_above() -> None:
    assert _titles(_with_small_title(300, below=11)) == []
    assert _titles(_with_small_title(219)) == []


@pytest.mark.parametrize(("inside", "titles"), [(False, ["Foxes by year"]), (True, [])])
def test_a_small_bold_line_over_an_empty_frame_is_the_title_of_a_figure(
    inside: bool, titles: list[str]
) -> None:
    page = PdfPage().lines(72, 100, BODY * 3, 11).text(90, 300, "Foxes by year", 9, bold=True)
    page.grid([80, 400], [310, 450])
    if inside:
        page.lines(100, 340, BODY, 11)
    assert _titles(page.lines(72, 500, BODY, 11)) == titles


def test_what_stands_at_both_sides_of_the_top_is_a_letterhead() -> None:
    page = PdfPage().text(40, 30, "River", 16).text(40, 48, "Works", 16)
    page.text(440, 30, "Supported by the", 11).text(440, 44, "Union of Boats", 11)
    page.text(72, 120, "Annual Meeting", 18, bold=True).lines(72, 150, BODY)
    parsed = _parse(page)
    assert [title for _, title in parsed.outline()] == ["Annual Meeting"]
    assert parsed.texts("page_header") == ["River", "Works", "Supported by the", "Union of Boats"]


def test_heads_of_columns_at_the_top_of_a_page_are_headings() -> None:
    page = PdfPage().text(40, 40, "Foxes", 16, bold=True).text(330, 40, "Boats", 16, bold=True)
    for column in (40, 330):
        page.lines(column, 80, [line[:32] for line in BODY * 3])
    assert _titles(page) == ["Foxes", "Boats"]


def test_a_line_right_above_a_larger_title_is_none_itself() -> None:
    page = PdfPage().text(72, 100, "Field report from the coast", 13)
    page.text(72, 130, "How Foxes Cross a River", 24).lines(72, 170, BODY)
    assert _titles(page) == ["How Foxes Cross a River"]


def test_a_numbered_heading_above_a_larger_one_stays() -> None:
    page = PdfPage().text(72, 100, "1. Field reports", 13)
    page.text(72, 130, "How Foxes Cross a River", 24).lines(72, 170, BODY)
    assert _titles(page) == ["1. Field reports", "How Foxes Cross a River"]


def test_two_columns_at_the_top_whose_lines_end_in_numbers_are_no_head() -> None:
    page = PdfPage()
    for x, side in ((40, "Left"), (330, "Right")):
        page.lines(x, 40, [f"{side} column line {number}" for number in (1, 2)], 20)
    parsed = _parse(page)
    assert [row.text for row in parsed.rows] == [
        "Left column line 1 Left column line 2", "Right column line 1 Right column line 2",
    ]  # fmt: skip


def test_a_page_number_above_two_columns_is_a_head() -> None:
    page = PdfPage().text(40, 40, "Journal of foxes").text(530, 40, "123")
    for column in (40, 330):
        page.lines(column, 80, [line[:32] for line in BODY * 3])
    assert _parse(page).texts("page_header") == ["Journal of foxes 123"]


def test_where_nearly_all_text_stands_in_tables_their_type_is_the_body() -> None:
    page = PdfPage()
    for number, top in enumerate((100, 300), 1):
        page.text(72, top - 20, f"Foxes by river, part {number}", 16)
        page.grid([60, 240, 420], [top + 20.0 * row for row in range(7)])
        for row in range(6):
            page.text(66, top + 14 + 20 * row, f"River number {row}", 10)
            page.text(246, top + 14 + 20 * row, f"{row} foxes were counted", 10)
    assert _titles(page) == ["Foxes by river, part 1", "Foxes by river, part 2"]


def test_a_row_of_boxes_around_a_roman_number_and_words_is_a_heading() -> None:
    page = PdfPage().lines(72, 100, BODY).grid([72, 110, 400], [200, 224])
    page.text(82, 216, "II").text(120, 216, "Rivers and Boats").lines(72, 260, BODY)
    page.grid([72, 110, 400], [400, 424]).text(82, 416, "2").text(120, 416, "Boats").lines(
        72, 460, BODY
    )
    parsed = _parse(page)
    assert parsed.outline() == [(1, "II Rivers and Boats")]
    assert parsed.texts("table") == ["2 | Boats"]
