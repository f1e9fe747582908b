"""Walking section trees, and what `query.navigate` finds around a chunk."""

from types import SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from libs.contracts.api.ingest import DocumentMetadata
from libs.contracts.artefacts import Chunk, ChunkMetadata
from libs.contracts.artefacts.nav import NavSection
from libs.contracts.faults import Code, WorldFault
from libs.contracts.query.navigate import NavigateAnswer, NavigateQuery
from libs.runtime.catalog.documents import ActiveRevision, ActiveSet
from libs.runtime.graph.port import Neighbour
from libs.runtime.index.port import Hit, LexicalQuery, Scope
from libs.runtime.index.tokenizer import tokenize
from services.retriever.navigate import Navigator
from services.retriever.retrieve import Retriever
from services.retriever.settings import Settings
from services.retriever.tree import COLLECTION, Tree

ORDER = ["pump", "a", "aa", "ab", "b", "ba", "c", "d"]


def node(name: str, *children: NavSection, summary: str = "") -> NavSection:
    return NavSection(
        section_id=name, title=name, path=[name], level=1, order=ORDER.index(name),
        summary=summary, chunk_ids=[f"t-{name}"], chunk_count=1, children=list(children),
    )  # fmt: skip


PUMP = node(
    "pump",
    node("a", node("aa", summary="seal"), node("ab", summary="grease seal")),
    node("b", node("ba"), summary="seal grease oil"),
    node("c", summary="grease"),
    node("d"),
)


def worth(section: NavSection) -> float:
    return float(len(section.summary.split()))


def names(start: str, **bounds: int) -> list[tuple[str, int, bool]]:
    limits = {"width": 3, "depth": 2, "most": 9, **bounds}
    tree = Tree(PUMP)
    reached = tree.walk(tree.holding[f"t-{start}"], worth, **limits)
    return [(r.section.section_id, r.steps, r.opened) for r in reached]


def test_the_walk_is_breadth_first_and_takes_the_best_of_each_level() -> None:
    assert names("a") == [("b", 1, True), ("ab", 1, True), ("aa", 1, True), ("c", 1, False)]
    assert names("a", width=4) == [
        ("b", 1, True), ("ab", 1, True), ("aa", 1, True), ("c", 1, True),
    ]  # fmt: skip


def test_depth_width_and_number_bound_it() -> None:
    assert names("aa") == [("ab", 1, True)]
    assert names("d", depth=1) == [("b", 1, True), ("c", 1, True)]
    assert names("a", width=1) == [("b", 1, True), ("ab", 1, False)]
    assert names("a", most=1) == [
        ("b", 1, True),
        ("ab", 1, False),
        ("aa", 1, False),
        ("c", 1, False),
    ]
    assert names("a", depth=0) == names("a", most=0) == names("a", width=0) == []


def test_a_level_of_very_many_sections_is_not_walked() -> None:
    for count, reached in ((COLLECTION, COLLECTION - 1), (COLLECTION + 1, 0)):
        sections = [node("a").model_copy(update={"section_id": f"s{n}", "chunk_ids": [f"t{n}"]})
                    for n in range(count)]  # fmt: skip
        tree = Tree(node("pump", *sections))
        walk = tree.walk(
            tree.holding["t0"], lambda s: float(s.title == "a"), width=99, depth=1, most=99
        )
        assert len(walk) == reached


def test_what_is_worth_nothing_is_neither_opened_nor_named() -> None:
    assert "d" not in {name for name, _, _ in names("a", width=9)}


@given(st.integers(0, 4), st.integers(0, 3), st.integers(0, 6), st.sampled_from("abcd"))
def test_no_bound_is_passed(width: int, depth: int, most: int, start: str) -> None:
    reached = names(start, width=width, depth=depth, most=most)
    assert len({name for name, _, _ in reached}) == len(reached)
    assert sum(opened for _, _, opened in reached) <= most
    assert all(0 < steps <= depth for _, steps, _ in reached)


CHUNKS = {
    (1, "t-a"): "The pump is cleaned.", (1, "t-b"): "Grease the seal with oil.",
    (1, "t-ab"): "Nothing here.", (1, "t-aa"): "A seal of rubber.", (2, "t2"): "Oil for a seal.",
}  # fmt: skip


class Stores:
    """Two documents: one with the tree above, and one that the graph joins to it."""

    def __init__(self, *, away: Exception | None = None) -> None:
        self.away = away

    async def corpus_version(self, namespace: str) -> int:
        return 7

    async def active_set(self, namespace: str) -> ActiveSet:
        return ActiveSet(7, tuple(
            ActiveRevision(n, f"d{n}", 1, f"d{n}.md", "default", "md", DocumentMetadata(), 9, None)
            for n in (1, 2)
        ))  # fmt: skip

    async def sections(self, revn: int) -> NavSection | None:
        return PUMP if revn == 1 else None

    async def named(self, keys: list[tuple[int, str]]) -> dict[tuple[int, str], Chunk]:
        return {key: made(key) for key in keys if key in CHUNKS}

    async def fetch(self, keys: list[tuple[int, int]]) -> dict[tuple[int, int], Chunk]:
        return {key: made((2, "t2")) for key in keys if key[0] == 2}

    async def search(
        self, channel: str, query: LexicalQuery, scope: Scope, limit: int
    ) -> list[Hit]:
        return [Hit(2, 0, "t2", 1.0)] if scope.revns == frozenset({2}) else []

    async def neighbours(self, namespace: str, revn: int, limit: int) -> list[Neighbour]:
        if self.away:
            raise self.away
        return [Neighbour(2, "d2", 0.9, ("pump", "seal", "oil"))] if revn == 1 else []


def made(key: tuple[int, str]) -> Chunk:
    return Chunk(
        chunk_id=key[1], type="text", content=CHUNKS[key], path=[key[1][2:]], order=0,
        metadata=ChunkMetadata(length=4, tokens=1, content_hash="sha256:0"),
    )  # fmt: skip


async def navigate(stores: Stores, words: str = "seal grease oil", **fields: Any) -> NavigateAnswer:
    catalog = SimpleNamespace(documents=stores, chunks=stores)
    settings = Settings(_env_file=None)  # type: ignore[call-arg]
    retriever = Retriever(
        cast(Any, catalog), cast(Any, stores), None, settings,
        lambda text: LexicalQuery(tokenize(text)),
    )  # fmt: skip
    body = {
        "namespace": "acme", "question": "pump", "words": tokenize(words),
        "starts": [{"document_id": "d1", "chunk_id": "t-a"}], **fields,
    }  # fmt: skip
    return await Navigator(retriever, cast(Any, stores)).navigate(
        NavigateQuery.model_validate(body)
    )


async def test_sections_around_a_chunk_are_opened_for_the_words_that_are_open() -> None:
    answer = await navigate(Stores())
    told = [(s.title, s.via, s.opened, [h.chunk_id for h in s.hits]) for s in answer.sections]
    assert told == [
        ("b", "section", True, ["t-b"]),
        ("ab", "section", True, []),
        ("aa", "section", True, ["t-aa"]),
        ("c", "section", False, []),
        ("", "graph", True, ["t2"]),
    ]
    assert answer.sections[0].hits[0].covered == 1.0
    assert answer.sections[2].hits[0].covered == pytest.approx(1 / 3)


async def test_excluded_sections_and_documents_are_not_entered() -> None:
    filters = {
        "exclude_document_ids": ["d2"],
        "exclude_sections": [{"document_id": "d1", "section_path": ["b"]}],
    }
    answer = await navigate(Stores(), filters=filters)
    assert [h.chunk_id for s in answer.sections for h in s.hits] == ["t-aa"]


async def test_without_open_words_or_bounds_nothing_is_entered() -> None:
    assert (await navigate(Stores(), words="")).sections == []
    assert (await navigate(Stores(), sections=0, related=0)).sections == []


@pytest.mark.parametrize("fault", [WorldFault(Code.STORE_AWAY, "gone"), TimeoutError()])
async def test_a_graph_that_is_away_leaves_the_sections(fault: Exception) -> None:
    answer = await navigate(Stores(away=fault))
    assert answer.unfinished == ["graph"]
    assert {s.via for s in answer.sections} == {"section"}
