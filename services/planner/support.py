"""Whether what was found has to do with what was asked. Pure.

Two signs, neither of which suffices: how near the nearest piece is to the query, on the
calibrated scale on which one pair of unrelated texts in a hundred is nearer than 0.55; and how
many of the words that tell one piece holds. Questions of several hops hold few of their words
in any one piece, gibberish is near to much of a corpus and none of its words is anywhere. The
best of many unrelated pieces is nearer, and holds more words, than the best of a few, so that
more is asked of a large corpus (Gumbel's extremes), up to what its answerable questions reach.
Measured on 1,072 questions asked of their own sets (79 to 5,400 pieces, Korean and English) and
885 that nothing there answers: 7 of the first are refused and 494 of the others, where one bar
for every size refused 8 and 423. More could be refused for more of the first.
"""

import math
import re
from collections.abc import Sequence
from typing import NamedTuple

from libs.contracts.api.search import RetrievedChunk
from libs.runtime.index.tokenizer import tokenize
from services.planner.analysis.korean import HANGUL
from services.planner.analysis.words import content_words, meant

READ = 1024
"""Characters of a query whose words are looked for."""

_TAG = re.compile(r"<[^<>]{0,200}>")

CERTAIN = 0.7
"""So near, a piece is taken to be about the query without a look at its words."""


class _Bar(NamedTuple):
    """What speaks for a piece by itself: to be so near, each word that it holds making up for
    some of it, or to hold such a share of the words."""

    near: float
    told: float


FEW, MANY = 100, 800
"""Pieces up to which, and from which on, the bar is one and the other."""
OF_FEW, OF_MANY = _Bar(0.61, 1 / 3), _Bar(0.65, 0.4)
WORDS = 0.5
"""What all of the words make up for."""
NEAR_ACROSS, NEAR_ACROSS_TOLD = 0.4, 0.3
"""What a piece in another script has to be, whose words cannot be compared and whose cosines lie
lower; the second where a name or a code is in both. Not for a query none of whose words stands
in pieces of its own script either: those are no words."""


def unsupported(
    query: str,
    chunks: Sequence[RetrievedChunk],
    keywords: Sequence[str] = (),
    *,
    searched: int = 0,
) -> str:
    """Why none of what was found, the best of `searched` pieces, is about the query; empty where
    some of it may be, and where nothing was found. `keywords` are the words that tell, where an
    analysis says which."""
    similar = [(c.similarity or 0.0, c) for c in chunks]
    if not chunks or max(near for near, _ in similar) >= CERTAIN:
        return ""
    words = told_by(" ".join(keywords) or query)
    measured = any(c.similarity is not None for c in chunks)
    if not words:
        wordless = measured and not meant(query)
        return "the query holds no word" if wordless and _far(similar) else ""
    tokens = frozenset[str]().union(*words)
    best, others, bar = 0.0, [], _bar(searched)
    for near, chunk in similar:  # the best pieces come first, and the first that holds ends it
        text = frozenset(tokenize(_text(chunk)))
        signs = _Signs(near, _share(words, text), bool(tokens & text))
        best = max(best, signs.share)
        if signs.reach(bar) if measured else signs.touched:
            return ""
        if _across(query, chunk.content):
            others.append(signs)
    strange = best == 0 and len(others) < len(similar)
    if measured and not strange and any(signs.reach_across(bar) for signs in others):
        return ""
    held = f"{round(best * len(words))} of its {len(words)} words that tell"
    far = " and none is nearer to it than unrelated texts are" if measured else ""
    return f"nothing that was found is about the query: no piece holds more than {held}{far}"


def _far(similar: Sequence[tuple[float, RetrievedChunk]]) -> bool:
    return max(near for near, _ in similar) < OF_FEW.near


def _bar(searched: int) -> _Bar:
    """The bar for a corpus of so many pieces: between `FEW` and `MANY` it rises with their
    logarithm."""
    rise = math.log(max(searched, 1) / FEW) / math.log(MANY / FEW)
    share = min(1.0, max(0.0, rise))
    return _Bar(*(low + share * (high - low) for low, high in zip(OF_FEW, OF_MANY, strict=True)))


class _Signs(NamedTuple):
    """Of one piece: how near it is, the share of the words that it holds, and whether it holds
    so much as a part of one."""

    near: float
    share: float
    touched: bool

    def reach(self, bar: _Bar) -> bool:
        """Whether the piece may be about the query."""
        return self.share >= bar.told or self.near + WORDS * self.share >= bar.near

    def reach_across(self, bar: _Bar) -> bool:
        """The same of a piece in another script."""
        needed = NEAR_ACROSS_TOLD if self.share > 0 else NEAR_ACROSS
        return self.share >= bar.told or self.near >= needed


def told_by(query: str) -> list[frozenset[str]]:
    """The words of a query that tell, each as its tokens."""
    found = (frozenset(tokenize(word)) for word in content_words(query[:READ]))
    return [tokens for tokens in found if tokens]


def covered(words: Sequence[frozenset[str]], chunk: RetrievedChunk) -> float:
    """The share of the words that a chunk holds in its text, table, summary, heading path or
    file name, or in the tables that stand in it."""
    return share_of(words, _text(chunk))


def share_of(words: Sequence[frozenset[str]], text: str) -> float:
    """The share of the words that a text holds. More than half of a word's tokens are enough,
    since Korean compounds are written with spaces and without."""
    return _share(words, frozenset(tokenize(text)))


def _share(words: Sequence[frozenset[str]], held: frozenset[str]) -> float:
    return sum(2 * len(word & held) > len(word) for word in words) / len(words) if words else 0.0


def _text(chunk: RetrievedChunk) -> str:
    tables = [chunk.html, *(asset.html for asset in chunk.embeds)]
    cells = (_TAG.sub(" ", html) for html in tables if html)
    return " ".join((chunk.file_name, *chunk.path, chunk.content, chunk.summary, *cells))


def may_serve(content: str, similarity: float | None, query: str) -> bool:
    """Whether a piece that need hold none of the words is near enough to be of use: words are
    no sign against one in another script."""
    needed = NEAR_ACROSS_TOLD if _across(query, content) else NEAR_ACROSS
    return (similarity or 0.0) >= needed


def _across(query: str, content: str) -> bool:
    """Whether one of both is in Hangul and the other holds none."""
    return bool(HANGUL.search(query)) != bool(HANGUL.search(content))
