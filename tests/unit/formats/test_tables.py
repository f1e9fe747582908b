from hypothesis import given
from hypothesis import strategies as st

from libs.contracts.artefacts.rows import TableCell
from services.parser.formats.tables import (
    MAX_COLUMNS,
    Span,
    header_height,
    place,
    plain_cells,
    split_body,
    table_html,
    table_text,
)


def test_place_follows_the_html_table_model():
    cells = place(
        [
            [Span("a", row_span=2), Span("b", column_span=2)],
            [Span("c"), Span("d")],
            [Span("e", column_span=3)],
        ]
    )
    assert [(c.text, c.row, c.column) for c in cells] == [
        ("a", 0, 0),
        ("b", 0, 1),
        ("c", 1, 1),
        ("d", 1, 2),
        ("e", 2, 0),
    ]


def test_place_clips_hostile_spans():
    cells = place([[Span("x", row_span=65_534, column_span=10**6)], [Span("y")]])
    assert (cells[0].row_span, cells[0].column_span) == (2, MAX_COLUMNS)
    assert len(cells) == 1


def test_row_span_zero_reaches_the_last_row():
    cells = place([[Span("x", row_span=0), Span("1")], [Span("2")], [Span("3")]])
    assert cells[0].row_span == 3
    assert [c.column for c in cells[1:]] == [1, 1, 1]


def test_html_is_compact_escaped_and_marks_headers():
    cells = [
        TableCell(row=0, column=0, column_span=2, text="A & B", header=True),
        TableCell(row=1, column=0, row_span=2, text="<x>"),
        TableCell(row=1, column=1, text="one\ntwo"),
        TableCell(row=2, column=1, text="3"),
    ]
    assert table_html(cells) == (
        '<table><thead><tr><th colspan="2">A &amp; B</th></tr></thead>'
        '<tbody><tr><td rowspan="2">&lt;x&gt;</td><td>one<br>two</td></tr>'
        "<tr><td>3</td></tr></tbody></table>"
    )


def test_text_names_each_value_by_its_headers():
    cells = [
        TableCell(row=0, column=0, row_span=2, text="Year", header=True),
        TableCell(row=0, column=1, column_span=2, text="Sales", header=True),
        TableCell(row=1, column=1, text="Home", header=True),
        TableCell(row=1, column=2, text="Abroad", header=True),
        TableCell(row=2, column=0, row_span=2, text="2023"),
        TableCell(row=2, column=1, text="5"),
        TableCell(row=2, column=2, text="7"),
        TableCell(row=3, column=1, column_span=2, text="n/a"),
    ]
    assert header_height(cells) == 2
    assert table_text(cells) == (
        "Year: 2023; Sales Home: 5; Sales Abroad: 7\nYear: 2023; Sales Home: n/a"
    )


def test_header_cell_that_reaches_into_the_body_stays_out_of_the_head():
    cells = [
        TableCell(row=0, column=0, row_span=3, text="side", header=True),
        TableCell(row=0, column=1, text="top", header=True),
        TableCell(row=1, column=1, text="v"),
        TableCell(row=2, column=1, text="w"),
    ]
    assert header_height(cells) == 0
    assert "<thead>" not in table_html(cells)


def test_header_alone_is_still_found_by_text():
    assert table_text(plain_cells([["a", "b"], ["", ""]])) == "a | b"


def test_split_repeats_the_header_and_cuts_spans():
    cells = plain_cells([["h", "i"], *[[str(n), "x"] for n in range(5)]])
    cells = [c for c in cells if not (c.column == 1 and c.row in (2, 3))]
    cells = [
        c.model_copy(update={"row_span": 3}) if (c.row, c.column) == (1, 1) else c for c in cells
    ]
    pieces = list(split_body(cells, 2))
    assert [max(c.row for c in p) for p in pieces] == [2, 2, 1]
    assert all(p[0].text == "h" and p[0].header for p in pieces)
    spans = [(c.row, c.row_span) for p in pieces for c in p if c.text == "x"]
    assert spans == [(1, 2), (1, 1), (2, 1), (1, 1)]


@given(
    st.lists(
        st.lists(
            st.builds(
                Span,
                st.text(max_size=3),
                st.integers(0, 4),
                st.integers(0, 4),
                st.booleans(),
            ),
            max_size=5,
        ),
        max_size=6,
    )
)
def test_cells_never_overlap_and_text_never_fails(rows):
    cells = place(rows)
    taken = set()
    for cell in cells:
        for r in range(cell.row, cell.row + cell.row_span):
            for c in range(cell.column, cell.column + cell.column_span):
                assert (r, c) not in taken or cell.row_span > 1 or cell.column_span > 1
                taken.add((r, c))
        assert cell.row + cell.row_span <= len(rows)
    table_text(cells)
    table_html(cells)
