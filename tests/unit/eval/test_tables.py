"""TEDS with values computed by hand, and tables between HTML and grids."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.parsing.tables import cells_html, grid_cells, html_cells, html_tables, teds
from libs.contracts.artefacts.rows import TableCell

TWO_BY_TWO = "<table><tr><td>abcd</td><td>b</td></tr><tr><td>c</td><td>d</td></tr></table>"


def test_equal_tables_are_alike_whatever_their_groups_headers_and_white_space() -> None:
    other = (
        "<table>\n<thead><tr><th> abcd </th><th>b</th></tr></thead>"
        "<tbody><tr><td>c</td><td>\n d</td></tr></tbody></table>"
    )
    assert teds(TWO_BY_TWO, other) == 1.0


def test_a_letter_of_four_costs_a_quarter_of_one_of_six_nodes() -> None:
    assert teds(TWO_BY_TWO, TWO_BY_TWO.replace("abcd", "abxd")) == pytest.approx(1 - 0.25 / 6)


def test_a_row_that_is_lost_costs_its_three_nodes() -> None:
    found = "<table><tr><td>abcd</td><td>b</td></tr></table>"
    assert teds(TWO_BY_TWO, found) == pytest.approx(1 - 3 / 6)


def test_rows_that_changed_places_cost_their_texts() -> None:
    first = "<table><tr><td>a</td></tr><tr><td>b</td></tr></table>"
    second = "<table><tr><td>b</td></tr><tr><td>a</td></tr></table>"
    assert teds(first, second) == pytest.approx(1 - 2 / 4)


def test_a_lost_span_costs_the_cell_and_the_cells_put_in_its_place() -> None:
    truth = '<table><tr><td colspan="2">h</td></tr><tr><td>a</td><td>b</td></tr></table>'
    found = "<table><tr><td>h</td><td></td></tr><tr><td>a</td><td>b</td></tr></table>"
    assert teds(truth, found) == pytest.approx(1 - 2 / 6)


def test_what_is_no_table_has_nothing_in_common_with_one() -> None:
    assert teds(TWO_BY_TWO, "text") == 0.0


def test_a_table_inside_a_cell_is_text_of_the_cell() -> None:
    inner = "<table><tr><td>y</td></tr></table>"
    text = f"<p>a</p><table><tr><td>x{inner}</td></tr></table><table></table>"
    assert len(html_tables(text)) == 2
    assert [c.text for c in html_cells(html_tables(text)[0])] == ["x y"]


def test_cells_stand_where_the_spans_above_and_before_leave_room() -> None:
    html = (
        '<table><tr><td rowspan="2">a</td><td colspan="2">b</td></tr>'
        "<tr><td>c</td><td>d</td></tr></table>"
    )
    places = [(c.text, c.row, c.column, c.row_span, c.column_span) for c in html_cells(html)]
    assert places == [("a", 0, 0, 2, 1), ("b", 0, 1, 1, 2), ("c", 1, 1, 1, 1), ("d", 1, 2, 1, 1)]


@pytest.mark.parametrize("span", ["0", "-1", "x", "", "99999999"])
def test_odd_spans_do_no_harm(span: str) -> None:
    (cell,) = html_cells(f'<table><tr><td colspan="{span}">a</td></tr></table>')
    assert 1 <= cell.column_span <= 1000


def test_empty_places_of_a_grid_are_empty_cells() -> None:
    cells = grid_cells([["a", None], ["b  c"]])
    assert [(c.row, c.column, c.text) for c in cells] == [(0, 0, "a"), (0, 1, ""), (1, 0, "b c")]


TEXTS = st.text(alphabet="ab<& 한", max_size=4).map(lambda t: " ".join(t.split()))
GRIDS = st.integers(1, 3).flatmap(
    lambda width: st.lists(st.lists(TEXTS, min_size=width, max_size=width), min_size=1, max_size=3)
)


@given(GRIDS)
def test_cells_survive_html(grid: list[list[str]]) -> None:
    cells = grid_cells(grid)
    assert html_cells(cells_html(cells)) == cells


@given(GRIDS, GRIDS)
def test_it_is_a_symmetric_similarity(first: list[list[str]], second: list[list[str]]) -> None:
    one, other = cells_html(grid_cells(first)), cells_html(grid_cells(second))
    assert teds(one, other) == pytest.approx(teds(other, one))
    assert 0.0 <= teds(one, other) <= 1.0
    assert teds(one, one) == 1.0


def test_rows_without_a_cell_of_their_own_are_kept() -> None:
    cells = [TableCell(row=0, column=0, row_span=2, text="a"), TableCell(row=0, column=1, text="b")]
    cells.append(TableCell(row=2, column=0, text="c"))
    assert cells_html(cells).count("<tr>") == 3
