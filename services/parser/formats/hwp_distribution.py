"""HWP documents made for distribution: their text lies encrypted in `ViewText`, key included.

Hancom's "distribution document" specification (revision 1.2): the first record of each stream
holds 256 scrambled bytes; unscrambled by the generator that its first four bytes seed, they hold
the key of AES-128 in ECB mode for the rest. There is no password: every reader shows the text.
"""

import io

from libs.contracts.faults import Code, DocumentFault
from services.parser.formats.ole_write import write_ole

FLAGS = 36
DISTRIBUTION = 0x04
TAG_DISTRIBUTION = 0x1C
SEED_BYTES = 256
MAX_STREAM = 256 << 20


def readable(data: bytes) -> bytes:
    """The document with its text where a reader looks for it; unchanged where it is no such copy.

    `DocumentFault(UNREADABLE)` where the text cannot be decrypted.
    """
    import olefile  # type: ignore[import-untyped]

    try:
        with olefile.OleFileIO(io.BytesIO(data)) as ole:
            if not ole.exists("FileHeader") or not ole.exists("ViewText"):
                return data
            streams = {
                tuple(name): ole.openstream(name).read()
                for name in ole.listdir()
                if ole.get_size(name) <= MAX_STREAM
            }
    except (OSError, ValueError, IndexError, TypeError, AttributeError):
        return data
    header = bytearray(streams.get(("FileHeader",), b""))
    if len(header) <= FLAGS or not header[FLAGS] & DISTRIBUTION:
        return data
    header[FLAGS] &= ~DISTRIBUTION & 0xFF
    kept = {path: body for path, body in streams.items() if path[0] not in {"BodyText", "ViewText"}}
    kept[("FileHeader",)] = bytes(header)
    for path, body in streams.items():
        if path[0] == "ViewText":
            kept[("BodyText", *path[1:])] = decrypted(body)
    return write_ole(kept)


def decrypted(stream: bytes) -> bytes:
    """The compressed records of one `ViewText` stream."""
    from Crypto.Cipher import AES

    head = int.from_bytes(stream[:4], "little")
    size, start = head >> 20, 4
    if size == 0xFFF:
        size, start = int.from_bytes(stream[4:8], "little"), 8
    scrambled, rest = stream[start : start + SEED_BYTES], stream[start + SEED_BYTES :]
    if head & 0x3FF != TAG_DISTRIBUTION or size != SEED_BYTES or len(scrambled) < SEED_BYTES:
        raise DocumentFault(
            Code.UNREADABLE, "the text of the distribution copy is damaged; save it again"
        )
    plain = _unscrambled(scrambled)
    offset = 4 + (scrambled[0] & 0x0F)
    cipher = AES.new(plain[offset : offset + 16], AES.MODE_ECB)
    return cipher.decrypt(rest[: len(rest) // 16 * 16])


def _unscrambled(data: bytes) -> bytes:
    """XOR with runs of random bytes from Microsoft's `rand`, seeded by the first four bytes."""
    seed = int.from_bytes(data[:4], "little")
    out = bytearray(data)
    run, value = 0, 0
    for i in range(len(data)):
        if run == 0:
            seed = (seed * 214013 + 2531011) & 0xFFFFFFFF
            value = (seed >> 16) & 0xFF
            seed = (seed * 214013 + 2531011) & 0xFFFFFFFF
            run = ((seed >> 16) & 0x0F) + 1
        if i >= 4:
            out[i] = data[i] ^ value
        run -= 1
    return bytes(out)
