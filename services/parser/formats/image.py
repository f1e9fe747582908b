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
from services.parser.formats.pdf_rows import PageWriter, Typography
from services.parser.formats.rows import Rows, clean

if TYPE_CHECKING:
    from PIL.Image import Image

MAX_PIXELS = 200_000_000
MAX_FRAMES = 500
OCR_PIXELS = 4_000_000
"""Pixels of a picture as the OCR sees it; larger ones are scaled down."""
DEFAULT_DPI = 72.0
FRAMED = frozenset({"TIFF"})
"""Formats whose frames are pages; the frames of an animation are not."""
VECTORS = frozenset({"image/svg+xml", "image/x-emf", "image/x-wmf"})
TEXTS = {270: "description", 315: "artist", 33432: "copyright", 40091: "title", 40092: "comment",
         40094: "keywords", 37510: "user comment"}  # fmt: skip
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
            about = f"{picture.format} image, {picture.width} × {picture.height} pixels"
            rows.note("image", about)
            rows.add("image", asset=given.assets.add(data, media_type), media_type=media_type,
                     page=1, boxes=[_whole(picture, 1)])  # fmt: skip
            for text in _descriptions(picture):
                rows.add("note", text)
            for number, frame in _frames(picture, given):
                _read(rows, reader, frame, number)
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


def _frames(picture: "Image", given: ParseInput) -> Iterator[tuple[int, "Image"]]:
    """The pages of the picture, from 1, the right way up and small enough to be read."""
    from PIL import ImageOps

    count = getattr(picture, "n_frames", 1) if picture.format in FRAMED else 1
    for index in range(min(count, MAX_FRAMES)):
        if index:
            try:
                picture.seek(index)
                picture.load()
            except (OSError, EOFError, ValueError, SyntaxError):
                return
        frame = ImageOps.exif_transpose(picture) or picture
        given.progress(0)
        yield index + 1, frame.convert("RGB")


def _read(rows: Rows, reader: Reader, frame: "Image", number: int) -> None:
    """Text rows of one picture, boxes in points at 72 to the inch."""
    pixels = frame.width * frame.height
    scale = min(1.0, (OCR_PIXELS / max(pixels, 1)) ** 0.5)
    if scale < 1.0:
        size = (max(1, int(frame.width * scale)), max(1, int(frame.height * scale)))
        frame = frame.resize(size)
    segments = reader.read(frame)
    if not segments:
        return
    found = [
        Segment(s.x0 / scale, s.y0 / scale, s.x1 / scale, s.y1 / scale, s.text, s.em / scale)
        for s in segments
    ]
    page = Page(number, frame.width / scale, frame.height / scale, found, [], [], [], [], [], [])
    PageWriter(rows, Typography.of([page])).write(page, reading_order(found))


def _whole(picture: "Image", number: int) -> Box:
    return Box(page=number, bbox=(0.0, 0.0, float(picture.width), float(picture.height)))


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
