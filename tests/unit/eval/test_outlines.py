"""Headings against an outline."""

import pytest

from eval.parsing.model import FoundHeading as H
from eval.parsing.outlines import compare_outline, title_keys

TRUTH = [H("1 Introduction", 1, 3), H("Aim", 2, 3), H("Method", 1, 5)]


def test_the_same_headings_are_perfect() -> None:
    seen = compare_outline(TRUTH, TRUTH)
    assert (seen.recall, seen.precision, seen.levels, seen.shift) == (1.0, 1.0, 1.0, 0)


def test_a_missed_and_an_extra_heading() -> None:
    seen = compare_outline(TRUTH, [TRUTH[0], TRUTH[2], H("Not there", 2, 4)])
    assert seen.recall == pytest.approx(2 / 3)
    assert seen.precision == pytest.approx(2 / 3)
    assert [h.text for h in seen.missed] == ["Aim"]
    assert [h.text for h in seen.extra] == ["Not there"]


def test_levels_that_all_moved_down_by_one_agree() -> None:
    found = [H("The Title", 1, 1)] + [H(h.text, h.level + 1, h.page) for h in TRUTH]
    seen = compare_outline(TRUTH, found)
    assert (seen.levels, seen.shift) == (1.0, 1)
    assert seen.precision == 1.0, "the title page is before the outline's first page"
    assert seen.strict_precision == pytest.approx(3 / 4)


def test_levels_that_changed_places_do_not_agree() -> None:
    found = [H("Introduction", 2, 3), H("Aim", 1, 3), H("Method", 2, 5)]
    seen = compare_outline(TRUTH, found)
    assert (seen.shift, seen.levels) == (1, pytest.approx(2 / 3))


def test_the_outline_is_silent_below_its_deepest_level() -> None:
    seen = compare_outline(TRUTH, [*TRUTH, H("Detail", 3, 5), H("Wrong", 2, 5)])
    assert seen.precision == pytest.approx(3 / 4)


def test_a_title_matches_once_and_on_its_own_page() -> None:
    truth = [H("Summary", 1, 2), H("Summary", 1, 9)]
    assert compare_outline(truth, [H("Summary", 1, 9)]).matched == 1
    assert compare_outline(truth, [H("Summary", 1, 5)]).matched == 0
    assert compare_outline(truth, [H("Summary", 1), H("Summary", 1)]).matched == 2


def test_a_title_may_differ_a_little_when_it_is_long() -> None:
    assert compare_outline([H("The build system", 1, 1)], [H("The buıld system", 1, 1)]).matched
    assert not compare_outline([H("Aims", 1, 1)], [H("Arms", 1, 1)]).matched


@pytest.mark.parametrize(
    ("title", "keys"),
    [
        ("1.2.3 Getting started", {"123gettingstarted", "gettingstarted"}),
        ("Chapter 4. Scope", {"chapter4scope", "scope"}),
        ("Appendix A Rules", {"appendixarules", "rules"}),
        ("제2장 목적", {"제2장목적"}),
        ("R and S", {"rands", "ands"}),
        ("7", {"7"}),
        ("…", set()),
    ],
)
def test_titles_are_compared_with_and_without_their_number(title: str, keys: set[str]) -> None:
    assert title_keys(title) == keys


def test_nothing_found_and_nothing_expected() -> None:
    assert compare_outline(TRUTH, []).recall == 0.0
    assert compare_outline(TRUTH, []).precision == 0.0
    assert compare_outline([], []).recall == 1.0
