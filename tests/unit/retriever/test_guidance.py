"""What an analysis does to a retrieval: each of its fields, on a small corpus."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from libs.contracts.api.ingest import DocumentMetadata
from libs.contracts.api.search import RetrieveAnswer, RetrieveQuery, SearchFilters
from libs.contracts.artefacts import Chunk, ChunkMetadata
from libs.contracts.query.analysis import (
    HardFilters,
    NormalizedQuery,
    QueryAnalysis,
    SoftFilters,
)
from libs.contracts.query.countries import country_code
from libs.runtime.catalog.documents import ActiveRevision, ActiveSet
from libs.runtime.index.port import Hit, LexicalQuery, Scope
from services.retriever.channels import Ask, Found, Key, Weighed, Wider, search_channels
from services.retriever.deadline import deadline
from services.retriever.fusion import Fused
from services.retriever.guidance import (
    EXPANSION_WEIGHT,
    SYNONYM_WEIGHT,
    attempts,
    raised,
    telling,
    widened,
)
from services.retriever.retrieve import Retriever
from services.retriever.scope import Corpus
from services.retriever.settings import Settings

META = {
    1: ("pdf", DocumentMetadata(year=2022, country="KR", domain="Engineering")),
    2: ("md", DocumentMetadata(year=2023, country="Japan", document_type="Report")),
    3: ("pdf", DocumentMetadata(domain="Programming/AI_ML")),
}
TEXTS = {
    (1, 0): "pump pressure", (1, 1): "the pump guard rail", (1, 2): "pump oil",
    (2, 0): "pump article 12", (3, 0): "Pump   Guard Rail", (3, 1): "pump act",
}  # fmt: skip


class Stores:
    """Three documents; every chunk matches every query, in the order of the keys."""

    async def corpus_version(self, namespace: str) -> int:
        return 7

    async def active_set(self, namespace: str) -> ActiveSet:
        return ActiveSet(7, tuple(
            ActiveRevision(n, f"doc{n}", 1, f"{n}.{f}", "default", f, meta, 30, None)
            for n, (f, meta) in META.items()
        ))  # fmt: skip

    async def search(
        self, channel: str, query: LexicalQuery, scope: Scope, limit: int
    ) -> list[Hit]:
        keys = [key for key in sorted(TEXTS) if key[0] in scope.revns]
        if channel == "term":

            def held(key: tuple[int, int]) -> bool:
                text = " ".join(TEXTS[key].casefold().split())
                return any(term.casefold() in text for term in query.terms)

            keys = [key for key in keys if held(key)]
        return [Hit(r, o, f"t{r}{o}", 20.0 - i) for i, (r, o) in enumerate(keys[:limit])]

    async def fetch(self, keys: list[tuple[int, int]]) -> dict[tuple[int, int], Chunk]:
        return {
            key: Chunk(
                chunk_id=f"t{key[0]}{key[1]}", type="text", content=TEXTS[key], path=[],
                order=key[1],
                metadata=ChunkMetadata(length=4, tokens=1, content_hash="sha256:0"),
            )
            for key in keys
        }  # fmt: skip


def analysis(**fields: Any) -> QueryAnalysis:
    return QueryAnalysis(
        normalized_queries=[NormalizedQuery(lang="en", text="pump", weight=1.0)],
        analyzer_confidence=0.9, **fields,
    )  # fmt: skip


async def retrieve(
    understood: QueryAnalysis | None, *, settings: dict[str, Any] | None = None, **fields: Any
) -> RetrieveAnswer:
    stores = Stores()
    catalog = SimpleNamespace(documents=stores, chunks=stores)
    known = Settings(_env_file=None, **(settings or {}))  # type: ignore[call-arg]
    retriever = Retriever(
        cast(Any, catalog), cast(Any, stores), None, known, lambda text: LexicalQuery([text], []),
    )  # fmt: skip
    asked = {"top_k": 5, **fields}
    query = RetrieveQuery(namespace="default", query="pump", analysis=understood, **asked)
    return await retriever.retrieve(query)


def ids(answer: RetrieveAnswer) -> list[str]:
    return [chunk.chunk_id for chunk in answer.chunks]


UNBOOSTED = {"retriever_boost_named": 0.0}
PLAIN = ["t10", "t11", "t12", "t20", "t30"]


async def test_who_looks_further_than_what_is_wanted_has_no_small_corpus_by_it() -> None:
    answer = await retrieve(None, whole=5, top_k=100)
    assert (answer.strategy, len(answer.chunks)) == ("fusion", len(TEXTS))


async def test_an_analysis_that_states_nothing_changes_nothing() -> None:
    assert ids(await retrieve(None)) == PLAIN
    assert ids(await retrieve(analysis())) == PLAIN


@pytest.mark.parametrize(
    ("filters", "documents"),
    [
        ({"year": 2023}, {"doc2", "doc3"}),
        ({"year": 2022}, {"doc1", "doc3"}),
        ({"country": ["JP"]}, {"doc2", "doc3"}),
        ({"file_format": ["md"]}, {"doc2"}),
        ({"file_format": ["pdf"], "year": 2022}, {"doc1", "doc3"}),
    ],
)
async def test_a_hard_filter_leaves_out_documents_that_differ(
    filters: dict[str, Any], documents: set[str]
) -> None:
    answer = await retrieve(analysis(hard_filters=HardFilters(**filters)))
    assert {chunk.document_id for chunk in answer.chunks} == documents
    assert answer.relaxed_filters == []
    assert (answer.stage, answer.tried_ms) == ("strict", {})


@pytest.mark.parametrize(
    ("filters", "relaxed"),
    [
        ({"year": 1999}, ["year"]),
        ({"file_format": ["hwp"], "country": ["FR"]}, ["file_format", "country"]),
    ],
)
async def test_a_hard_filter_that_leaves_nothing_is_given_up_and_said(
    filters: dict[str, Any], relaxed: list[str]
) -> None:
    answer = await retrieve(analysis(hard_filters=HardFilters(**filters)))
    assert ids(answer) == PLAIN
    assert answer.relaxed_filters == relaxed
    assert (answer.stage, list(answer.tried_ms)) == ("relaxed", ["strict"])
    assert answer.tried_ms["strict"] > 0


async def test_filters_of_the_request_are_never_given_up() -> None:
    answer = await retrieve(
        analysis(hard_filters=HardFilters(year=2023)), filters={"document_ids": ["doc1"]}
    )
    assert {chunk.document_id for chunk in answer.chunks} == {"doc1"}
    assert answer.relaxed_filters == ["year"]
    nothing = await retrieve(analysis(), filters={"year": 1999})
    assert (ids(nothing), nothing.strategy, nothing.relaxed_filters) == ([], "empty", [])


async def test_a_phrase_is_required_in_keywords_and_not_in_a_question() -> None:
    phrase = {"phrases": ["guard rail"]}
    keyword = await retrieve(analysis(query_type="keyword", **phrase))
    assert (ids(keyword), keyword.relaxed_filters) == (["t11", "t30"], [])
    question = analysis(query_type="natural_language", **phrase)
    assert ids(await retrieve(question, settings=UNBOOSTED)) == PLAIN
    assert ids(await retrieve(question))[0] == "t11"


async def test_a_phrase_that_is_nowhere_is_given_up_and_said() -> None:
    answer = await retrieve(analysis(query_type="phrase", phrases=["not there"]))
    assert ids(answer) == PLAIN
    assert answer.relaxed_filters == ["phrases"]
    assert (answer.stage, list(answer.tried_ms)) == ("reduced", ["strict"])


async def test_stages_follow_each_other_until_one_leaves_something() -> None:
    wanted = analysis(query_type="phrase", phrases=["not there"], hard_filters={"year": 1999})
    answer = await retrieve(wanted)
    assert ids(answer) == PLAIN
    assert answer.relaxed_filters == ["phrases", "year"]
    assert (answer.stage, list(answer.tried_ms)) == ("relaxed", ["strict", "reduced"])
    nothing = await retrieve(wanted, filters={"document_ids": ["elsewhere"]})
    assert (nothing.chunks, nothing.stage) == ([], "relaxed")
    assert list(nothing.tried_ms) == ["strict", "reduced"]


async def test_must_terms_are_required_where_the_step_is_strict() -> None:
    understood = analysis(must_terms=["article 12"])
    loose = await retrieve(understood, settings=UNBOOSTED)
    assert ids(loose) == PLAIN
    assert ids(await retrieve(understood, strict=True)) == ["t20"]


async def test_named_terms_raise_their_chunks_and_more_for_a_fact() -> None:
    boost = {"retriever_boost_named": 0.3}
    for_fact, for_search = [
        await retrieve(analysis(must_terms=["article 12"], intent=intent), settings=boost)
        for intent in ("fact_lookup", "semantic_search")
    ]
    assert ids(for_fact)[0] == ids(for_search)[0] == "t20"
    assert set(ids(for_search)) == set(PLAIN)
    assert for_fact.chunks[0].channels["named"] == pytest.approx(
        2 * for_search.chunks[0].channels["named"]
    )


@pytest.mark.parametrize(
    ("soft", "first"),
    [
        ({"document_type": ["Report"]}, "t20"),
        ({"domain": ["Programming"]}, "t30"),
        ({"domain": ["Programming/AI_ML"]}, "t30"),
        ({"domain": ["Engineering/Mechanical"]}, "t10"),
        ({"domain": ["Philosophy"]}, "t10"),
    ],
)
async def test_a_soft_filter_raises_and_leaves_nobody_out(
    soft: dict[str, list[str]], first: str
) -> None:
    answer = await retrieve(
        analysis(soft_filters=SoftFilters(**soft)), settings={"retriever_boost_soft": 0.5}
    )
    assert ids(answer)[0] == first
    assert len(answer.chunks) == 5


async def test_browsing_lists_documents_before_further_chunks_of_one() -> None:
    answer = await retrieve(analysis(intent="filter_browse"))
    documents = [chunk.document_id for chunk in answer.chunks]
    assert documents == ["doc1", "doc2", "doc3", "doc1", "doc1"]


@pytest.mark.parametrize(
    ("text", "code"),
    [("KR", "KR"), ("kr", "KR"), ("대한민국", "KR"), ("U.S.A.", "US"), ("United  States", "US"),
     ("nowhere", None), ("", None)],
)  # fmt: skip
def test_countries_are_compared_by_code(text: str, code: str | None) -> None:
    assert country_code(text) == code


def other(text: str, weight: float) -> NormalizedQuery:
    return NormalizedQuery(lang="ko", text=text, weight=weight)


def test_what_an_analysis_adds_is_looked_for_by_its_weight() -> None:
    understood = QueryAnalysis(
        normalized_queries=[other("pump oil", 1.0), other("펌프 oil", 0.8)],
        synonyms={"pump": ["compressor unit"]},
        expanded_terms=["unit", "lubricant"],
        analyzer_confidence=0.9,
    )
    assert widened(understood, ["pump", "oil"]) == (
        Wider(("펌프",), 0.8),
        Wider(("compressor", "unit"), SYNONYM_WEIGHT),
        Wider(("lubric",), EXPANSION_WEIGHT),
    )


@pytest.mark.parametrize(
    ("lang", "optional", "words"),
    [
        ("ko", ["사다리", "교육"], ("제1", "1조", "사다", "다리", "교육")),
        ("ko", [f"말{n}" for n in range(8)], ()),
        ("en", ["ladder"], ()),
    ],
)
def test_a_korean_query_is_asked_by_the_words_that_tell(
    lang: str, optional: list[str], words: tuple[str, ...]
) -> None:
    understood = QueryAnalysis(
        normalized_queries=[
            NormalizedQuery.model_validate({"lang": lang, "text": "q", "weight": 1.0})
        ],
        must_terms=["제1조"], optional_terms=optional, analyzer_confidence=0.9,
    )  # fmt: skip
    assert set(telling(understood)) >= set(words)
    assert bool(telling(understood)) is bool(words)
    [guidance] = attempts(understood, own=["other"])
    stores = SimpleNamespace(documents=None, chunks=None)
    settings = Settings(_env_file=None)  # type: ignore[call-arg]
    retriever = Retriever(
        cast(Any, stores),
        cast(Any, None),
        None,
        settings,
        lambda text: LexicalQuery(["own"], ["t"]),
    )
    asked = retriever.ask("acme", "q", SearchFilters(), guidance).words
    assert asked == LexicalQuery(list(telling(understood)) or ["own"], ["t"])


async def scores_of(*wider: Wider) -> dict[Key, float]:
    """Of three chunks, the last two of which hold a further word, by the content channel."""

    class Index:
        async def search(
            self, channel: str, query: LexicalQuery, scope: Scope, limit: int
        ) -> list[Hit]:
            if channel != "content":
                return []
            own = [Hit(1, 0, "t0", 9.0), Hit(1, 1, "t1", 8.5)]
            return own if query.tokens == ["pump"] else [Hit(1, 1, "t1", 2.0), Hit(1, 2, "t2", 2.0)]

    found = await search_channels(
        cast(Any, Index()), None, Ask("default", "pump", LexicalQuery(["pump"]), None, wider=wider),
        Corpus(7, [], None), Weighed(frozenset(), frozenset({"content"})), 10, deadline(None),
    )  # fmt: skip
    return dict(found.lists["content"])


async def test_further_words_add_their_share_of_their_own_score() -> None:
    assert await scores_of() == {(1, 0): 9.0, (1, 1): 8.5}
    assert await scores_of(Wider(("oil",), 0.5)) == {(1, 1): 9.5, (1, 0): 9.0, (1, 2): 1.0}
    assert await scores_of(Wider(("oil",), 0.1)) == {(1, 0): 9.0, (1, 1): 8.7, (1, 2): 0.2}


def revision(revn: int, **known: Any) -> ActiveRevision:
    known = DocumentMetadata(**known)
    return ActiveRevision(revn, f"d{revn}", 1, "a.md", "default", "md", known, 1, None)


@pytest.mark.parametrize(
    ("fields", "first"),
    [
        ({}, 1),
        ({"domain_hint": "news"}, 2),
        ({"domain_hint": "mixed"}, 1),
        ({"language_scope": "global"}, 0),
    ],
)
def test_a_hint_at_news_and_the_languages_asked_raise_their_documents(
    fields: dict[str, Any], first: int
) -> None:
    corpus = Corpus(7, [
        revision(1, language="fr"), revision(2, language="ko"),
        revision(3, language="en", source_kind="news"),
    ], None)  # fmt: skip
    fused = {(n, 0): Fused(1.0 - n / 1000, {}) for n in (1, 2, 3)}
    [guidance] = attempts(analysis(**fields))
    scored = raised(fused, Found(), corpus, guidance, named_weight=0, soft_weight=0.1)
    assert max(scored, key=lambda key: scored[key].score) == (first + 1, 0)
    assert scored.keys() == fused.keys()
