"""`chunks.json` in slices: the same bytes, and the same chunks, as whole."""

import pytest

from libs.contracts.artefacts.chunk import Chunk, ChunkMetadata, Chunks, Connection
from libs.runtime import chunkfile
from libs.runtime.artefacts import canonical_json
from libs.runtime.chunkfile import ChunkFile, ChunkWriter, slices

HOSTILE = 'a quote " and },{"chunk_id":"t1" and ],"schema_version":1}\n and \\"'


def chunk(order: int, content: str = "") -> Chunk:
    metadata = ChunkMetadata(
        length=len(content),
        tokens=1,
        content_hash="sha256:0",
        connect_to=[Connection(target="t9", relation="related")],
        html=content,
    )
    return Chunk(
        chunk_id=f"t{order}", type="text", content=content, path=["경로", content], order=order,
        metadata=metadata,
    )  # fmt: skip


def written(chunks: list[Chunk]) -> bytes:
    writer = ChunkWriter()
    for one in chunks:
        writer.add(one)
    return b"".join(writer.pieces())


@pytest.mark.parametrize("count", [0, 1, 3, 4, 7, 9])
def test_slices_make_the_bytes_of_the_whole(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chunkfile, "SLICE", 3)
    chunks = [chunk(i, HOSTILE * i) for i in range(count)]
    data = written(chunks)
    assert data == canonical_json(Chunks(chunks=chunks))
    file = ChunkFile(data)
    for _ in range(2):
        assert list(file) == chunks
    assert file.ids() == [c.chunk_id for c in chunks]


def test_a_file_of_another_writer_is_read_too() -> None:
    chunks = [chunk(i, HOSTILE) for i in range(3)]
    file = ChunkFile(Chunks(chunks=chunks).model_dump_json(indent=1).encode())
    assert list(file) == chunks
    assert file.ids() == ["t0", "t1", "t2"]


def test_damage_is_an_error_and_never_fewer_chunks() -> None:
    data = written([chunk(i) for i in range(3)])
    for damaged in (data[:-30], data.replace(b'"order":1', b'"order":"x"'), b"{}", b""):
        with pytest.raises(ValueError):
            list(ChunkFile(damaged))


def test_slices() -> None:
    assert list(slices(range(5), 2)) == [[0, 1], [2, 3], [4]]
    assert list(slices([], 2)) == []
