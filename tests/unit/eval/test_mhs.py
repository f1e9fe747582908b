"""MHS, with values computed by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.parsing.mhs import heading_tree, mhs

TRUTH = "# A\nx\n# B\ny"


def test_equal_texts_have_a_similarity_of_one_whatever_the_levels() -> None:
    assert mhs(TRUTH, TRUTH) == 1.0
    assert mhs(TRUTH, "### A\nx\n## B\ny") == 1.0


def test_a_heading_that_is_lost_costs_itself_its_content_and_the_text_it_leaves() -> None:
    found = "# A\nx\nB\ny"
    # five nodes; `B` and `y` are deleted, the content "x" becomes "x B y": 4 of 5 letters
    assert mhs(TRUTH, found) == pytest.approx(1 - (2 + 4 / 5) / 5)


def test_headings_that_changed_places_cost_both_titles_and_both_contents() -> None:
    assert mhs(TRUTH, "# B\ny\n# A\nx") == pytest.approx(1 - 4 / 5)


def test_text_under_the_wrong_heading_costs_a_move() -> None:
    assert mhs("# A\nx\n# B", "# A\n# B\nx") == pytest.approx(1 - 2 / 4)


def test_without_a_heading_in_the_truth_there_is_no_score() -> None:
    assert mhs("only text", "# A") is None
    assert mhs("#hashtag\n####### seven", "# A") is None


def test_without_a_heading_in_the_result_the_score_is_zero() -> None:
    assert mhs(TRUTH, "A\nx\nB\ny") == 0.0


def test_content_before_the_first_heading_belongs_to_the_document() -> None:
    tree = heading_tree("first\n\n# A  b\nsecond\nthird")
    assert [(n.label, n.text) for n in tree.children] == [("content", "first"), ("heading", "A b")]
    assert [n.text for n in tree.children[1].children] == ["second third"]


LINES = st.lists(st.sampled_from(["# A", "## B", "x", "y z", ""]), max_size=8).map("\n".join)


@given(LINES, LINES)
def test_it_lies_between_zero_and_one_and_is_one_for_itself(first: str, second: str) -> None:
    value = mhs(first, second)
    assert value is None or 0.0 <= value <= 1.0
    assert mhs(first, first) in (None, 1.0)
