"""The packaged weights as numbers: llama.cpp's Q4_0 blocks."""

import numpy as np
from numpy.typing import NDArray

BLOCK = 32
"""Weights a block."""

BLOCK_BYTES = 18
"""Bytes a block: a float16 scale, then 16 bytes of two weights each."""


def dequantise(raw: memoryview | NDArray[np.uint8]) -> NDArray[np.float32]:
    """Blocks as (blocks, 32) float32: `(nibble - 8) * scale`.

    Byte j of a block holds weight j in its low half and weight j + 16 in its high half.
    """
    blocks = np.frombuffer(raw, np.uint8) if isinstance(raw, memoryview) else raw
    blocks = np.ascontiguousarray(blocks).reshape(-1, BLOCK_BYTES)
    packed = blocks[:, 2:]
    nibbles = np.concatenate([packed & 15, packed >> 4], axis=1).astype(np.float32)
    scales = blocks[:, :2].copy().view("<f2").astype(np.float32)
    return (nibbles - 8) * scales


def vector(raw: memoryview) -> NDArray[np.float32]:
    """An unquantised tensor, flat."""
    return np.frombuffer(raw, "<f4")
