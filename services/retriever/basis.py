"""What the channels found for a text, fused: shared by all that search the same at the same
time or soon after, as the first search of an agentic query and its hops do."""

from collections import OrderedDict
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Generic, TypeVar

from libs.runtime.flights import Flights
from libs.runtime.index.port import LexicalQuery, SearchIndex
from libs.runtime.index.tokenizer import tokenize
from libs.runtime.inference.port import Embedder
from services.retriever.channels import CHANNELS, Ask, Found, Key, Weighed, search_channels
from services.retriever.deadline import Deadline
from services.retriever.fusion import Fused, convex, min_max, reciprocal_rank
from services.retriever.scope import Corpus
from services.retriever.settings import Settings
from services.retriever.similarity import calibration_of, in_bigrams

BASES = 64

K = TypeVar("K")
V = TypeVar("V")
_Place = tuple[object, ...]


class Kept(Generic[K, V]):
    """The `most` entries that were used last."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: OrderedDict[K, V] = OrderedDict()

    def get(self, key: K) -> V | None:
        """The entry, which is now the last used."""
        if key in self._kept:
            self._kept.move_to_end(key)
        return self._kept.get(key)

    def put(self, key: K, value: V) -> None:
        """Keep it, in place of the one that was not used for longest."""
        self._kept[key] = value
        self._kept.move_to_end(key)
        if len(self._kept) > self._most:
            self._kept.popitem(last=False)


@dataclass(frozen=True)
class Basis:
    """What was found, and one score a chunk. Shared: not to be changed."""

    found: Found
    fused: dict[Key, Fused]

    @cached_property
    def dense(self) -> dict[Key, float]:
        """The scores of the dense channel, scaled to 0…1."""
        return min_max(self.found.lists.get("dense", []))

    @cached_property
    def cosines(self) -> dict[Key, float]:
        """The cosines of the dense channel."""
        return dict(self.found.lists.get("dense", []))

    @property
    def whole(self) -> bool:
        """Whether every channel that counts took part."""
        return not self.found.unfinished and not self.found.model_away


class Bases:
    """Finds, or knows, the basis of a text; the last whole ones are kept."""

    def __init__(self, index: SearchIndex, embedder: Embedder | None, settings: Settings) -> None:
        self._index = index
        self._embedder = embedder
        self._settings = settings
        self._kept: Kept[_Place, Basis] = Kept(BASES)
        self._flights: Flights[_Place, Basis] = Flights()

    async def find(self, ask: Ask, corpus: Corpus, depth: int, limit: Deadline) -> Basis:
        """The basis, `depth` hits a channel; with what others who ask for the same have not
        found in their time, where this one has more."""
        named = (ask.named, ask.named_limit) if ask.named else None
        words = tuple(ask.words.tokens)
        asked = (ask.namespace, ask.text, words, ask.types, named, ask.wider)
        place = (*asked, corpus.version, corpus.revns, depth)
        known = self._kept.get(place)
        if known is not None:
            return known

        async def search() -> Basis:
            found = await search_channels(
                self._index, self._embedder, ask, corpus, weighed(self._settings, ask.words),
                depth, limit,
            )  # fmt: skip
            return Basis(found, self._fuse(found, corpus, ask.text, ask.words))

        basis, own = await self._flights.join(place, search)
        if not own and basis.found.unfinished:
            basis = await search()
        if basis.whole:
            self._kept.put(place, basis)
        return basis

    def _fuse(
        self, found: Found, corpus: Corpus, text: str, words: LexicalQuery
    ) -> dict[Key, Fused]:
        """One score a chunk from the lists of the channels, by the settings' mix."""
        s = self._settings
        lists = {name: found.lists.get(name, []) for name in ("path", "content", "term")}
        dense = found.lists.get("dense", [])
        if not dense or s.retriever_mix_dense == 0:
            return reciprocal_rank(lists, _rank_weights(s), s.retriever_rrf_k)
        calibration = calibration_of(self._embedder.model if self._embedder else "")
        most = min(s.retriever_mix_dense, calibration.share(text))
        shares = corpus.dense_shares(most, {key[0] for key in found.chunk_ids})
        return convex(
            lists["content"],
            dense,
            shares={key: shares[key[0]] for key in found.chunk_ids if key[0] in shares},
            floor=calibration.passages.median,
            extra={name: (lists[name], weight) for name, weight in _mix_weights(s, words).items()},
        )


def _rank_weights(settings: Settings) -> dict[str, float]:
    return {
        "path": settings.retriever_weight_path,
        "content": settings.retriever_weight_content,
        "term": settings.retriever_weight_term,
    }


def _mix_weights(settings: Settings, words: LexicalQuery) -> dict[str, float]:
    """Of the channels beside the convex mix of content and dense."""
    return {
        "path": settings.retriever_mix_path,
        "term": settings.retriever_mix_term if _substrings(words) else 0.0,
    }


def _substrings(words: LexicalQuery) -> tuple[str, ...]:
    """The terms that substrings are looked for of beside vectors, where one is of several
    tokens: a phrase, a code, a word of a script without spaces; with words in such a script
    that are one token. One in letters the content channel finds by itself, and what the term
    channel adds to it are parts of other words (`art` in `party`).
    """
    if not any(map(_is_of_several, words.terms)):
        return ()
    return tuple(t for t in words.terms if _is_of_several(t) or in_bigrams(t))


@lru_cache(maxsize=4096)
def _is_of_several(term: str) -> bool:
    return len(tokenize(term)) > 1


def weighed(settings: Settings, words: LexicalQuery) -> Weighed:
    """The channels that count for a query; one without weight is not searched."""
    ranks, mix = _rank_weights(settings), {"content": 1.0, **_mix_weights(settings, words)}
    dense = settings.retriever_mix_dense > 0
    return Weighed(
        frozenset(name for name in CHANNELS if dense and mix[name] > 0),
        frozenset(name for name in CHANNELS if ranks[name] > 0),
        _substrings(words),
    )
