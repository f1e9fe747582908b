"""The tantivy schema of the lexical channels, and documents into and out of it.

`content` and `path` hold our tokens, joined by spaces and split again at spaces. `term`
holds the character bigrams and trigrams of the folded text, to find what may contain a
substring; `text` is that text itself, to verify it. `place` is (revn, order) as one
number, so that one fast field answers for both and orders ties; `tenant` is the namespace
as a number; the chunk id is in columns too. `origin` is what is needed to write the document again
(`libs/runtime/index/purge.py`).
"""

import hashlib
from pathlib import Path

import orjson
import tantivy
import zstandard

from libs.contracts.artefacts.chunk import ChunkType
from libs.runtime.index import identity
from libs.runtime.index.places import MAX_TOKEN_BYTES, encodable, to_number
from libs.runtime.index.port import IndexDocument
from libs.runtime.index.tokenizer import fold

FOLDER = "lexical-1"  # a change of the schema takes the next number
TYPE_CODES: dict[ChunkType, int] = {"text": 0, "image": 1, "table": 2}
CHUNK_TYPES: list[ChunkType] = sorted(TYPE_CODES, key=TYPE_CODES.__getitem__)


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
        encodable(" ".join(document.content_tokens)),
        encodable(" ".join(document.path_tokens)),
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


def stored_chunk_id(stored: tantivy.Document) -> str:
    """The chunk id that a document keeps for readers."""
    return _bytes(stored, "chunk_id").decode()


def stored_text(stored: tantivy.Document) -> bytes:
    """The folded text that a document keeps for readers, as UTF-8."""
    return _bytes(stored, "text")


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
    origin = orjson.dumps([namespace, revn, order, code, content, path])
    fields = {
        "namespace": namespace,
        "revision": revision_key(namespace, revn),
        "revn": revn,
        "place": to_number(revn, order),
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
