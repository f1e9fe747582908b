"""Pictures inside office files: one that would fill the memory is left out, not the document."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from services.parser.formats.rows import Rows

MAX_PIXELS = 50_000_000
"""Of one picture: docling keeps it decoded, as PNG and as text at the same time."""


@contextmanager
def bounded_pictures(rows: Rows) -> Iterator[None]:
    """Have Pillow refuse pictures of over `MAX_PIXELS` as it refuses damaged ones.

    Libraries that read office files pass over what Pillow cannot identify; its own guard
    against decompression bombs would end them instead.
    """
    from PIL import Image, UnidentifiedImageError

    module: Any = Image
    plain, bound = Image.open, Image.MAX_IMAGE_PIXELS

    def bounded(*args: Any, **kwargs: Any) -> Image.Image:
        picture = plain(*args, **kwargs)
        if picture.width * picture.height <= MAX_PIXELS:
            return picture
        picture.close()
        rows.note(
            "image_too_large",
            f"pictures of over {MAX_PIXELS // 10**6} million pixels were left out",
            severity="warning",
        )
        raise UnidentifiedImageError

    module.open, module.MAX_IMAGE_PIXELS = bounded, None
    try:
        yield
    finally:
        module.open, module.MAX_IMAGE_PIXELS = plain, bound
