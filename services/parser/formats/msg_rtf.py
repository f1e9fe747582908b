"""RTF as Outlook packs it into messages (Microsoft, [MS-OXRTFCP])."""

MAX_SIZE = 32 << 20
_START = (
    rb"{\rtf1\ansi\mac\deff0\deftab720{\fonttbl;}{\f0\fnil \froman \fswiss \fmodern \fscript "
    rb"\fdecor MS Sans SerifSymbolArialTimes New RomanCourier{\colortbl\red0\green0\blue0"
    b"\r\n"
    rb"\par \pard\plain\f0\fs20\b\i\u\tab\tx"
)
"""What the dictionary holds before the first byte."""
_RING = 4096
_HEAD = 16


def rtf_of(packed: bytes) -> bytes:
    """The RTF of a packed stream; nothing for a stream that is damaged from its beginning."""
    kind = packed[8:12]
    body = packed[_HEAD:]
    if kind == b"MELA":
        return body
    if kind != b"LZFu":
        return b""
    ring = bytearray(_START.ljust(_RING, b"\0"))
    at, write = 0, len(_START)
    out = bytearray()
    while at < len(body) and len(out) < MAX_SIZE:
        control, at = body[at], at + 1
        for bit in range(8):
            if not control >> bit & 1:
                piece, at = body[at : at + 1], at + 1
            else:
                token, at = int.from_bytes(body[at : at + 2], "big"), at + 2
                if at > len(body) or token >> 4 == write:
                    return bytes(out)
                piece = b""
                for step in range((token & 0xF) + 2):
                    sign = ring[((token >> 4) + step) % _RING]
                    ring[(write + step) % _RING] = sign
                    piece += bytes((sign,))
            for sign in piece:
                ring[write] = sign
                write = (write + 1) % _RING
            out += piece
    return bytes(out)
