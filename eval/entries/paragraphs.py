"""A set of long descriptions out of a reading set: paragraphs stand for services, and questions
that have lost their most telling words for those of people who do not know them.

The JSON is that of SQuAD and KorQuAD; what is made of it lies in a folder of the caller's and is
for measuring alone.
"""

import csv
import json
import math
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from libs.runtime.index.tokenizer import tokenize

SEED = 3
IDS = "question-ids.txt"
"""Beside the set, where only some of its questions are to be used."""


def write(
    source: Path, folder: Path, *, entries: int, questions: int, without: float
) -> tuple[Path, Path]:
    """`entries.csv` (id, name, text) and `questions.csv` (id, question) of so many paragraphs and
    questions, drawn alike each time. A share of `without` of the words of each question, the
    rarest of the paragraphs first, is left out."""
    listed = source.with_name(IDS)
    ids = set(listed.read_text().split()) if listed.exists() else None
    drawn = random.Random(SEED)
    paragraphs = [
        (article["title"], paragraph["context"], asked)
        for article in json.loads(source.read_text(encoding="utf-8"))["data"]
        for paragraph in article["paragraphs"]
        if (asked := [q["question"] for q in paragraph["qas"] if ids is None or q["id"] in ids])
    ]
    chosen = drawn.sample(paragraphs, min(entries, len(paragraphs)))
    held = Counter(token for _, text, _ in chosen for token in set(tokenize(text)))
    rows = [(f"P{n:04}", title, text) for n, (title, text, _) in enumerate(chosen)]
    asked_of = [
        (f"P{n:04}", shortened(question, held, without))
        for n, (_, _, asked) in enumerate(chosen)
        for question in asked
    ]
    told = [(key, question) for key, question in asked_of if question]
    told = drawn.sample(told, min(questions, len(told)))
    places = folder / "entries.csv", folder / "questions.csv"
    _csv(places[0], ("id", "name", "text"), rows)
    _csv(places[1], ("id", "question"), told)
    return places


def shortened(question: str, held: Mapping[str, int], without: float) -> str:
    """The question without this share of its words: those go first whose rarest token is held by
    the fewest texts, but by one; words that no text holds stay."""
    words = question.split()
    counts = [min((held[t] for t in tokenize(w) if t in held), default=math.inf) for w in words]
    order = sorted(range(len(words)), key=lambda n: (counts[n], n))
    gone = set(order[: round(without * len(words))])
    return " ".join(word for n, word in enumerate(words) if n not in gone)


def _csv(path: Path, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(heads)
        writer.writerows(rows)
