"""`chunks.json` in slices: written piece by piece, read one chunk at a time.

The bytes are those of `canonical_json` over `Chunks`, whichever way they are made. A chunk's
first key is `chunk_id` and no other object has that key, and a quote within a string is
escaped, so the text that opens a chunk stands nowhere else.
"""

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import TypeVar

import orjson

from libs.contracts.artefacts.chunk import Chunk, Chunks

T = TypeVar("T")

SLICE = 500
_SORTED = orjson.OPT_SORT_KEYS
_HEAD = b'{"chunks":['
_TAIL = b'],"schema_version":1}\n'
_OPENS = b'{"chunk_id":"'


def slices(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """The items in lists of `size`, the last one shorter; none when there are no items."""
    iterator = iter(items)
    while some := list(islice(iterator, size)):
        yield some


class ChunkWriter:
    """Makes the file's bytes as chunks come, so that none of them need be kept."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._begun: list[bytes] = []

    def add(self, chunk: Chunk) -> None:
        """The next chunk."""
        self._begun.append(orjson.dumps(chunk.model_dump(mode="json"), option=_SORTED))
        if len(self._begun) == SLICE:
            self._end_piece()

    def pieces(self) -> list[bytes]:
        """The whole file, in order."""
        self._end_piece()
        return [_HEAD, *self._pieces, _TAIL]

    def _end_piece(self) -> None:
        if self._begun:
            between = b"," if self._pieces else b""
            self._pieces.append(between + b",".join(self._begun))
            self._begun = []


class ChunkFile(Iterable[Chunk]):
    """The chunks of a file, validated as they are read; can be iterated again and again.

    Only the file's bytes and the chunk that is read are in memory.
    """

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._canonical = data.startswith(_HEAD) and data.endswith(_TAIL)

    def __iter__(self) -> Iterator[Chunk]:
        if not self._canonical:
            yield from Chunks.model_validate_json(self._data).chunks
            return
        for piece in self._pieces():
            yield Chunk.model_validate_json(piece)

    def ids(self) -> list[str]:
        """The chunk ids, in order."""
        if not self._canonical:
            return [chunk.chunk_id for chunk in self]
        start = len(_OPENS)
        return [piece[start : piece.index(b'"', start)].decode() for piece in self._pieces()]

    def lookup(self) -> Callable[[str], Chunk]:
        """A function from chunk id to chunk, which raises KeyError for an unknown id.

        Only the places of the chunks are kept, not the chunks.
        """
        if not self._canonical:
            return {chunk.chunk_id: chunk for chunk in self}.__getitem__
        places = dict(zip(self.ids(), self._places(), strict=True))

        def find(chunk_id: str) -> Chunk:
            start, stop = places[chunk_id]
            return Chunk.model_validate_json(self._data[start:stop])

        return find

    def _pieces(self) -> Iterator[bytes]:
        """The bytes of one chunk after the other."""
        return (self._data[start:stop] for start, stop in self._places())

    def _places(self) -> Iterator[tuple[int, int]]:
        start, end = len(_HEAD), len(self._data) - len(_TAIL)
        while start < end:
            following = self._data.find(b"," + _OPENS, start)
            stop = end if following < 0 else following
            yield start, stop
            start = stop + 1
