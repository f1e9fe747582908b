"""Lists on pages: how deep an item lies is where its marker stands."""

from tests.support.parsing import parse_bytes
from tests.support.pdfs import PdfPage, write_pdf


def _items(*lines: tuple[float, str]) -> list[tuple[int | None, str]]:
    page = PdfPage()
    for number, (x, text) in enumerate(lines):
        page.text(x, 100 + 16 * number, text)
    rows = parse_bytes(write_pdf(page), "pdf").rows
    return [(row.level, row.text) for row in rows if row.kind == "list_item"]


def test_items_further_right_lie_deeper() -> None:
    assert _items(
        (72, "1. rivers"), (92, "• banks"), (112, "– sand"), (92, "• beds"), (72, "2. boats"),
        (92, "• oars"),
    ) == [
        (1, "rivers"), (2, "banks"), (3, "sand"), (2, "beds"), (1, "boats"), (2, "oars"),
    ]  # fmt: skip


def test_numbers_that_end_at_one_line_are_of_one_level() -> None:
    assert _items((77.5, "9. rivers"), (72, "10. boats"), (77.5, "11. foxes")) == [
        (1, "rivers"), (1, "boats"), (1, "foxes"),
    ]  # fmt: skip


def test_text_beside_the_list_ends_it_and_text_inside_an_item_does_not() -> None:
    items = _items(
        (72, "1. rivers"), (92, "• banks"), (72, ""), (72, "Boats are another thing."), (72, ""),
        (92, "• oars"), (72, ""), (112, "They are long and made of wood."), (72, ""),
        (112, "– grips"),
    )  # fmt: skip
    assert items == [(1, "rivers"), (2, "banks"), (1, "oars"), (2, "grips")]
