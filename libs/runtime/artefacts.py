"""Artefacts to and from the object store: canonical bytes out, verified bytes in."""

import asyncio
import hashlib
import io
from collections.abc import AsyncIterator, Iterable
from typing import TypeVar

import orjson
import zstandard
from pydantic import BaseModel

from libs.contracts.artefacts import Row
from libs.contracts.events.base import ArtefactRef
from libs.contracts.faults import Code, WorldFault
from libs.runtime.chunkfile import ChunkFile
from libs.runtime.objects.port import ObjectInfo, ObjectStore

M = TypeVar("M", bound=BaseModel)

JSON_MEDIA_TYPE = "application/json"
ROWS_MEDIA_TYPE = "application/zstd"
UNPACK_BYTES = 1 << 20


def canonical_json(model: BaseModel) -> bytes:
    """Sorted keys, no spaces, a final newline: equal models give equal bytes."""
    data = model.model_dump(mode="json")
    return orjson.dumps(data, option=orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE)


def encode_rows(rows: Iterable[Row]) -> bytes:
    """`rows.jsonl.zst`: one canonical JSON object a line, default fields left out."""
    lines = [
        orjson.dumps(
            r.model_dump(mode="json", exclude_defaults=True),
            option=orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE,
        )
        for r in rows
    ]
    return zstandard.ZstdCompressor(level=3).compress(b"".join(lines))


def decode_rows(data: bytes) -> list[Row]:
    """The rows of `encode_rows`; only a piece of the text is unpacked at a time."""
    with zstandard.ZstdDecompressor().stream_reader(data) as reader:
        return [Row.model_validate_json(line) for line in io.BufferedReader(reader, UNPACK_BYTES)]


def reference_to(info: ObjectInfo) -> ArtefactRef:
    """How a stored object travels in events."""
    return ArtefactRef(key=info.key, sha256=info.sha256, size=info.size)


async def save_json(objects: ObjectStore, key: str, model: BaseModel) -> ArtefactRef:
    """Store a model canonically."""
    data = await asyncio.to_thread(canonical_json, model)
    return reference_to(await objects.put(key, data, media_type=JSON_MEDIA_TYPE))


async def load_json(objects: ObjectStore, ref: ArtefactRef, model: type[M]) -> M:
    """Load a model; see `load_bytes` for what is checked."""
    return model.model_validate_json(await load_bytes(objects, ref))


async def save_pieces(objects: ObjectStore, key: str, pieces: Iterable[bytes]) -> ArtefactRef:
    """Store a JSON file whose bytes come in pieces."""

    async def stream() -> AsyncIterator[bytes]:
        for piece in pieces:
            yield piece

    return reference_to(await objects.put(key, stream(), media_type=JSON_MEDIA_TYPE))


async def load_chunks(objects: ObjectStore, ref: ArtefactRef) -> ChunkFile:
    """Load `chunks.json`, to be read a chunk at a time; see `load_bytes` for what is checked."""
    return ChunkFile(await load_bytes(objects, ref))


async def save_rows(objects: ObjectStore, key: str, rows: Iterable[Row]) -> ArtefactRef:
    """Store rows canonically."""
    return reference_to(await objects.put(key, encode_rows(rows), media_type=ROWS_MEDIA_TYPE))


async def load_rows(objects: ObjectStore, ref: ArtefactRef) -> list[Row]:
    """Load rows; see `load_bytes` for what is checked."""
    return decode_rows(await load_bytes(objects, ref))


async def load_bytes(objects: ObjectStore, ref: ArtefactRef) -> bytes:
    """The object's bytes, if they are those that the event named.

    Raises `WorldFault(STORE_AWAY)` when the object is absent or differs: another attempt
    or an eventually consistent store may mend that, and the retries are bounded.
    """
    try:
        data = await objects.get(ref.key)
    except KeyError:
        raise WorldFault(Code.STORE_AWAY, f"artefact {ref.key} is not in the store") from None
    if hashlib.sha256(data).hexdigest() != ref.sha256:
        raise WorldFault(Code.STORE_AWAY, f"artefact {ref.key} does not match its sha256")
    return data
