import pytest

from libs.contracts.artefacts.chunk import Chunk, ChunkMetadata
from libs.contracts.entries import Entry
from libs.runtime.graph.port import GraphNode
from libs.runtime.index.port import EMPTY_DIGEST, Digest
from services.indexer.documents import index_documents
from services.indexer.edges import overlap_score, possible_edges
from services.indexer.parity import Held, ParityError, held_chunks, prove


def node(revn: int, document_id: str, words: str) -> GraphNode:
    return GraphNode(revn, document_id, frozenset(words.split()))


def test_overlap_is_shared_length_over_the_smaller_total() -> None:
    one, other = frozenset({"abcd", "ef", "g"}), frozenset({"abcd", "ef", "hijklmnop"})
    assert overlap_score(one, other) == 6 / 7
    assert overlap_score(frozenset(), one) == 0.0


def test_edges_need_three_shared_keywords_and_a_score_of_four_fifths() -> None:
    me = node(9, "me", "alpha beta gamma delta")
    found = possible_edges(
        me,
        [
            node(1, "two", "alpha beta"),
            node(2, "same", "alpha beta gamma delta"),
            node(3, "most", "alpha beta gamma delta other"),
            node(4, "weak", "alpha beta gamma otherwise different"),
            node(5, "me", "alpha beta gamma delta"),
        ],
    )
    assert [(e.edge_id, e.score) for e in found] == [("2:9", 1.0), ("3:9", 1.0)]
    assert found[0].shared == ("alpha", "beta", "delta", "gamma")
    assert all(e.revn_a == 9 for e in found)


def test_only_the_newest_revision_of_a_document_is_joined() -> None:
    words = "alpha beta gamma"
    found = possible_edges(node(9, "me", words), [node(1, "a", words), node(7, "a", words)])
    assert [e.revn_b for e in found] == [7]


def test_parity_names_the_store_and_what_differs() -> None:
    right = Digest(3, "d" * 64)
    prove(5, held_chunks("catalog", right, right), Held("graph", (1, "x"), (1, "x"), "edges"))
    with pytest.raises(ParityError, match="revision 5: the catalog holds 0 chunks where 3 belong"):
        prove(5, held_chunks("catalog", right, EMPTY_DIGEST))
    with pytest.raises(ParityError, match="search index holds 3 chunks as expected, but other"):
        prove(5, held_chunks("search index", right, Digest(3, "e" * 64)))
    with pytest.raises(ParityError, match="the graph holds 2 edges where 1 belong"):
        prove(5, Held("graph", (1, "x"), (2, "y"), "edges"))


def chunk(content: str, path: list[str], summary: str) -> Chunk:
    metadata = ChunkMetadata(length=1, tokens=1, content_hash="x", summary=summary)
    return Chunk(chunk_id="t1", type="text", content=content, path=path, order=4, metadata=metadata)


def test_index_documents_hold_title_headings_content_and_file_name() -> None:
    mark = "[[table:tabc]]"
    (document,) = index_documents(
        [chunk(f"Some text.\n\n{mark}\n\nMore.", ["Act", "Scope"], "Some text.")],
        title="Report",
        file_name="a.md",
        tokenize=str.split,
    )
    assert document.content_tokens == ["Report", "Act", "Scope", "Some", "text.", "More."]
    assert document.path_tokens == ["a.md", "Act", "Scope"]
    assert document.term_text.startswith("Act > Scope\nSome text.")
    assert "tabc" not in document.term_text
    assert (document.chunk_id, document.order, document.type) == ("t1", 4, "text")


def test_a_title_that_is_the_first_heading_counts_once_and_a_described_image_speaks() -> None:
    (document,) = index_documents(
        [chunk("Photo", ["Act"], "A bridge at night")],
        title="Act",
        file_name="a",
        tokenize=str.split,
    )
    assert document.content_tokens == ["Act", "Photo", "A", "bridge", "at", "night"]


def test_an_entry_weighs_name_and_keywords_twice_and_leaves_siblings_out() -> None:
    entry = Entry(id="1", name="send", keywords=["pay"], path="a", text="money", category="cash")
    held = chunk("send. others of this category: refund", ["cash"], "")
    held = held.model_copy(update={"metadata": held.metadata.model_copy(update={"entry": entry})})
    (document,) = index_documents([held], title="T", file_name="menu.csv", tokenize=str.split)
    assert document.content_tokens == ["send", "pay", "send", "pay", "a", "money", "cash"]
    assert "refund" not in document.term_text
