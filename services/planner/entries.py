"""Search of entries: normalise the query, find its category, search, and ask again in other
words, a model's or the rules', while what was found is not good enough."""

import asyncio
import re
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace

from libs.contracts.entries import CollectionSettings
from libs.contracts.faults import CallerFault, Code
from libs.contracts.query.entries import (
    Attempt,
    EntryHit,
    FindQuery,
    FoundEntries,
    MatchAnswer,
    MatchQuery,
    Wording,
)
from libs.contracts.subjects import QUERY_MATCH
from libs.runtime.bus import Bus
from libs.runtime.collections import load_settings
from libs.runtime.models.caches import MemoryAnswers
from libs.runtime.models.factory import open_model
from libs.runtime.models.use import ModelUse
from libs.runtime.objects.port import ObjectStore
from libs.runtime.service import Service
from services.planner.analysis.korean import bare
from services.planner.analysis.terms import Terms, load_terms
from services.planner.analysis.words import content_words, meant, words_of
from services.planner.asking import ask_in_time
from services.planner.entry_models import EntryModels
from services.planner.settings import Settings

_PARTICLE = re.compile(r"[은는이가을를에의도만로과와]|으로|에서|부터|까지|에게|한테")
RULE_WORDS = 2
"""So many words of a category's rule make the query one of that category."""
CLEARLY = 0.1
"""By so much what rules say (another wording, no category) must be better than what was asked
before it: similarities are no finer than that."""
MAX_TELLING = 64
LEAST_SECONDS = 0.05


@dataclass(frozen=True)
class Form:
    """One form of the query: what is embedded, what the lexical channel looks for, and who
    worded it."""

    text: str
    words: str
    by: Wording = "query"
    said: str = ""
    """What was said, where an imagined entry is embedded in its place."""


def _letters_alone(settings: CollectionSettings) -> CollectionSettings:
    """The settings for a query without a word (`ㅋㅋ`, `?!`): it has no meaning to be near to, so
    only entries that hold what was typed are found."""
    weights = settings.weights.model_copy(update={"dense": 0.0, "questions": 0.0, "rewrites": 0})
    return settings.model_copy(update={"weights": weights})


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
    found = list(texts)[: 1 + rewrites]
    return [Form(text, wide, "rules" if place else "query") for place, text in enumerate(found)]


class Finder:
    """Answers `query.find`."""

    def __init__(self, bus: Bus, objects: ObjectStore, models: EntryModels | None = None) -> None:
        self._bus = bus
        self._objects = objects
        self._models = models or EntryModels()
        self._terms = load_terms()

    async def find(self, query: FindQuery) -> FoundEntries:
        """The best attempt; a category that rules found is given up where all entries hold
        clearly better ones. Raises 404 for a collection without published entries."""
        request = query.request
        loop = asyncio.get_running_loop()
        end = loop.time() + request.milliseconds / 1000
        settings = await load_settings(self._objects, query.namespace, query.collection)
        if not meant(request.query):
            settings = _letters_alone(settings)
        category = request.category or category_of(request.query, settings.categories)
        made = forms(request.query, settings.synonyms, self._terms, settings.weights.rewrites)
        form: Form | None = made[0]
        best: FoundEntries | None = None
        reached = -1.0
        attempts: list[Attempt] = []
        while form is not None:
            left = end - loop.time()
            if attempts and left <= 0:
                break
            imagined = None
            if settings.weights.hyde:
                imagined = await self._models.imagined(form.text, left)
            asked = replace(form, text=imagined or form.text, said=form.text)
            answer = await self._attempt(query, settings, asked, category, end - loop.time())
            if answer is not None and category and not request.category:
                inside = quality(answer.entries)
                if inside < settings.weights.good_enough:
                    wider = await self._attempt(query, settings, asked, None, end - loop.time())
                    if wider is not None and quality(wider.entries) >= inside + CLEARLY:
                        category, answer = None, wider
            if answer is None:
                break
            if not answer.known:
                raise CallerFault(Code.NOT_FOUND, "the collection has no published entries", 404)
            value = quality(answer.entries)
            attempts.append(
                Attempt(
                    query=form.text,
                    quality=round(value, 4),
                    entries=len(answer.entries),
                    by=form.by,
                    hyde=imagined is not None,
                )
            )
            if value > reached + (CLEARLY if form.by == "rules" else 0.0):
                reached = value
                best = FoundEntries(
                    entries=answer.entries,
                    category=category,
                    dense=answer.dense,
                    corpus_version=answer.corpus_version,
                )
            if value >= settings.weights.good_enough:
                break
            form = await self._next(query, settings, made, attempts, end - loop.time())
        return (best or FoundEntries()).model_copy(update={"attempts": attempts})

    async def _next(
        self,
        query: FindQuery,
        settings: CollectionSettings,
        made: Sequence[Form],
        attempts: Sequence[Attempt],
        left: float,
    ) -> Form | None:
        """What is asked next: a model's wording, else the rules' next one; None after so many
        rewritings as the collection wants."""
        if len(attempts) > settings.weights.rewrites:
            return None
        text = await self._models.reworded(query.request.query, attempts, left)
        if text is not None:
            (form,) = forms(text, settings.synonyms, self._terms, 0)
            return replace(form, by="model")
        tried = {attempt.query for attempt in attempts}
        return next((form for form in made if form.text not in tried), None)

    async def _attempt(
        self,
        query: FindQuery,
        settings: CollectionSettings,
        form: Form,
        category: str | None,
        left: float,
    ) -> MatchAnswer | None:
        seconds = max(left, LEAST_SECONDS)
        said = form.said or form.text
        body = MatchQuery(
            namespace=query.namespace,
            collection=query.collection,
            text=form.text,
            original=query.request.query,
            said=said,
            words=form.words,
            telling=content_words(said)[:MAX_TELLING],
            category=category,
            limit=query.request.top_k,
            weights=settings.weights,
            milliseconds=max(1, int(seconds * 1000)),
        )
        return await ask_in_time(self._bus, QUERY_MATCH, body, MatchAnswer, seconds)


def finder_of(service: Service, settings: Settings) -> Finder:
    """The finder over a service's stores and models, which it loads and closes with the service."""
    models = EntryModels(
        open_model(ModelUse.HYDE, settings), open_model(ModelUse.REWRITE, settings), MemoryAnswers()
    )
    service.soon(models.warm_up, "load the models of entries")
    service.on_end(models.close)
    return Finder(service.bus, service.stores.objects, models)
