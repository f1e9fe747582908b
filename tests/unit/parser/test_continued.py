"""Tables that go on over a page border, and those that only look like it."""

from collections.abc import Sequence

from libs.contracts.artefacts.rows import Box, Row, TableCell
from services.parser.continued import Continued, join_tables
from services.parser.formats.tables import plain_cells, table_html, table_text

HEAD = ["Harbour", "Ships"]


def table(
    rows: Sequence[Sequence[str]], page: int, *, header: int = 1, x: float = 72, width: float = 400,
    caption: str | None = None,
) -> Row:  # fmt: skip
    cells = plain_cells(rows, header)
    return Row(
        order=0, kind="table", page=page, cells=cells, html=table_html(cells), caption=caption,
        text=table_text(cells), boxes=[Box(page=page, bbox=(x, 100, x + width, 300))],
    )  # fmt: skip


def text(kind: str, words: str, page: int) -> Row:
    return Row(order=0, kind=kind, text=words, page=page)  # type: ignore[arg-type]


def join(rows: Sequence[Row], furniture: Sequence[int] = ()) -> list[Row]:
    seen = Continued()
    for index, row in enumerate(rows):
        seen.see(row, index)
    return list(join_tables(enumerate(rows), seen.chains(set(furniture))))


FIRST = table([HEAD, ["North", "12"], ["South", "7"]], 3)


def shown(row: Row) -> list[list[str]]:
    rows: dict[int, list[TableCell]] = {}
    for cell in row.cells:
        rows.setdefault(cell.row, []).append(cell)
    return [[c.text for c in rows[r]] for r in sorted(rows)]


def test_a_repeated_header_is_kept_once_over_three_pages_and_what_lies_between_follows() -> None:
    second = table([HEAD, ["East", "31"]], 4, caption="Table 4 (continued)")
    third = table([HEAD, ["West", "5"]], 5)
    foot, head = text("page_footer", "3", 3), text("page_header", "Harbours", 4)
    (joined, *after) = join([FIRST, foot, head, second, third, text("paragraph", "End.", 5)])
    assert shown(joined) == [HEAD, ["North", "12"], ["South", "7"], ["East", "31"], ["West", "5"]]
    assert [b.page for b in joined.boxes] == [3, 4, 5]
    assert joined.breaks == [3, 4], "the grid rows of East and West"
    assert joined.page == 3
    assert joined.text.splitlines()[-1] == "Harbour: West; Ships: 5"
    assert joined.html is not None
    assert joined.html.count("<thead>") == 1
    assert [r.text for r in after] == ["3", "Harbours", "End."]


def test_a_first_row_with_figures_where_the_body_has_them_goes_on_without_a_header() -> None:
    (joined,) = join([FIRST, table([["East", "31"], ["West", "5"]], 4)])
    assert shown(joined)[3:] == [["East", "31"], ["West", "5"]]
    assert [c.header for c in joined.cells] == [True, True] + [False] * 8


def test_other_columns_edges_headers_captions_or_text_between_part_tables() -> None:
    others = [
        [table([[*HEAD, "Tons"], ["East", "31", "4"]], 4)],
        [table([HEAD, ["East", "31"]], 4, width=300)],
        [table([HEAD, ["East", "31"]], 5)],
        [table([["Captain", "Born in"], ["Ann", "1980"]], 4)],
        [table([["East", "31"], ["West", "5"]], 4, caption="Table 9. Crews")],
        [text("paragraph", "The captains follow.", 4), table([HEAD, ["East", "31"]], 4)],
    ]
    for rows in others:
        assert join([FIRST, *rows]) == [FIRST, *rows]


def test_rows_that_turn_out_to_be_furniture_and_words_that_say_so_part_nothing() -> None:
    rows = [
        FIRST, text("paragraph", "Harbours of the North", 4), text("paragraph", "(계속)", 4),
        table([HEAD, ["East", "31"]], 4),
    ]  # fmt: skip
    assert len(join(rows)) == 4
    assert [r.kind for r in join(rows, [1])] == ["table", "paragraph", "paragraph"]


def test_facing_pages_shift_both_edges() -> None:
    assert len(join([FIRST, table([HEAD, ["East", "31"]], 4, x=100)])) == 1
