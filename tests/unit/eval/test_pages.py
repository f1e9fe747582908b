"""The long documents that are made for judging pages, and where their truth comes from."""

import pytest

from eval.pages.annual import Report
from eval.pages.books import Pages, Question
from eval.pages.english import ENGLISH
from eval.pages.korean import KOREAN
from eval.pages.wording import Wording


@pytest.mark.parametrize("wording", [ENGLISH, KOREAN], ids=["en", "ko"])
def test_a_figure_that_is_asked_for_stands_once_or_beside_the_next_year(wording: Wording) -> None:
    report = Report(wording)
    source = report.write().source()
    kinds = set()
    for query, fact in report.questions():
        times = source.count(f">{fact.value}<")
        kinds.add(fact.kind)
        assert 1 <= times <= (2 if fact.kind == "statement" else 1), query
        assert fact.names["year"] in query
    assert kinds == {"segment", "statement", "note"}


def test_a_report_is_the_same_every_time() -> None:
    first, second = Report(ENGLISH), Report(ENGLISH)
    assert first.write().source() == second.write().source()
    assert first.questions() == second.questions()


def test_an_answer_is_on_the_page_on_which_it_begins() -> None:
    pages = Pages(["The tower was\nbuilt by", "Hana in 1410 and by Mina in 1410", "by nobody"])
    asked = Question(
        "q", "When did Mina build?", "was built by Hana in 1410 and by Mina in ", "1410"
    )
    assert pages.of(asked) == 2
    assert pages.of(Question("q", "Who?", "The tower was built by ", "Hana")) == 2
    assert pages.of(Question("q", "Who?", "The tower was ", "built")) == 1
    assert pages.of(Question("q", "Who?", "never printed ", "1410")) is None
