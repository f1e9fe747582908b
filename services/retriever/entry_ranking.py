"""How entries that channels found are ranked: fusion, popularity, the threshold. Pure."""

import math
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from functools import cached_property

from libs.contracts.entries import Entry, EntryWeights
from libs.contracts.query.entries import EntryHit
from libs.runtime.index.tokenizer import fold
from services.retriever.fusion import Fused, Ranked, min_max, reciprocal_rank

MIXED = 100
"""Hits of a channel whose scores are mixed."""
FOLDED = 5_000
"""Texts of a table that are kept folded."""


@dataclass(frozen=True)
class Table:
    """The records of one revision in order; a revision never changes."""

    entries: Sequence[Entry]

    @cached_property
    def by_id(self) -> dict[str, int]:
        """The place of each id; of questions, of its first."""
        return {e.id: place for place, e in reversed(list(enumerate(self.entries)))}

    @cached_property
    def most(self) -> int:
        """The highest search count."""
        return max((e.search_count for e in self.entries), default=0)

    def words(self, place: int) -> str:
        """All that an entry says, folded; kept for what queries find again and again."""
        known = self._folded.get(place)
        if known is None:
            if len(self._folded) >= FOLDED:
                self._folded.clear()
            known = self._folded[place] = words_of(self.entries[place])
        return known

    @cached_property
    def _folded(self) -> dict[int, str]:
        return {}


@dataclass
class Channels:
    """Places of entries by channel, best first, each with the channel's score, and the
    similarity of a place on the scale users see."""

    lists: dict[str, list[tuple[int, float]]] = field(default_factory=dict)
    similarity: dict[int, float] = field(default_factory=dict)
    dense: bool = False

    def saw(self, place: int, similarity: float) -> None:
        """The highest similarity of a place counts."""
        self.similarity[place] = max(similarity, self.similarity.get(place, 0.0))


def popularity(count: int, most: int, weight: float) -> float:
    """`weight · (log1p(count) / log1p(most))²`; 0 where nothing was ever counted."""
    return weight * (math.log1p(count) / math.log1p(most)) ** 2 if most > 0 else 0.0


def words_of(entry: Entry) -> str:
    """All that an entry says, as it is compared."""
    words = (entry.name, entry.path, entry.category, *entry.all_keywords(), *entry.texts())
    return fold("\n".join(words))


def coverage(text: str, telling: Sequence[str]) -> float:
    """The share of the query's telling words that stand in the folded text."""
    return sum(fold(word) in text for word in telling) / len(telling) if telling else 0.0


def held(texts: Mapping[int, str], tokens: Sequence[str]) -> dict[int, float]:
    """Of each folded text the share of the tokens that it holds, rare ones counting more: a token
    weighs `log(1 + (n + 1) / (k + ½))` when k of these n texts hold it. All 1 without tokens."""
    wanted = list(dict.fromkeys(tokens))
    if not wanted:
        return dict.fromkeys(texts, 1.0)
    found = {place: [token in text for token in wanted] for place, text in texts.items()}
    counts = [sum(column) for column in zip(*found.values(), strict=True)] if found else []
    weights = [math.log(1 + (len(found) + 1) / (count + 0.5)) for count in counts]
    total = sum(weights)
    return {
        place: sum(w for w, there in zip(weights, row, strict=True) if there) / total
        for place, row in found.items()
    }


def mixed(
    words: Ranked[int], meanings: Ranked[int], share: float, kept: Mapping[int, float]
) -> dict[int, Fused]:
    """`(1 − share) · words · kept + share · meanings`, both min-max-normalised.

    Scaled to its own best, BM25 gives a query that no entry answers word by word a full score
    all the same; the share of the query that an entry holds (`kept`) takes that back. So words
    decide where they answer, meanings where they do not. `docs/quality-entries.md`
    says what it was measured against.

    Bruch, Gai and Ingber (ACM TOIS 2023) scale to the best that a query could reach for the
    same reason.
    """
    parts: dict[int, dict[str, float]] = {}
    for place, value in min_max(words).items():
        parts.setdefault(place, {})["lexical"] = (1.0 - share) * value * kept.get(place, 1.0)
    for place, value in min_max(meanings).items():
        parts.setdefault(place, {})["dense"] = share * value
    return {place: Fused(sum(found.values()), found) for place, found in parts.items()}


def summed(lists: Sequence[Ranked[int]]) -> list[tuple[int, float]]:
    """The places of all lists by the sum of their scores, best first; ties in order of place."""
    total: dict[int, float] = {}
    for hits in lists:
        for place, score in hits:
            total[place] = total.get(place, 0.0) + score
    return sorted(total.items(), key=lambda hit: (-hit[1], hit[0]))


def fuse(
    lists: Mapping[str, Ranked[int]],
    table: Table,
    weights: EntryWeights,
    tokens: Sequence[str] = (),
) -> dict[int, Fused]:
    """The lists fused as the weights say; `tokens` are those of the query's telling words."""
    by_channel: Mapping[str, float] = weights.model_dump(include={"dense", "lexical", "questions"})
    used = {name: hits for name, hits in lists.items() if by_channel[name] > 0}
    if weights.fusion == "rank":
        return reciprocal_rank(used, by_channel, weights.rank_constant)
    words, meanings = used.get("lexical", [])[:MIXED], used.get("dense", [])[:MIXED]
    share = weights.dense_share if words and meanings else float(bool(meanings))
    kept = held({place: table.words(place) for place, _ in words}, tokens)
    fused = mixed(words, meanings, share, kept)
    for place, value in min_max(used.get("questions", [])).items():
        parts = fused[place].parts if place in fused else {}
        parts = {**parts, "questions": weights.questions * value}
        fused[place] = Fused(sum(parts.values()), parts)
    return fused


def ranked(
    channels: Channels,
    table: Table,
    weights: EntryWeights,
    *,
    limit: int,
    allowed: AbstractSet[int] | None = None,
    tokens: Sequence[str] = (),
) -> list[EntryHit]:
    """The best entries at or above the threshold, by fused score plus popularity; what is not
    allowed has no rank. Ties stay in the order of the collection."""
    lists = {
        name: [hit for hit in hits if allowed is None or hit[0] in allowed]
        for name, hits in channels.lists.items()
    }
    found = []
    for place, fused in fuse(lists, table, weights, tokens).items():
        similarity = channels.similarity.get(place, 0.0)
        if similarity < weights.threshold:
            continue
        entry = table.entries[place]
        extra = popularity(entry.search_count, table.most, weights.popularity)
        parts = {**fused.parts, "popularity": extra} if extra else fused.parts
        found.append((fused.score + extra, similarity, place, parts))
    found.sort(key=lambda one: (-one[0], one[2]))
    return [
        EntryHit(
            id=table.entries[place].id,
            name=table.entries[place].name,
            path=table.entries[place].path,
            category=table.entries[place].category,
            image=table.entries[place].image,
            score=score,
            similarity=round(similarity, 4),
            channels=parts,
        )
        for score, similarity, place, parts in found[:limit]
    ]
