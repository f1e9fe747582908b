"""Others beside ours: BM25 alone, in this process, over title and text of whole passages.

Both are given our tokens, so that what differs is the ranking: bm25s with k1 .9, b .4, the
setting of published baselines (Pyserini, BEIR); tantivy with its fixed k1 1.2, b .75.
"""

from collections.abc import Callable, Sequence
from importlib.metadata import version
from typing import Any

from eval.retrieval.config import PeerName
from eval.retrieval.model import Case, Passage
from libs.runtime.index.tokenizer import tokenize

DEPTH = 10
K1, B = 0.9, 0.4
Rankings = list[tuple[str, ...]]


def rank_with_bm25s(passages: Sequence[Passage], cases: Sequence[Case]) -> Rankings:
    """The first passages of each case."""
    import bm25s

    retriever = bm25s.BM25(method="lucene", k1=K1, b=B)  # type: ignore[no-untyped-call]
    retriever.index([_tokens(p) for p in passages], show_progress=False)
    asked = [tokenize(case.query) or [""] for case in cases]
    k = min(DEPTH, len(passages))
    found, scores = retriever.retrieve(asked, k=k, show_progress=False)
    return [
        tuple(passages[int(n)].passage_id for n, s in zip(row, worth, strict=True) if s > 0)
        for row, worth in zip(found, scores, strict=True)
    ]


def rank_with_tantivy(passages: Sequence[Passage], cases: Sequence[Case]) -> Rankings:
    """The first passages of each case."""
    import tantivy

    builder = tantivy.SchemaBuilder()
    builder.add_text_field("body", stored=False, tokenizer_name="whitespace")
    builder.add_unsigned_field("number", stored=True)
    schema = builder.build()
    index = tantivy.Index(schema)
    writer = index.writer(heap_size=64 << 20, num_threads=1)
    for number, passage in enumerate(passages):
        document = tantivy.Document.from_dict(
            {"body": " ".join(_tokens(passage)), "number": number}, schema
        )
        writer.add_document(document)
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    searcher = index.searcher()

    def one(case: Case) -> tuple[str, ...]:
        clauses = [
            (tantivy.Occur.Should, tantivy.Query.term_query(schema, "body", token))
            for token in tokenize(case.query)
        ]
        hits = searcher.search(tantivy.Query.boolean_query(clauses), DEPTH).hits
        found: list[Any] = [searcher.doc(address)["number"][0] for _, address in hits]
        return tuple(passages[number].passage_id for number in found)

    return [one(case) for case in cases]


PEERS: dict[PeerName, Callable[[Sequence[Passage], Sequence[Case]], Rankings]] = {
    "bm25s": rank_with_bm25s,
    "tantivy": rank_with_tantivy,
}


def versions(names: Sequence[PeerName]) -> dict[str, str]:
    """Which versions were measured."""
    return {name: version(name) for name in names}


def _tokens(passage: Passage) -> list[str]:
    return tokenize(f"{passage.title}\n{passage.text}")
