"""Keywords without a model: how often a word stands, times how long it is.

Latin words lose stop words; a Korean eojeol loses its particle, and predicates are left out,
which approximates the nouns. Weight = count x length, a Hangul, Han or Kana syllable counting
as two letters: long words that return are what a text is about.
"""

import re
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache

from services.chunker.words import ENGLISH_STOP, KOREAN_STOP, PARTICLES

CHUNK_KEYWORDS = 12
DOCUMENT_KEYWORDS = 30
MAX_WORD = 40

_WORD = re.compile(r"[^\W\d_](?:\w|[-'’·](?=\w))+")
_HANGUL = re.compile(r"[가-힣]+")
_PREDICATE = re.compile(
    r"(?:(?<![마보])다|[어아세예에군네지해나]요|죠|까|[하되있없같]는|[하되]여야?|[하되][고며면지기게던]|"
    r"해[서야도]|했던|되어|(?<![기권제북무상하시])한|(?<!역)할|된|될|있[어고]|없[이고]|으며|지만|으면|아서|어서|려고|"
    r"도록|면서|않[은는])$"
)


@lru_cache(maxsize=1 << 16)
def keyword_of(word: str) -> tuple[str, int] | None:
    """The keyword that a word of running text stands for, with its length, or None."""
    if len(word) > MAX_WORD:
        return None
    hangul = _HANGUL.match(word)
    if hangul is not None and hangul.end() == len(word):
        stem = _noun(word)
        kept = stem is not None and len(stem) > 1 and stem not in KOREAN_STOP
        return (stem, keyword_length(stem)) if stem and kept else None
    plain = word.lower().removesuffix("'s").removesuffix("’s")
    short = len(plain) < (3 if plain.isascii() else 2)
    return None if short or plain in ENGLISH_STOP else (plain, keyword_length(plain))


def weigh(text: str) -> Counter[str]:
    """The keyword candidates of `text` with their weights: count x length. Weights add up."""
    weights: Counter[str] = Counter()
    for word, times in Counter(_WORD.findall(text)).items():
        found = keyword_of(word)
        if found is not None:
            weights[found[0]] += times * found[1]
    return weights


def keyword_length(keyword: str) -> int:
    """Length in letters; a letter beyond U+1100 (Hangul, Han, Kana) counts as two."""
    if keyword.isascii():
        return len(keyword)
    return sum(2 if c >= "\u1100" else 1 for c in keyword)


def top(weights: Counter[str], limit: int) -> list[str]:
    """The `limit` heaviest keywords, heaviest first, ties by the alphabet."""
    heaviest = sorted(weights.values(), reverse=True)[:limit]
    least = heaviest[-1] if heaviest else 0
    kept = [(-weight, word) for word, weight in weights.items() if weight >= least]
    return [word for _, word in sorted(kept)[:limit]]


def overlap(text: str, keywords: Iterable[str]) -> int:
    """Total length of those `keywords` that stand in `text`, whatever is attached to them."""
    lower = text.lower()
    return sum(keyword_length(k) for k in keywords if k in lower)


def _noun(eojeol: str) -> str | None:
    """The eojeol without its particle; None for what ends like a predicate."""
    if len(eojeol) > 2 and _PREDICATE.search(eojeol):
        return None
    for particle in PARTICLES:
        if eojeol.endswith(particle) and len(eojeol) - len(particle) >= 2:
            return eojeol[: -len(particle)]
    return eojeol
