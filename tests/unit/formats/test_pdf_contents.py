"""Tables of contents by their shape, running heads of a chapter, and titles that run in."""

from services.parser.formats.pdf_blocks import to_blocks, to_lines
from services.parser.formats.pdf_contents import take_contents
from services.parser.formats.pdf_furniture import split_furniture
from services.parser.formats.pdf_page import Page, Segment

EDGE = 540.0


def segment(text: str, x: float, y: float, *, em: float = 10.0, bold: bool = False) -> Segment:
    return Segment(x, y, x + em / 2 * len(text), y + em, text, em, bold)


def page(segments: list[Segment], number: int = 1) -> Page:
    return Page(
        number=number, width=612, height=792, segments=segments, hidden=[], sideways=[],
        horizontal=[], vertical=[], pictures=[], notes=[],
    )  # fmt: skip


def listed(entries: list[tuple[str, str, float]], top: float = 120) -> list[Segment]:
    """Titles at their indents, numbers that end at one edge."""
    made = []
    for i, (title, number, x) in enumerate(entries):
        made.append(segment(title, x, top + 14 * i))
        if number:
            made.append(segment(number, EDGE - 5 * len(number), top + 14 * i))
    return made


TOLD = [
    ("1 Harbours", "1", 72),
    ("1.1 Piers and", "", 90),
    ("cranes", "4", 90),
    ("2 Ships", "12", 72),
]


def entries_of(pages: list[Page]) -> list[tuple[str, str]]:
    return [(e.title, e.page) for c in take_contents(pages).values() for e in c.entries]


def test_lines_that_end_in_rising_page_numbers_below_the_word_are_contents() -> None:
    given = page([segment("Table of Contents", 72, 90, em=16), *listed(TOLD)])
    assert entries_of([given]) == [
        ("1 Harbours", "1"), ("1.1 Piers and", ""), ("cranes", "4"), ("2 Ships", "12"),
    ]  # fmt: skip
    assert [s.text for s in given.segments] == ["Table of Contents"]


def test_a_title_over_two_lines_is_one_entry() -> None:
    long = "Appendix A Essential and useful other programs that a harbour master knows"
    entries = [
        ("1 Harbours", "1", 72),
        (long, "", 72),
        ("by heart", "41", 96),
        ("2 Ships", "50", 72),
    ]
    given = page([segment("차 례", 72, 90), *listed(entries)])
    assert entries_of([given])[1] == (f"{long} by heart", "41")


def test_the_page_after_contents_needs_no_word_and_a_lone_listing_must_be_long() -> None:
    first = page([segment("Contents", 72, 90), *listed(TOLD)], 3)
    second = page(listed([("3 Rope", "20", 72), ("4 Tar", "22", 72), ("5 Salt", "29", 72)]), 4)
    assert len(entries_of([first, second])) == 7
    again = page(listed([("3 Rope", "20", 72), ("4 Tar", "22", 72), ("5 Salt", "29", 72)]), 4)
    assert entries_of([again]) == []


def test_falling_numbers_and_columns_of_figures_are_no_contents() -> None:
    falling = [(f"{i} Harbour", str(90 - 9 * i), 72.0) for i in range(1, 10)]
    assert entries_of([page([segment("Contents", 72, 90), *listed(falling)])]) == []
    figures = [(f"Harbour {i} {70 + i}", str(3 * i), 72.0) for i in range(1, 10)]
    assert entries_of([page(listed(figures))]) == []


def text_page(number: int, head: str) -> Page:
    body = [segment("a line of the text of the book", 72, 120 + 12 * i) for i in range(20)]
    return page([segment(head, 72, 40), *body], number)


def test_a_running_head_of_two_pages_is_furniture_and_a_title_that_comes_once_is_not() -> None:
    pages = [text_page(1, "Harbours"), text_page(3, "Harbours"), text_page(5, "Ships")]
    heads, _ = split_furniture(pages)
    assert {n: [s.text for s in found] for n, found in heads.items()} == {
        1: ["Harbours"],
        3: ["Harbours"],
    }


def test_a_foot_with_a_section_number_goes_whole() -> None:
    given = text_page(15, "Harbours")
    given.segments += [segment("1.4. Related works", 72, 745), segment("5", 535, 745)]
    _, feet = split_furniture([given])
    assert [s.text for s in feet[15]] == ["1.4. Related works", "5"]


def test_the_last_entry_of_contents_is_no_foot() -> None:
    entries = listed([(f"Harbour of {name}", str(i), 72) for i, name in enumerate("abcdef")], 675)
    _, feet = split_furniture([page(entries)])
    assert feet == {}


def test_a_bold_title_that_runs_in_is_parted_from_its_text() -> None:
    run = [
        segment("Voxel", 72, 100, bold=True),
        segment("grids hold figures in three dimensions", 110, 100),
        segment("and are drawn as surfaces.", 72, 112),
    ]
    blocks = to_blocks(to_lines(run, run_ins=True))
    assert [(b.text, b.runs_in) for b in blocks] == [
        ("Voxel", True),
        ("grids hold figures in three dimensions and are drawn as surfaces.", False),
    ]
    assert len(to_lines(run)) == 2


def test_a_bold_line_inside_running_text_parts_nothing() -> None:
    text = [
        segment("the first line of a paragraph that is as wide as its column", 72, 100),
        segment("set pixmap allows the import of an image in a standard form", 72, 112, bold=True),
        segment("and the last line ends it.", 72, 124),
    ]
    assert len(to_blocks(to_lines(text))) == 1


def test_a_numbered_heading_below_another_is_its_own() -> None:
    heads = [
        segment("11.2 Publishing", 72, 100, em=12, bold=True),
        segment("11.2.1 Using scripts", 72, 115, em=12, bold=True),
    ]
    assert [b.text for b in to_blocks(to_lines(heads))] == [
        "11.2 Publishing",
        "11.2.1 Using scripts",
    ]
