"""Pictures that look the same though their bytes differ: scaled, or compressed once more.

A perceptual hash finds candidates and a comparison of the reduced pictures decides, since two
charts with the same frame have near hashes and are not the same.
"""

import io
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from PIL.Image import Image

    Grey = np.ndarray[Any, np.dtype[np.float64]]

SIDE = 32
BLOCK = 8
MIN_PIXELS = 32
"""Pixels a side under which a picture is compared by its bytes alone."""
MAX_PIXELS = 25_000_000
MAX_UNSCALED = 4_000_000
"""Pixels of a picture that cannot be decoded at a smaller scale, which only JPEG can."""
NEAR_BITS = 4
"""Bits of 64 in which the hashes of one picture may differ."""
NEAR_MEAN, NEAR_MOST = 2.0, 24.0
"""Differences of the reduced pictures, of 255: on the mean, and of one place at most."""
SAME_SHAPE = 0.02
MIN_SPREAD = 8.0
"""Standard deviation of grey under which a picture is too plain to be told from others."""


@dataclass(frozen=True)
class Likeness:
    """What is remembered of a picture: 64 bits, the reduced picture, width over height."""

    bits: int
    grey: "Grey"
    shape: float

    def same(self, other: "Likeness") -> bool:
        """Whether both are one picture."""
        if abs(self.shape - other.shape) > SAME_SHAPE * self.shape:
            return False
        if (self.bits ^ other.bits).bit_count() > NEAR_BITS:
            return False
        difference = abs(self.grey - other.grey)
        return bool(difference.mean() <= NEAR_MEAN and difference.max() <= NEAR_MOST)


def likeness(data: bytes) -> Likeness | None:
    """The likeness of image bytes; None where they are damaged, too small, large or plain.

    The hash is the DCT-based one of C. Zauner, "Implementation and Benchmarking of Perceptual
    Image Hash Functions", 2010, section 3.2.1: the signs of the 8 × 8 lowest frequencies of the
    picture at 32 × 32, the constant ones left out, against their median.
    """
    import numpy as np
    from PIL import Image

    try:
        with Image.open(io.BytesIO(data)) as picture:
            width, height = picture.size
            if not _comparable(picture):
                return None
            picture.draft("L", (4 * SIDE, 4 * SIDE))
            reduced = picture.convert("RGBA" if "transparency" in picture.info else "L")
            reduced = reduced.convert("L").resize((SIDE, SIDE), Image.Resampling.BOX)
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        return None
    grey = np.asarray(reduced, dtype=np.float64)
    if grey.std() < MIN_SPREAD:
        return None
    low = (_cosines() @ grey @ _cosines().T)[1 : BLOCK + 1, 1 : BLOCK + 1].ravel()
    bits = int("".join("1" if x else "0" for x in low > np.median(low)), 2)
    return Likeness(bits, grey, width / height)


def _comparable(picture: "Image") -> bool:
    width, height = picture.size
    most = MAX_PIXELS if picture.format == "JPEG" else MAX_UNSCALED
    still = getattr(picture, "n_frames", 1) == 1
    return still and min(width, height) >= MIN_PIXELS and width * height <= most


@cache
def _cosines() -> "Grey":
    """The matrix of the DCT of type II over 32 places, not normalised."""
    import numpy as np

    place = np.arange(SIDE)
    return np.cos(np.pi / SIDE * np.outer(place, place + 0.5))
