"""KorQuAD's paragraphs printed as books, and its questions with the page that answers."""

import json
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any

from eval.pages.paper import Paper

FONT = "NanumMyeongjo"
PARAGRAPHS = 320
"""Of one book: about a hundred pages."""

_BLANK = re.compile(r"\s+")


@dataclass(frozen=True)
class Question:
    """A question of the set and the words around its answer."""

    question_id: str
    text: str
    before: str
    answer: str


def books(source: Path) -> Iterator[tuple[Paper, list[Question]]]:
    """The articles, each a section, in as many books as they fill."""
    articles: list[dict[str, Any]] = json.loads(source.read_text("utf-8"))["data"]
    shelf: list[dict[str, Any]] = []
    for article in articles:
        shelf.append(article)
        if sum(len(one["paragraphs"]) for one in shelf) >= PARAGRAPHS:
            yield _book(shelf)
            shelf = []
    if shelf:
        yield _book(shelf)


def _book(articles: Sequence[dict[str, Any]]) -> tuple[Paper, list[Question]]:
    paper = Paper("백과 읽기", FONT, size=13)
    questions: list[Question] = []
    for article in articles:
        paper.heading(1, article["title"].replace("_", " "))
        for paragraph in article["paragraphs"]:
            context = paragraph["context"]
            paper.paragraph(context)
            for one in paragraph["qas"]:
                answer = one["answers"][0]
                start = answer["answer_start"]
                questions.append(
                    Question(one["id"], one["question"], context[:start], answer["text"])
                )
    return paper, questions


class Pages:
    """The text of pages without white space, in which answers are found."""

    def __init__(self, pages: Sequence[str]) -> None:
        texts = [_BLANK.sub("", page) for page in pages]
        self._whole = "".join(texts)
        self._ends = list(accumulate(map(len, texts)))

    def of(self, question: Question) -> int | None:
        """The page on which the answer begins, counted from 1; None where the words before it
        are not found."""
        before = _BLANK.sub("", question.before[-60:])[-24:]
        place = self._whole.find(before + _BLANK.sub("", question.answer))
        return None if place < 0 else bisect_right(self._ends, place + len(before)) + 1
