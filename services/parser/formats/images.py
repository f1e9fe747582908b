"""Images inside other formats: kept when their bytes are in the file, never fetched."""

import base64
import binascii
import re
from typing import Any
from urllib.parse import unquote_to_bytes

from services.parser.formats.base import EXTENSIONS, AssetSink
from services.parser.formats.rows import Rows, clean

MAX_DATA_URI = 32 << 20
_SIGNATURES = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF8", "image/gif"),
    (b"BM", "image/bmp"),
    (b"II*\x00", "image/tiff"),
    (b"MM\x00*", "image/tiff"),
    (b"\xd7\xcd\xc6\x9a", "image/x-wmf"),
)
_SVG = re.compile(
    rb"\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)?(?:<!DOCTYPE[^>]*>\s*)?<svg", re.DOTALL
)


def image_type(data: bytes) -> str | None:
    """The media type of image bytes by their signature, or None."""
    for signature, media_type in _SIGNATURES:
        if data.startswith(signature):
            return media_type
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    if data[:4] == b"\x01\x00\x00\x00" and data[40:44] == b" EMF":
        return "image/x-emf"
    return "image/svg+xml" if _SVG.match(data[:2048]) else None


def image_from_data_uri(uri: str) -> tuple[bytes, str] | None:
    """The bytes and media type of a `data:` URI of a known image type, or None."""
    head, comma, body = uri.partition(",")
    media_type, *parameters = head.removeprefix("data:").lower().split(";")
    if not comma or media_type not in EXTENSIONS or len(body) > MAX_DATA_URI:
        return None
    raw = unquote_to_bytes(body)
    if "base64" not in parameters:
        return (raw, media_type) if raw else None
    try:
        decoded = base64.b64decode(b"".join(raw.split()), validate=True)
    except binascii.Error:
        return None
    return (decoded, media_type) if decoded else None


def add_image(rows: Rows, assets: AssetSink, data: bytes, text: str = "", **fields: Any) -> bool:
    """An image row for image bytes of a known type; a finding and False for any others."""
    media_type = image_type(data)
    if media_type is None:
        rows.note("image_unreadable", "embedded images of an unknown type were left out")
        return False
    name = assets.add(data, media_type)
    rows.add("image", clean(text), asset=name, media_type=media_type, **fields)
    return True


def keep_image(rows: Rows, assets: AssetSink, source: str, text: str) -> bool:
    """An image row for a `data:` URI; a finding for an image that lies elsewhere.

    Nothing is ever fetched or read from the file system. Answers whether a row was made.
    """
    if not source.startswith("data:"):
        rows.note("image_elsewhere", "images that lie outside the file were left out")
        return False
    embedded = image_from_data_uri(source)
    if embedded is None:
        rows.note("image_unreadable", "embedded images of an unknown type were left out")
        return False
    rows.add("image", text, asset=assets.add(*embedded), media_type=embedded[1])
    return True
