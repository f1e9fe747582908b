"""Strings that must and must not come out."""

import pytest

from eval.parsing.model import FoundHeading, Parsed, Strings
from eval.parsing.strings import compare_strings, plain

PARSED = Parsed(
    markdown="# Title\n\n- one **item**\n\n<table><tr><td>a</td><td>b &amp; c</td></tr></table>\n",
    plain="Author Name",
    headings=(FoundHeading("Title", 1),),
)


def test_text_counts_whatever_its_markup() -> None:
    wanted = Strings(
        present=("one item", "| a | b & c |", "a\tb &amp; c", "* one", "Author Name"),
        present_markup=("<li>one <b>item</b></li>",),
    )
    seen = compare_strings(wanted, PARSED)
    assert (seen.present, seen.present_of, seen.missing) == (6, 6, ())


def test_what_is_not_there_is_named() -> None:
    seen = compare_strings(Strings(present=("one", "two")), PARSED)
    assert (seen.present, seen.present_of, seen.missing) == (1, 2, ("two",))


def test_a_string_that_is_a_heading_must_be_one() -> None:
    seen = compare_strings(Strings(present=("## Title", "# one item")), PARSED)
    assert seen.missing == ("# one item",)


@pytest.mark.parametrize(
    "text", ['class="javascript"', "TikaMemoryLimitException", "| --- | --- |"]
)
def test_markup_and_exceptions_of_the_other_parser_are_not_asked(text: str) -> None:
    assert compare_strings(Strings(present=(text,)), PARSED).present_of == 0


def test_markup_without_text_is_not_asked() -> None:
    wanted = Strings(present_markup=("<table><tbody>", '<img src="a.png" alt="a"'))
    assert compare_strings(wanted, PARSED).present_of == 0


def test_what_must_stay_out_may_still_be_metadata() -> None:
    seen = compare_strings(Strings(absent=("one", "Author")), PARSED)
    assert (seen.absent, seen.absent_of, seen.intruding) == (1, 2, ("one",))


def test_absence_is_not_asked_of_what_another_assertion_wants() -> None:
    assert compare_strings(Strings(present=("one item",), absent=("item",)), PARSED).absent_of == 0


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("![alt text](a.png)", "alt text"),
        ('[Bill](/wiki/Bill_(x) "Bill") was', "Bill was"),
        ("non\u00adbreaking\u00a0space", "nonbreaking space"),
        ("> quoted `code`", "quoted code"),
        ('cut <a href="x', "cut"),
        ("1 < 2 > 0", "1 < 2 > 0"),
    ],
)
def test_plain_text(text: str, shown: str) -> None:
    assert plain(text) == shown
