"""Cell adjacency, with relations counted by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.parsing.adjacency import Relation, compare, f_score, normalise, relations
from eval.parsing.model import FoundTable
from eval.parsing.tables import cells_html, grid_cells
from libs.contracts.artefacts.rows import TableCell


def table(*rows: list[str], page: int = 1) -> FoundTable:
    cells = grid_cells(rows)
    return FoundTable(frozenset({page}), cells, cells_html(cells))


def cell(text: str, row: int, column: int, down: int = 1, across: int = 1) -> TableCell:
    return TableCell(row=row, column=column, row_span=down, column_span=across, text=text)


def test_four_cells_have_four_relations() -> None:
    found = relations(table(["A", "b"], ["c", "d"]).cells)
    assert set(found) == {
        Relation("a", "b", "right"),
        Relation("c", "d", "right"),
        Relation("a", "c", "below"),
        Relation("b", "d", "below"),
    }


def test_blank_cells_are_skipped() -> None:
    assert set(relations(table(["a", " ", "b"], ["", "", "c"]).cells)) == {
        Relation("a", "b", "right"),
        Relation("b", "c", "below"),
    }


def test_a_span_is_next_to_every_cell_along_its_side_once() -> None:
    cells = [cell("h", 0, 0, across=2), cell("a", 1, 0), cell("b", 1, 1), cell("r", 0, 2, down=2)]
    assert set(relations(cells)) == {
        Relation("h", "a", "below"),
        Relation("h", "b", "below"),
        Relation("a", "b", "right"),
        Relation("h", "r", "right"),
        Relation("b", "r", "right"),
    }


def test_equal_relations_count_as_often_as_they_stand() -> None:
    assert relations(table(["1", "1", "1"]).cells) == {Relation("1", "1", "right"): 2}


def test_text_is_compared_without_case_width_and_white_space() -> None:
    assert normalise(" Ａb\n C ") == "abc"


def test_the_same_tables_are_perfect() -> None:
    seen = compare([table(["a", "b"])], [table(["a", "b"])])
    assert (seen.precision, seen.recall) == (1.0, 1.0)


def test_columns_that_changed_places_keep_what_stands_above_each_other() -> None:
    seen = compare([table(["a", "b"], ["c", "d"])], [table(["b", "a"], ["d", "c"])])
    assert (seen.shared, seen.expected, seen.predicted) == (2, 4, 4)


def test_a_false_table_costs_precision_alone() -> None:
    seen = compare([table(["a", "b"])], [table(["a", "b"]), table(["x", "y", "z"])])
    assert seen.precision == pytest.approx(1 / 3)
    assert seen.recall == 1.0


def test_of_two_halves_only_the_larger_counts_for_the_table() -> None:
    truth = [table(["a"], ["b"], ["c"], ["d"])]
    seen = compare(truth, [table(["a"], ["b"]), table(["b"], ["c"], ["d"])])
    assert seen.matches[0].found == 1
    assert seen.shared == 2


def test_tables_of_other_pages_never_match() -> None:
    seen = compare([table(["a", "b"])], [table(["a", "b"], page=2)])
    assert seen.shared == 0
    assert seen.matches[0].found is None
    assert seen.matches[0].recall == 0.0


def test_nothing_predicted_has_no_precision() -> None:
    seen = compare([table(["a", "b"])], [])
    assert (seen.precision, seen.recall) == (0.0, 0.0)


def test_f_is_the_harmonic_mean() -> None:
    assert f_score(0.5, 1.0) == pytest.approx(2 / 3)
    assert f_score(0.0, 0.0) == 0.0


GRIDS = st.lists(st.lists(st.sampled_from("ab "), min_size=3, max_size=3), max_size=3)


@given(GRIDS, GRIDS)
def test_shares_stay_between_none_and_all(first: list[list[str]], second: list[list[str]]) -> None:
    seen = compare([table(*first)], [table(*second)])
    assert 0 <= seen.shared <= min(seen.expected, seen.predicted)
    assert seen.expected == sum(m.expected for m in seen.matches)
