"""Writing protobuf fields: enough for an ONNX and a SentencePiece model.

https://protobuf.dev/programming-guides/encoding/
"""

import struct

_VARINT, _BYTES, _FLOAT = 0, 2, 5
_ONE_BYTE = tuple(bytes([value]) for value in range(128))


def varint(value: int) -> bytes:
    """Base 128, low groups first; a negative number in two's complement of 64 bits."""
    if 0 <= value < 128:
        return _ONE_BYTE[value]
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def field(number: int, value: float | str | bytes) -> bytes:
    """One field: an `int` as varint, a `float` as 32 bits, text and messages with their length."""
    if isinstance(value, int):
        return varint(number << 3 | _VARINT) + varint(value)
    if isinstance(value, float):
        return varint(number << 3 | _FLOAT) + struct.pack("<f", value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | _BYTES) + varint(len(data)) + data
