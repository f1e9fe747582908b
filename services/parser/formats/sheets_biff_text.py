"""Strings of XLS records ([MS-XLS] 2.5.294 and 2.5.240), and the stream that holds the records."""

from collections.abc import Sequence
from pathlib import Path

MAX_STREAM = 512 << 20
BIFF8 = 0x0600


def ole_stream(path: Path, *names: str) -> bytes:
    """The first stream of these names in the compound file; empty where there is none."""
    import olefile  # type: ignore[import-untyped]

    try:
        with olefile.OleFileIO(str(path)) as ole:
            for name in names:
                if ole.exists(name) and ole.get_size(name) <= MAX_STREAM:
                    with ole.openstream(name) as stream:
                        return bytes(stream.read())
    except (OSError, ValueError, IndexError, TypeError, AttributeError):
        return b""
    return b""


def record_text(body: bytes, version: int, codec: str, *, wide: bool) -> str:
    """A string with its length in front, of two bytes where `wide` (BIFF8 only), else of one."""
    prefix = 2 if wide and version >= BIFF8 else 1
    size = int.from_bytes(body[:prefix], "little")
    if version < BIFF8:
        return _bytes_text(body[prefix : prefix + size], codec)
    flags, rest = body[prefix : prefix + 1], body[prefix + 1 :]
    return _chars(rest, size, flags)


def short_text(body: bytes, version: int, codec: str) -> str:
    """A string with its length in one byte."""
    return record_text(body, version, codec, wide=False)


def continued(size: int, blocks: Sequence[bytes]) -> str:
    """`size` characters from continuation records, each with its own width of characters."""
    text = ""
    for block in blocks:
        if len(text) >= size:
            break
        text += _chars(block[1:], size - len(text), block[:1])
    return text


def _chars(data: bytes, size: int, flags: bytes) -> str:
    if flags and flags[0] & 1:
        return data[: 2 * size].decode("utf-16-le", "replace")
    return data[:size].decode("latin-1")


def _bytes_text(data: bytes, codec: str) -> str:
    try:
        return data.decode(codec, "replace")
    except LookupError:
        return data.decode("cp1252", "replace")
