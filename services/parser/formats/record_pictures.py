"""Pictures of records: checked by their heads alone, never fetched, never decoded here."""

import io
import re
import warnings

from services.parser.formats.base64_text import from_base64
from services.parser.formats.images import image_type
from services.parser.formats.pictures import MAX_PIXELS

MAX_BYTES = 1 << 20
"""Of one picture: what servers of models take in one request beside others."""
TYPES = {"image/png": "PNG", "image/jpeg": "JPEG", "image/webp": "WEBP"}
"""What models are shown, and how Pillow calls it."""
_DATA = re.compile(r"data:(image/(?:png|jpeg|webp));base64,", re.IGNORECASE)
_ADDRESS = re.compile(r"(?:[a-z][a-z0-9+.-]*:)?//", re.IGNORECASE)
_LARGE = f"its picture is over {MAX_BYTES >> 20} MB"


class PictureRefused(Exception):
    """A picture that is not taken; the message says why, without its content."""


def from_url(value: str) -> tuple[bytes, str]:
    """Bytes and media type of a `data:` URL of a PNG, JPEG or WebP picture. Raises
    `PictureRefused` for anything else."""
    head = _DATA.match(value)
    if head is None and _ADDRESS.match(value):
        raise PictureRefused("its picture is an address, and nothing is fetched: send its bytes")
    if head is None:
        raise PictureRefused("its picture is no base64 data: URL of a PNG, JPEG or WebP file")
    body = "".join(value[head.end() :].split())
    if len(body) > 4 * (MAX_BYTES // 3 + 1):
        raise PictureRefused(_LARGE)
    data = from_base64(body)
    if data is None:
        raise PictureRefused("its picture is no valid base64")
    media_type = checked(data)
    if media_type != head[1].lower():
        raise PictureRefused("its picture is not of the type that its data: URL states")
    return data, media_type


def checked(data: bytes) -> str:
    """The media type of a picture that a model may be shown. Raises `PictureRefused` where it
    is too large, in bytes or in pixels by its head, damaged, or of another type."""
    if len(data) > MAX_BYTES:
        raise PictureRefused(_LARGE)
    media_type = image_type(data)
    if media_type not in TYPES:
        raise PictureRefused("its picture is no PNG, JPEG or WebP file")
    pixels = _pixels(data, TYPES[media_type])
    if pixels is None:
        raise PictureRefused("its picture is damaged")
    if pixels > MAX_PIXELS:
        raise PictureRefused(f"its picture has over {MAX_PIXELS // 10**6} million pixels")
    return media_type


def _pixels(data: bytes, kind: str) -> int | None:
    """What the head says; None for one that cannot be read."""
    from PIL import Image

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with Image.open(io.BytesIO(data), formats=(kind,)) as picture:
                return picture.width * picture.height
    except Image.DecompressionBombError:
        return MAX_PIXELS + 1
    except (OSError, ValueError, SyntaxError, EOFError):
        return None
