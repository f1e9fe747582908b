"""Tables without rulings, on small made-up pages."""

from services.parser.formats.pdf_page import Page, Segment
from services.parser.formats.pdf_tables import find_tables

HEAD = ["Harbour", "Ships", "Tonnage"]
ROWS = [["North", "12", "3,400"], ["South", "7", "910"], ["East quay", "31", "12,050"]]
COLUMNS = [60.0, 200.0, 300.0]


def segment(text: str, x: float, y: float) -> Segment:
    return Segment(x, y, x + 5 * len(text), y + 10, text, 10.0)


def grid(rows: list[list[str]], top: float = 100, columns: list[float] = COLUMNS) -> list[Segment]:
    return [
        segment(text, x, top + 14 * r)
        for r, row in enumerate(rows)
        for text, x in zip(row, columns, strict=False)
        if text
    ]


def page(
    segments: list[Segment],
    across: list[tuple[float, float, float]] | None = None,
    down: list[tuple[float, float, float]] | None = None,
) -> Page:
    return Page(
        number=1,
        width=600,
        height=800,
        segments=segments,
        hidden=[],
        sideways=[],
        horizontal=across or [],
        vertical=down or [],
        pictures=[],
        notes=[],
    )


def texts(given: Page) -> list[list[list[str]]]:
    tables = []
    for table in find_tables(given):
        rows: dict[int, list[str]] = {}
        for cell in table.cells:
            rows.setdefault(cell.row, []).append(cell.text)
        tables.append([rows[r] for r in sorted(rows)])
    return tables


def test_aligned_figures_are_a_table_and_the_prose_around_it_is_not() -> None:
    prose = "The harbours of the coast were counted in the year of the great storm by the guild."
    lines = [segment(prose, 60, 60), *grid([HEAD, *ROWS]), segment(prose, 60, 180)]
    assert texts(page(lines)) == [[HEAD, *ROWS]]
    (table,) = find_tables(page(lines))
    assert [c.header for c in table.cells] == [True] * 3 + [False] * 9
    assert (table.y0, table.y1) == (100, 152)


def test_blank_cells_keep_their_columns() -> None:
    rows = [["North", "", "3,400"], *ROWS[1:], ["West", "3", ""], ["Islands", "5", "77"]]
    assert texts(page(grid(rows))) == [rows]


def test_columns_of_prose_are_no_table() -> None:
    words = [["the storm of the year", "ships went to the north"] for _ in range(6)]
    assert texts(page(grid(words, columns=[60.0, 320.0]))) == []


def test_two_rows_are_no_table() -> None:
    assert texts(page(grid(ROWS[:2]))) == []


def test_white_across_the_page_parts_tables() -> None:
    assert texts(page([*grid(ROWS), *grid(ROWS, top=300)])) == [ROWS, ROWS]


def test_currency_signs_and_leaders_belong_to_their_cells() -> None:
    rows = [["North ......", "$", "400"], ["South ....", "$", "91"], ["East ...", "$", "7"]]
    lines = grid(rows, columns=[60.0, 200.0, 230.0])
    assert texts(page(lines)) == [[["North", "$ 400"], ["South", "$ 91"], ["East", "$ 7"]]]


def test_rows_that_the_rulings_leave_out_are_found() -> None:
    across = [(50.0, 400.0, 97.0), (50.0, 400.0, 112.0), (50.0, 400.0, 156.0)]
    down = [(97.0, 112.0, 180.0), (97.0, 112.0, 280.0), (97.0, 156.0, 50.0), (97.0, 156.0, 400.0)]
    assert texts(page(grid([HEAD, *ROWS]), across, down)) == [[HEAD, *ROWS]]


def test_a_table_of_contents_and_a_listing_are_no_tables() -> None:
    contents = [[f"{n} Harbour . . . . . . . .", str(10 * n)] for n in range(1, 6)]
    assert texts(page(grid(contents, columns=[60.0, 400.0]))) == []
    listing = [["a =", "1", "2"], ["b =", "3", "4"], ["c =", "5", "6"], ["d =", "7", "8"]]
    assert texts(page(grid(listing))) == []


def test_the_lines_of_a_wrapped_header_are_one_row() -> None:
    head = [["", "Ships", "Tonnage"], ["Harbour", "a year", "in all"]]
    lines = [*grid(head, top=80), *grid(ROWS, top=108)]
    (table,) = texts(page(lines))
    assert table == [["Harbour", "Ships a year", "Tonnage in all"], *ROWS]
