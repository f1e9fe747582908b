"""NID, with values computed by hand, and its Markdown conventions."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.parsing.nid import nid, normalise, pipe_cells, tables_as_html


def test_equal_texts_are_alike_whatever_their_white_space() -> None:
    assert nid("# One\n\ntwo  three\n", "# One two\nthree") == 1.0


def test_one_letter_in_four_costs_an_insertion_and_a_deletion() -> None:
    assert nid("abcd", "abxd") == pytest.approx(1 - 2 / 8)


def test_blocks_in_the_wrong_order_cost_the_shorter_one_twice() -> None:
    assert nid("aaaaaa bb", "bb aaaaaa") == pytest.approx(1 - 2 * 3 / 18)


def test_nothing_expected_gives_no_score_and_nothing_found_gives_none_of_it() -> None:
    assert nid(" \n", "text") is None
    assert nid("text", "") == 0.0


def test_emphasis_is_not_text() -> None:
    assert normalise("a ***bold** word*, ~~gone~~ and 2 * 3") == "a bold word, gone and 2 * 3"


def test_pipe_tables_and_html_tables_are_the_same_table() -> None:
    pipes = "before\n| A | B |\n|---|:-:|\n| 1 < 2 |\nafter"
    html = (
        "before\n<table><tr><th>A</th><th>B</th></tr>"
        "<tr><td>1 &lt; 2</td><td></td></tr></table>\nafter"
    )
    assert tables_as_html(pipes) == html


@pytest.mark.parametrize("line", ["a | b", "", "plain", "a|"])
def test_a_line_that_does_not_begin_with_a_pipe_is_no_row(line: str) -> None:
    assert pipe_cells(line) is None


def test_an_escaped_pipe_stays_in_its_cell() -> None:
    assert pipe_cells(r"| a \| b | c |") == ["a | b", "c"]


@given(st.text(max_size=60), st.text(max_size=60))
def test_it_is_a_symmetric_similarity(first: str, second: str) -> None:
    one, other = nid(first, second), nid(second, first)
    if one is not None and other is not None:
        assert one == pytest.approx(other)
        assert 0.0 <= one <= 1.0
    if one is not None:
        assert nid(first, first) == 1.0
