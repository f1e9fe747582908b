"""One picture in several sizes and qualities is one; pictures that differ are not."""

import io
from pathlib import Path

import pytest
from PIL import Image, ImageDraw

from services.parser.formats.base import AssetSink
from services.parser.formats.likeness import likeness


def chart(bars: list[int]) -> Image.Image:
    picture = Image.new("RGB", (320, 240), "white")
    draw = ImageDraw.Draw(picture)
    draw.line([(30, 10), (30, 210), (310, 210)], fill="black", width=3)
    for i, height in enumerate(bars):
        left = 45 + 44 * i
        draw.rectangle([left, 210 - height, left + 30, 210], fill=(20, 60 + 20 * i, 150))
    return picture


def encoded(picture: Image.Image, kind: str = "JPEG", **more: int) -> bytes:
    out = io.BytesIO()
    picture.save(out, kind, **more)
    return out.getvalue()


BARS = [40, 90, 150, 60, 120, 180]


def test_a_picture_compressed_or_scaled_once_more_is_the_same_asset(tmp_path: Path) -> None:
    sink = AssetSink(tmp_path)
    first = sink.add(encoded(chart(BARS), quality=95), "image/jpeg")
    again = sink.add(encoded(chart(BARS), quality=60), "image/jpeg")
    smaller = sink.add(encoded(chart(BARS).resize((160, 120)), quality=90), "image/jpeg")
    assert first == again == smaller
    assert len(list(tmp_path.rglob("*.jpg"))) == 1
    assert list(sink.media_types) == [first]


@pytest.mark.parametrize("bars", [[40, 90, 150, 60, 120, 20], [90, 40, 150, 60, 120, 180]])
def test_another_chart_in_the_same_frame_is_an_asset_of_its_own(
    tmp_path: Path, bars: list[int]
) -> None:
    sink = AssetSink(tmp_path)
    assert sink.add(encoded(chart(BARS)), "image/jpeg") != sink.add(
        encoded(chart(bars)), "image/jpeg"
    )


def test_another_type_keeps_its_own_bytes(tmp_path: Path) -> None:
    sink = AssetSink(tmp_path)
    names = {
        sink.add(encoded(chart(BARS), kind), f"image/{kind.lower()}") for kind in ("JPEG", "PNG")
    }
    assert len(names) == 2


@pytest.mark.parametrize(
    "data",
    [b"", b"\xff\xd8\xff" + b"\0" * 50, encoded(Image.new("RGB", (200, 200), "white")),
     encoded(chart(BARS).resize((20, 16))), encoded(chart(BARS))[:900]],
    ids=["empty", "damaged", "plain", "small", "cut"],
)  # fmt: skip
def test_what_cannot_be_compared_has_no_likeness(data: bytes) -> None:
    assert likeness(data) is None
