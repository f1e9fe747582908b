"""Our indices on OpenSearch: their names, fields and analyzers.

One index holds the lexical documents of all namespaces, and one more the vectors of each
model; a namespace is routed to one shard of each. A document's id is its namespace, revision,
order and chunk id, so that a hit needs no other field. Nothing of the source is kept.

`content` and `path` hold our tokens, joined by spaces. `term` holds the trigrams of the folded
text with their positions, so that a phrase of trigrams is a true substring; `term.pairs` holds
its bigrams, for strings of two characters. They score by rarity alone.
"""

import hashlib
from typing import Any, NamedTuple

from libs.runtime.index.opensearch_client import Address
from libs.runtime.index.places import MAX_TOKEN_BYTES

VERSION = 1  # a change of the mappings takes the next number
MAX_ID_BYTES = 512
MAX_REVN = (1 << 31) - 1

_SETTINGS = {
    "refresh_interval": -1,
    "merge.policy.expunge_deletes_allowed": 0,
    "analysis": {
        "tokenizer": {
            "spaces": {
                "type": "char_group",
                "tokenize_on_chars": [" "],
                "max_token_length": MAX_TOKEN_BYTES,
            },
            "pairs": {"type": "ngram", "min_gram": 2, "max_gram": 2},
            "triples": {"type": "ngram", "min_gram": 3, "max_gram": 3},
        },
        "analyzer": {
            name: {"type": "custom", "tokenizer": name} for name in ("spaces", "pairs", "triples")
        },
    },
    "similarity": {"rarity": {"type": "BM25", "k1": 0.0, "b": 0.0}},
}
_PLACE = {
    "namespace": {"type": "keyword"},
    "revn": {"type": "integer"},
    "place": {"type": "long"},
    "type": {"type": "keyword"},
}
_WORDS = {"type": "text", "analyzer": "spaces", "index_options": "freqs"}
_GRAMS = {"type": "text", "norms": False, "similarity": "rarity"}


class Identity(NamedTuple):
    """What the id of a document says."""

    namespace: str
    revn: int
    order: int
    chunk_id: str

    def __str__(self) -> str:
        return f"{self.namespace}/{self.revn}/{self.order}/{self.chunk_id}"


def identity_of(document_id: str) -> Identity:
    """The reverse of `str(Identity)`."""
    namespace, revn, order, chunk_id = document_id.split("/", 3)
    return Identity(namespace, int(revn), int(order), chunk_id)


def chunks_alias(address: Address) -> str:
    """The name under which lexical documents are written and searched."""
    return f"{address.prefix}-chunks"


def vectors_alias(address: Address, model: str) -> str:
    """The name for the vectors of a model, which may hold signs that an index name may not."""
    return f"{address.prefix}-vectors-{hashlib.sha256(model.encode()).hexdigest()[:16]}"


def every_vectors_alias(address: Address) -> str:
    """A pattern of the names for vectors of all models."""
    return f"{address.prefix}-vectors-*"


def chunks_body(address: Address) -> dict[str, Any]:
    """How the index of lexical documents is made."""
    term = {
        **_GRAMS,
        "analyzer": "triples",
        "fields": {"pairs": {**_GRAMS, "analyzer": "pairs", "index_options": "docs"}},
    }
    fields = {**_PLACE, "content": _WORDS, "path": _WORDS, "term": term}
    return _body(address, chunks_alias(address), fields, {}, {})


def vectors_body(address: Address, model: str, dimension: int) -> dict[str, Any]:
    """How the index of a model's vectors is made.

    The engine is always named: the default one is native code, whose absence ends the node.
    """
    vector = {
        "type": "knn_vector",
        "dimension": dimension,
        "method": {
            "name": "hnsw",
            "engine": "lucene",
            "space_type": "cosinesimil",
            "parameters": {"m": 16, "ef_construction": 128},
        },
    }
    meta = {"model": model, "dimension": dimension}
    name = vectors_alias(address, model)
    return _body(address, name, {**_PLACE, "vector": vector}, meta, {"knn": True})


def _body(
    address: Address,
    alias: str,
    fields: dict[str, Any],
    meta: dict[str, Any],
    settings: dict[str, Any],
) -> dict[str, Any]:
    return {
        "aliases": {alias: {}},
        "settings": {
            "index": {
                **_SETTINGS,
                **settings,
                "number_of_shards": address.shards,
                "number_of_replicas": address.replicas,
            }
        },
        "mappings": {
            "dynamic": "strict",
            "_source": {"enabled": False},
            "_routing": {"required": True},
            "_meta": meta,
            "properties": fields,
        },
    }
