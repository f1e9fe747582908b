"""An image as a document: the picture itself, what is written in it, and what its file says."""

import io
import warnings
from collections.abc import Iterator
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from libs.contracts.artefacts.rows import Box
from libs.contracts.faults import Code, DocumentFault
from services.parser.formats.base import ParseInput, ShardResult
from services.parser.formats.images import image_type
from services.parser.formats.ocr import Reader
from services.parser.formats.pdf_layout import reading_order
from services.parser.formats.pdf_page import Page, Segment
from services.parser.formats.pdf_rows import PageWriter
from services.parser.formats.pdf_titles import Typography
from services.parser.formats.rows import Rows, clean
from services.parser.formats.text import add_text

if TYPE_CHECKING:
    from PIL.Image import Image

MAX_PIXELS = 200_000_000
MAX_FRAMES = 500
STRIP = 64
"""Rows of a reduced picture that are made at once."""
ORIENTATION = 0x0112
OCR_PIXELS = 4_000_000
"""Pixels of a picture as the OCR sees it; larger ones are scaled down."""
DEFAULT_DPI = 72.0
FRAMED = frozenset({"TIFF"})
"""Formats whose frames are pages; the frames of an animation are not."""
VECTORS = frozenset({"image/svg+xml", "image/x-emf", "image/x-wmf"})
TEXTS = {270: "description", 315: "artist", 33432: "copyright", 40091: "title", 40092: "comment",
         40094: "keywords", 37510: "user comment"}  # fmt: skip
_TOO_LARGE = f"pictures of over {MAX_PIXELS // 10**6} million pixels were left out"
_WINDOWS_TEXTS = frozenset({40091, 40092, 40094})


def parse(given: ParseInput) -> ShardResult:
    """Rows of an image file: the image, its texts by OCR, its embedded descriptions."""
    data = given.path.read_bytes()
    rows = Rows()
    reader = Reader(given, rows)
    media_type = image_type(data) or given.profile.media_type
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        picture = _open(data)
        if picture is None:
            if media_type not in VECTORS:
                raise DocumentFault(
                    Code.UNREADABLE, "the image is damaged or of a kind that is not known"
                )
            rows.add("image", asset=given.assets.add(data, media_type), media_type=media_type)
            rows.note("image_not_drawn", "vector images are kept but not read")
            return rows.result("pillow", {"pillow": version("pillow")})
        with picture:
            _load(picture)
            size = (float(picture.width), float(picture.height))
            about = f"{picture.format} image, {picture.width} × {picture.height} pixels"
            rows.note("image", about)
            rows.add("image", asset=given.assets.add(data, media_type), media_type=media_type,
                     page=1, boxes=[Box(page=1, bbox=(0.0, 0.0, *size))])  # fmt: skip
            for text in _descriptions(picture):
                rows.add("note", text)
            for number in _frames(picture, rows):
                given.progress(0)
                _read(rows, reader, picture, number)
                given.progress(1)
    return rows.result("pillow", {"pillow": version("pillow"), **reader.versions})


def _open(data: bytes) -> "Image | None":
    """The picture, or None where Pillow knows no such kind. A bomb is `DocumentFault`."""
    from PIL import Image, UnidentifiedImageError

    Image.MAX_IMAGE_PIXELS = MAX_PIXELS
    try:
        picture = Image.open(io.BytesIO(data))
        if picture.width * picture.height > MAX_PIXELS:
            raise DocumentFault(
                Code.TOO_LARGE, f"the image has over {MAX_PIXELS // 10**6} million pixels"
            )
    except Image.DecompressionBombError as problem:
        raise DocumentFault(
            Code.TOO_LARGE, f"the image has over {MAX_PIXELS // 10**6} million pixels"
        ) from problem
    except (UnidentifiedImageError, OSError, ValueError, SyntaxError):
        return None
    return picture


def _load(picture: "Image") -> None:
    try:
        picture.load()
    except (OSError, EOFError, ValueError, SyntaxError) as problem:
        raise DocumentFault(
            Code.UNREADABLE, "the image is damaged: its pixels cannot be read"
        ) from problem


def _frames(picture: "Image", rows: Rows) -> Iterator[int]:
    """The pages of the picture, from 1; it shows the page meanwhile."""
    yield 1
    count = getattr(picture, "n_frames", 1) if picture.format in FRAMED else 1
    for index in range(1, min(count, MAX_FRAMES)):
        try:
            picture.seek(index)
            if picture.width * picture.height > MAX_PIXELS:
                rows.note("image_too_large", _TOO_LARGE, severity="warning", page=index + 1)
                continue
            picture.load()
        except (OSError, EOFError, ValueError, SyntaxError):
            return
        yield index + 1


def _read(rows: Rows, reader: Reader, picture: "Image", number: int) -> None:
    """Text rows of one picture, boxes in points at 72 to the inch."""
    if (told := reader.told(number)) is not None:
        whole = (0.0, 0.0, float(picture.width), float(picture.height))
        add_text(rows, told, page=number, boxes=[Box(page=number, bbox=whole)])
        return
    frame, factor = _upright(picture)
    scale = min(1.0, (OCR_PIXELS / max(frame.width * frame.height, 1)) ** 0.5)
    if scale < 1.0:
        size = (max(1, int(frame.width * scale)), max(1, int(frame.height * scale)))
        frame = frame.resize(size)
    if reader.put_aside(frame, number):
        return
    segments = reader.read(frame, number)
    if not segments:
        return
    wide = factor / scale
    found = [
        Segment(s.x0 * wide, s.y0 * wide, s.x1 * wide, s.y1 * wide, s.text, s.em * wide)
        for s in segments
    ]
    page = Page(number, frame.width * wide, frame.height * wide, found, [], [], [], [], [], [])
    PageWriter(rows, Typography.of([page])).write(page, reading_order(found))


def _upright(picture: "Image") -> tuple["Image", int]:
    """The picture in RGB, the right way up, and by what factor it was reduced.

    A large picture is reduced strip by strip, so that it is in memory only once.
    """
    from PIL import Image, ImageOps

    factor = max(1, int((picture.width * picture.height / OCR_PIXELS) ** 0.5))
    if factor == 1:
        small = picture.convert("RGB")
    else:
        width, height = picture.size
        small = Image.new("RGB", (-(-width // factor), -(-height // factor)))
        for top in range(0, height, STRIP * factor):
            part = picture.crop((0, top, width, min(top + STRIP * factor, height)))
            small.paste(part.convert("RGB").reduce(factor), (0, top // factor))
    small.getexif()[ORIENTATION] = picture.getexif().get(ORIENTATION, 1)
    return ImageOps.exif_transpose(small) or small, factor


def _descriptions(picture: "Image") -> Iterator[str]:
    """The texts that people put into the file: EXIF and PNG comments."""
    exif: Any = picture.getexif()
    values = dict(exif)
    values.update(exif.get_ifd(0x8769))
    for tag, name in TEXTS.items():
        text = _exif_text(tag, values.get(tag))
        if text:
            yield f"{name}: {text}"
    for key, value in sorted((str(k), v) for k, v in picture.info.items()):
        if key in {"Title", "Author", "Description", "Comment", "comment", "Copyright"}:
            text = _exif_text(0, value)
            if text:
                yield f"{key.lower()}: {text}"


def _exif_text(tag: int, value: Any) -> str:
    if isinstance(value, tuple):
        value = bytes(v for v in value if isinstance(v, int) and 0 <= v < 256)
    if isinstance(value, bytes):
        if tag in _WINDOWS_TEXTS:
            value = value.decode("utf-16-le", "ignore")
        else:
            value = value.removeprefix(b"ASCII\0\0\0").decode("utf-8", "ignore")
    return clean(value)[:2000] if isinstance(value, str) else ""
