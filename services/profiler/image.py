"""One look at an image file: is it whole, how large, how many frames, and when was it taken."""

import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from libs.contracts.faults import Code, DocumentFault

if TYPE_CHECKING:
    from PIL import Image

EXIF_DATE = 0x0132


@dataclass(frozen=True)
class ImageLook:
    """The frames of a TIFF count as pages; `created` as the image says."""

    page_count: int
    created: str | None


def look_at_image(path: Path, max_pixels: int) -> ImageLook:
    """Decode the image at `path` once.

    Raises `DocumentFault`: `TOO_LARGE` over `max_pixels`, before anything is decoded, and
    `UNREADABLE` when it is damaged or truncated.
    """
    from PIL import Image, UnidentifiedImageError

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            Image.MAX_IMAGE_PIXELS = None
            with Image.open(path) as image:
                most = max_pixels // _copies(image)
                if image.width * image.height > most:
                    raise DocumentFault(
                        Code.TOO_LARGE,
                        f"the image has {image.width} × {image.height} pixels; at most "
                        f"{most // 1_000_000} million of this kind are read, scale it down",
                    )
                image.load()
                created = image.getexif().get(EXIF_DATE)
                frames = getattr(image, "n_frames", 1) if image.format == "TIFF" else 1
                return ImageLook(frames, str(created) if created else None)
    except (UnidentifiedImageError, OSError, SyntaxError, ValueError, EOFError) as error:
        raise DocumentFault(
            Code.UNREADABLE, f"the image is damaged or truncated ({type(error).__name__})"
        ) from None


def _copies(image: "Image.Image") -> int:
    """How many whole pictures the decoder holds at once: it bounds what fits into memory."""
    if image.format == "WEBP":
        return 3
    return 2 if image.info.get("progressive") else 1
