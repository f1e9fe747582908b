"""Extractive summaries: sentences of the text itself, at most 200 characters."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from libs.contracts.artefacts.chunk import canonical_text
from services.chunker.keywords import overlap
from services.chunker.text import sentences, shorten

SUMMARY_CHARACTERS = 200
CANDIDATES = 40
"""Sentences of a section that compete; later ones seldom say what it is about."""


def lead(text: str) -> str:
    """The first sentences of canonical text that fit; the head of the first where none does."""
    taken = ""
    for gap, sentence in sentences(text[: 2 * SUMMARY_CHARACTERS]):
        longer = f"{taken}{gap}{sentence}"
        if len(longer) > SUMMARY_CHARACTERS:
            break
        taken = longer
    return taken.strip() or shorten(text, SUMMARY_CHARACTERS)


def best_sentence(texts: Iterable[str], keywords: Sequence[str]) -> str:
    """The sentence that holds most of `keywords`, by their total length; the first of equals."""
    candidates = list(islice(_candidates(texts), CANDIDATES))
    if not candidates:
        return ""
    best = max(candidates, key=lambda sentence: overlap(sentence, keywords))
    return shorten(best, SUMMARY_CHARACTERS)


def _candidates(texts: Iterable[str]) -> Iterator[str]:
    """Sentences, none of them across lines: a list has no full stops."""
    for text in texts:
        for line in text.split("\n"):
            plain = canonical_text(line)
            if plain:
                yield from (sentence for _, sentence in sentences(plain))
