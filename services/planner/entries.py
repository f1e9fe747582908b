"""Search of entries: normalise the query, find its category, search, and ask again by rules
while what was found is not good enough."""

import asyncio
import re
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from libs.contracts.entries import CollectionSettings
from libs.contracts.faults import CallerFault, Code
from libs.contracts.query.entries import (
    Attempt,
    EntryHit,
    FindQuery,
    FoundEntries,
    MatchAnswer,
    MatchQuery,
)
from libs.contracts.subjects import QUERY_MATCH
from libs.runtime.bus import Bus
from libs.runtime.collections import load_settings
from libs.runtime.objects.port import ObjectStore
from services.planner.analysis.korean import bare
from services.planner.analysis.terms import Terms, load_terms
from services.planner.analysis.words import content_words, words_of
from services.planner.asking import ask_in_time

_PARTICLE = re.compile(r"[은는이가을를에의도만로과와]|으로|에서|부터|까지|에게|한테")
RULE_WORDS = 2
"""So many words of a category's rule make the query one of that category."""
MAX_TELLING = 64


@dataclass(frozen=True)
class Form:
    """One form of the query: what is embedded, and what the lexical channel looks for."""

    text: str
    words: str


def quality(entries: Sequence[EntryHit]) -> float:
    """`0.7 · top 1 + 0.3 · mean of the top 3`, of similarities; 0 for nothing."""
    best = [entry.similarity for entry in entries[:3]]
    return 0.7 * best[0] + 0.3 * sum(best) / len(best) if best else 0.0


def category_of(query: str, rules: Mapping[str, Sequence[str]]) -> str | None:
    """The category two of whose rule words, or more, stand in the query; None when none or two
    categories have equally many."""
    said = {bare(word).casefold() for word in words_of(query)} | {
        word.casefold() for word in words_of(query)
    }
    counts = {name: len({w.casefold() for w in words} & said) for name, words in rules.items()}
    most = max(counts.values(), default=0)
    named = [name for name, count in counts.items() if count == most]
    return named[0] if most >= RULE_WORDS and len(named) == 1 else None


def synonyms_of(word: str, groups: Sequence[Sequence[str]], terms: Terms) -> list[str]:
    """Other words for this one: the collection's first, then the packaged table's."""
    folded = word.casefold()
    own = [w for group in groups if folded in map(str.casefold, group) for w in group]
    return [w for w in dict.fromkeys([*own, *terms.equals(word)]) if w.casefold() != folded]


def stem(word: str, known: AbstractSet[str]) -> str:
    """The word, or the known one of a single syllable that a particle follows in it (`돈을`):
    `bare` leaves two syllables at least, since it knows no words."""
    short = word[:1].casefold()
    return short if short in known and _PARTICLE.fullmatch(word[1:]) else word


def forms(query: str, groups: Sequence[Sequence[str]], terms: Terms, rewrites: int) -> list[Form]:
    """The query as it stands, then rewritten by rules: its telling words alone, then these with
    a synonym in each one's place. Synonyms widen the lexical words of every form."""
    known = {word.casefold() for group in groups for word in group}
    telling = list(dict.fromkeys(stem(w, known) for w in content_words(query))) or [query]
    equal = {word: synonyms_of(word, groups, terms) for word in telling}
    wide = " ".join(dict.fromkeys([*telling, *(w for words in equal.values() for w in words)]))
    exchanged = " ".join((equal[word] or [word])[0] for word in telling)
    texts = dict.fromkeys([query, " ".join(telling), exchanged])
    return [Form(text, wide) for text in list(texts)[: 1 + rewrites]]


class Finder:
    """Answers `query.find`."""

    def __init__(self, bus: Bus, objects: ObjectStore) -> None:
        self._bus = bus
        self._objects = objects
        self._terms = load_terms()

    async def find(self, query: FindQuery) -> FoundEntries:
        """The best attempt. Raises 404 for a collection without published entries."""
        request = query.request
        loop = asyncio.get_running_loop()
        end = loop.time() + request.milliseconds / 1000
        settings = await load_settings(self._objects, query.namespace, query.collection)
        category = request.category or category_of(request.query, settings.categories)
        groups, rewrites = settings.synonyms, settings.weights.rewrites
        best: FoundEntries | None = None
        reached = -1.0
        attempts: list[Attempt] = []
        for form in forms(request.query, groups, self._terms, rewrites):
            left = end - loop.time()
            if attempts and left <= 0:
                break
            answer = await self._attempt(query, settings, form, category, max(left, 0.05))
            if answer is not None and not answer.entries and category and not request.category:
                category = None
                left = max(end - loop.time(), 0.05)
                answer = await self._attempt(query, settings, form, None, left)
            if answer is None:
                break
            if not answer.known:
                raise CallerFault(Code.NOT_FOUND, "the collection has no published entries", 404)
            value = quality(answer.entries)
            found = len(answer.entries)
            attempts.append(Attempt(query=form.text, quality=round(value, 4), entries=found))
            if value > reached:
                reached = value
                best = FoundEntries(
                    entries=answer.entries,
                    category=category,
                    dense=answer.dense,
                    corpus_version=answer.corpus_version,
                )
            if value >= settings.weights.good_enough:
                break
        return (best or FoundEntries()).model_copy(update={"attempts": attempts})

    async def _attempt(
        self,
        query: FindQuery,
        settings: CollectionSettings,
        form: Form,
        category: str | None,
        seconds: float,
    ) -> MatchAnswer | None:
        body = MatchQuery(
            namespace=query.namespace,
            collection=query.collection,
            text=form.text,
            original=query.request.query,
            words=form.words,
            telling=content_words(form.text)[:MAX_TELLING],
            category=category,
            limit=query.request.top_k,
            weights=settings.weights,
            milliseconds=max(1, int(seconds * 1000)),
        )
        return await ask_in_time(self._bus, QUERY_MATCH, body, MatchAnswer, seconds)
