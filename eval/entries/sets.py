"""Entries and the questions asked of them: read, chosen by strata, kept out of what is indexed."""

import csv
import random
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

BUCKETS = ("seldom", "sometimes", "often")
NEAR = 0.8
"""Character bigrams that two questions share, of all in either, to be near-duplicates."""
_SILENT = re.compile(r"[^\w]+", re.UNICODE)


@dataclass(frozen=True)
class Question:
    """A question, the entry that it asks for, and who wrote it (`human`, or a model's name)."""

    entry_id: str
    text: str
    source: str = "human"


@dataclass(frozen=True)
class Leak:
    """A question that stands in what is indexed, or nearly so."""

    question: str
    indexed: str
    likeness: float


def read(path: Path) -> list[dict[str, str]]:
    """The rows of a CSV file."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def read_questions(path: Path) -> list[Question]:
    """A file of `id`, `question` and, where it is known, `source`."""
    return [
        Question(row["id"], row["question"], row.get("source") or "human") for row in read(path)
    ]


def buckets(counts: Mapping[str, int]) -> dict[str, str]:
    """Each entry's third by how often it is looked for; equal counts in the order of ids."""
    ordered = sorted(counts, key=lambda key: (counts[key], key))
    return {key: BUCKETS[3 * place // len(ordered)] for place, key in enumerate(ordered)}


def choose(
    questions: Sequence[Question], counts: Mapping[str, int], size: int, seed: int = 7
) -> list[Question]:
    """So many questions: one of each entry of the most popular third first, human ones before
    others, then the rest at random; in the order in which they were given. Equal input and seed
    give equal sets; questions for unknown entries are left out."""
    known = [q for q in questions if q.entry_id in counts]
    drawn = random.Random(seed)
    shuffled = drawn.sample(known, len(known))
    human_first = sorted(shuffled, key=lambda q: q.source != "human")
    third = buckets(counts)
    popular: dict[str, Question] = {}
    for question in human_first:
        if third[question.entry_id] == BUCKETS[-1]:
            popular.setdefault(question.entry_id, question)
    first = sorted(popular.values(), key=lambda q: (-counts[q.entry_id], q.entry_id))[:size]
    taken = set(first)
    rest = [q for q in shuffled if q not in taken][: size - len(first)]
    chosen = taken | set(rest)
    return [q for q in dict.fromkeys(known) if q in chosen]


def plain(text: str) -> str:
    """The text as it is compared: NFKC, case-folded, without spaces and punctuation."""
    return _SILENT.sub("", unicodedata.normalize("NFKC", text).casefold())


def likeness(one: str, other: str) -> float:
    """1 for equal plain texts, else the Jaccard index of their character bigrams."""
    if one == other:
        return 1.0
    a, b = ({text[at : at + 2] for at in range(len(text) - 1)} for text in (one, other))
    return len(a & b) / len(a | b) if a | b else 0.0


def leaks(questions: Iterable[Question], indexed: Iterable[str], near: float = NEAR) -> list[Leak]:
    """Questions that what is indexed (sample questions, names, keywords) gives away."""
    texts = {plain(text): text for text in indexed if plain(text)}
    found = []
    for question in questions:
        asked = plain(question.text)
        if not asked:
            continue
        best = 1.0 if asked in texts else 0.0
        source = texts.get(asked, "")
        for text, original in texts.items() if not source else ():
            value = likeness(asked, text)
            if value > best:
                best, source = value, original
        if best >= near:
            found.append(Leak(question.text, source, round(best, 3)))
    return found


def indexed_texts(
    entries: Iterable[Mapping[str, str]], samples: Iterable[Question]
) -> Iterable[str]:
    """What of a collection a question must not equal: names, keywords, sample questions."""
    for row in entries:
        yield row["name"]
        yield from (word.strip() for word in (row.get("keywords") or "").split(","))
    for sample in samples:
        yield sample.text
