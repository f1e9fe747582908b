"""Which tables are ruled."""

import pytest

from eval.parsing.rulings import Lines, PlacedCell, is_ruled

CELLS = [
    PlacedCell((r, r), (c, c), (100.0 * c + 10, 20.0 * r + 5, 100.0 * c + 60, 20.0 * r + 15))
    for r in range(3)
    for c in range(2)
]
ROWS = ((0.0, 200.0, 20.0), (0.0, 200.0, 40.0))
COLUMN = ((0.0, 60.0, 100.0),)


def test_a_grid_is_ruled() -> None:
    assert is_ruled(CELLS, Lines(800, ROWS, COLUMN))


@pytest.mark.parametrize(
    ("horizontal", "vertical"),
    [
        (ROWS, ()),
        ((), COLUMN),
        (((0.0, 200.0, 0.0), (0.0, 200.0, 60.0)), COLUMN),
        (((0.0, 50.0, 20.0), (0.0, 50.0, 40.0)), COLUMN),
    ],
    ids=["rows alone", "columns alone", "rules above and below", "stubs"],
)
def test_what_is_no_grid_is_not(
    horizontal: tuple[tuple[float, float, float], ...],
    vertical: tuple[tuple[float, float, float], ...],
) -> None:
    assert not is_ruled(CELLS, Lines(800, horizontal, vertical))


def test_pieces_of_a_line_cover_it_together_and_overlaps_once() -> None:
    pieces = ((0.0, 70.0, 20.0), (70.0, 140.0, 20.0), (0.0, 60.0, 40.0), (10.0, 60.0, 40.0))
    assert is_ruled(CELLS, Lines(800, pieces, COLUMN)), "one border of two is drawn: half"
    assert not is_ruled(CELLS, Lines(800, pieces[2:], COLUMN))


def test_a_cell_that_spans_says_nothing_about_borders() -> None:
    wide = PlacedCell((0, 0), (0, 1), (10, 5, 160, 15))
    assert is_ruled([wide, *CELLS[2:]], Lines(800, ROWS, COLUMN))


def test_no_cells_no_table() -> None:
    assert not is_ruled([], Lines(800, ROWS, COLUMN))
