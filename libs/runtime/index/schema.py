"""The tantivy schema of the lexical channels, and documents into and out of it.

`content` and `path` hold our tokens, joined by spaces and split again at spaces. `term`
holds the character bigrams and trigrams of the folded text, to find what may contain a
substring; `text` is that text itself, to verify it. `place` is (revn, order) as one
number, so that one fast field answers for both and orders ties; `tenant` is the namespace
as a number; the chunk id is in columns too. `origin` is what is needed to write the document again
(`libs/runtime/index/purge.py`).
"""

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import orjson
import tantivy
import zstandard

from libs.contracts.artefacts.chunk import ChunkType
from libs.runtime.index import identity
from libs.runtime.index.port import IndexDocument
from libs.runtime.index.tokenizer import fold

FOLDER = "lexical-1"  # a change of the schema takes the next number
MAX_TOKEN_BYTES = 512
TYPE_CODES: dict[ChunkType, int] = {"text": 0, "image": 1, "table": 2}
CHUNK_TYPES: list[ChunkType] = sorted(TYPE_CODES, key=TYPE_CODES.__getitem__)

ORDER_BITS = 24
_SEPARATORS = re.compile("[ \t\n\r\f]+")


class Place(NamedTuple):
    """Where a chunk stands: its revision's number and its order there."""

    revn: int
    order: int


@dataclass(frozen=True)
class Stored:
    """What a document keeps for readers; `text` is folded, as UTF-8."""

    chunk_id: str
    text: bytes


def build_schema() -> tantivy.Schema:
    """The fields, as this module describes them."""
    builder = tantivy.SchemaBuilder()
    for name in ("namespace", "revision"):
        builder.add_text_field(name, tokenizer_name="raw", index_option="basic")
    builder.add_unsigned_field("revn", indexed=True)
    for name in ("place", "tenant", identity.TAG, *identity.HASH):
        builder.add_unsigned_field(name, fast=True)
    builder.add_unsigned_field("type", indexed=True, fast=True)
    for name in ("content", "path"):
        builder.add_text_field(name, tokenizer_name="spaces", index_option="freq")
    builder.add_text_field("term", tokenizer_name="grams", index_option="basic")
    for name in ("chunk_id", "text", "origin"):
        builder.add_bytes_field(name, stored=True)
    return builder.build()


def open_folder(path: Path, *, create: bool) -> tantivy.Index:
    """The index in `path` with its analyzers; `ValueError` or `OSError` as tantivy says."""
    if create:
        path.mkdir(parents=True, exist_ok=True)
        index = tantivy.Index(build_schema(), path=str(path))
    else:
        index = tantivy.Index.open(str(path))
    spaces = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace())
    spaces = spaces.filter(tantivy.Filter.remove_long(MAX_TOKEN_BYTES))
    grams = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.ngram(2, 3))
    index.register_tokenizer("spaces", spaces.build())
    index.register_tokenizer("grams", grams.build())
    index.config_reader("manual")
    index.reload()
    return index


def revision_key(namespace: str, revn: int) -> str:
    """The term that all documents of one revision share."""
    return f"{namespace}/{revn}"


def tenant(namespace: str) -> int:
    """The namespace as a number of 64 bits, the first of its SHA-256."""
    return int.from_bytes(hashlib.sha256(namespace.encode()).digest()[:8], "big")


def index_tokens(tokens: list[str]) -> list[str]:
    """`tokens` as the content and path fields split them: cut at ASCII white space, without
    those that are too long to be indexed."""
    pieces = _SEPARATORS.split(_encodable(" ".join(tokens)))
    return [p for p in pieces if 0 < len(p.encode()) < MAX_TOKEN_BYTES]


def to_document(
    schema: tantivy.Schema, namespace: str, revn: int, document: IndexDocument
) -> tantivy.Document:
    """A document that fits the schema; raises `ValueError` for a value that does not."""
    return _document(
        schema,
        namespace,
        revn,
        document.order,
        TYPE_CODES[document.type],
        document.chunk_id.encode(),
        fold(document.term_text),
        _encodable(" ".join(document.content_tokens)),
        _encodable(" ".join(document.path_tokens)),
    )


def written_again(schema: tantivy.Schema, stored: tantivy.Document) -> tantivy.Document:
    """A new document equal to the one that `stored` was written as."""
    origin = zstandard.decompress(_bytes(stored, "origin"))
    namespace, revn, order, code, content, path = orjson.loads(origin)
    text = _bytes(stored, "text").decode()
    chunk_id = _bytes(stored, "chunk_id")
    return _document(schema, namespace, revn, order, code, chunk_id, text, content, path)


def origin_revision(stored: tantivy.Document) -> tuple[str, int]:
    """The (namespace, revn) that a stored document belongs to."""
    namespace, revn, *_ = orjson.loads(zstandard.decompress(_bytes(stored, "origin")))
    return namespace, revn


def read(stored: tantivy.Document) -> Stored:
    """The fields that readers need."""
    return Stored(_bytes(stored, "chunk_id").decode(), _bytes(stored, "text"))


def to_place(number: int) -> Place:
    """The place that a value of the fast field means."""
    return Place(number >> ORDER_BITS, number & ((1 << ORDER_BITS) - 1))


def _document(
    schema: tantivy.Schema,
    namespace: str,
    revn: int,
    order: int,
    code: int,
    chunk_id: bytes,
    text: str,
    content: str,
    path: str,
) -> tantivy.Document:
    if not (0 <= order < 1 << ORDER_BITS and 0 <= revn < 1 << (63 - ORDER_BITS)):
        raise ValueError(f"revision {revn}, order {order} is out of the index's range")
    origin = orjson.dumps([namespace, revn, order, code, content, path])
    fields = {
        "namespace": namespace,
        "revision": revision_key(namespace, revn),
        "revn": revn,
        "place": revn << ORDER_BITS | order,
        "tenant": tenant(namespace),
        "type": code,
        "content": content,
        "path": path,
        "term": text,
        "chunk_id": chunk_id,
        **identity.to_columns(chunk_id.decode()),
        "text": text.encode(),
        "origin": zstandard.compress(origin, 1),
    }
    return tantivy.Document.from_dict(fields, schema)


def _bytes(stored: tantivy.Document, name: str) -> bytes:
    return bytes(stored.get_first(name) or b"")


def _encodable(text: str) -> str:
    """`text` without lone surrogates, which UTF-8 cannot hold."""
    return text.encode("utf-8", "replace").decode()
