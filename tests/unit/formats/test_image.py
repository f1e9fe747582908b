import io

import pytest
from PIL import Image

from libs.contracts.faults import Code, DocumentFault
from services.parser.formats import image as strategy
from services.parser.formats import ocr
from services.parser.formats.images import image_type
from services.parser.formats.pdf_page import Segment
from tests.support.parsing import parse_bytes


def _saved(kind: str, size=(120, 60), **more) -> bytes:
    out = io.BytesIO()
    Image.new("RGB", size, "white").save(out, kind, **more)
    return out.getvalue()


@pytest.fixture
def engine(monkeypatch):
    lines = [
        Segment(10, 10, 110, 22, "First line", 9),
        Segment(10, 24, 90, 36, "second line", 9),
    ]
    monkeypatch.setattr(ocr.Reader, "read", lambda self, image, number=None: list(lines))


def test_an_image_is_kept_and_read(engine):
    data = _saved("PNG")
    parsed = parse_bytes(data, "image")
    assert parsed.kinds() == ["image", "paragraph"]
    assert (parsed.folder / "out" / parsed.rows[0].asset).read_bytes() == data
    assert parsed.rows[0].boxes[0].bbox == (0, 0, 120, 60)
    assert parsed.rows[1].text == "First line second line"
    assert parsed.rows[1].boxes[0].bbox == (10, 10, 110, 36)
    assert "120 × 60" in parsed.findings["image"].detail


def test_every_page_of_a_tiff_is_read(engine):
    frames = [Image.new("RGB", (50, 50), c) for c in ("white", "grey", "black")]
    out = io.BytesIO()
    frames[0].save(out, "TIFF", save_all=True, append_images=frames[1:])
    parsed = parse_bytes(out.getvalue(), "image")
    assert [r.page for r in parsed.rows if r.kind == "paragraph"] == [1, 2, 3]


def test_embedded_descriptions_are_notes(engine):
    exif = Image.Exif()
    exif[270] = "A fox at the river"
    exif[315] = "Ann"
    parsed = parse_bytes(_saved("JPEG", exif=exif), "image")
    assert parsed.texts("note") == ["description: A fox at the river", "artist: Ann"]


def test_without_an_engine_the_image_stays(monkeypatch):
    def missing():
        raise ImportError("no engine")

    monkeypatch.setattr(ocr, "_load_rapidocr", missing)
    parsed = parse_bytes(_saved("PNG"), "image")
    assert parsed.kinds() == ["image"]
    assert "engine_missing" in parsed.findings


def test_a_bomb_is_too_large(monkeypatch):
    monkeypatch.setattr(strategy, "MAX_PIXELS", 1000)
    with pytest.raises(DocumentFault) as caught:
        parse_bytes(_saved("PNG"), "image")
    assert caught.value.code == Code.TOO_LARGE


@pytest.mark.parametrize("kind", ["PNG", "JPEG"])
def test_a_large_image_is_read_small_and_boxed_as_it_is(kind, monkeypatch):
    seen = []

    def read(self, image, number=None):
        seen.append((image.size, image.getpixel((image.width - 2, image.height - 2))[0] > 200))
        return [Segment(0, 0, image.width, 20, "A line", 9)]

    monkeypatch.setattr(ocr.Reader, "read", read)
    out = io.BytesIO()
    picture = Image.new("RGB", (5000, 4000))
    picture.paste("white", (2500, 2000, 5000, 4000))
    picture.save(out, kind)
    parsed = parse_bytes(out.getvalue(), "image")
    ((size, white),) = seen
    assert (size[0] * size[1] <= strategy.OCR_PIXELS, white) == (True, True)
    assert parsed.rows[0].boxes[0].bbox == (0, 0, 5000, 4000)
    assert parsed.rows[1].boxes[0].bbox[2] == pytest.approx(5000, abs=2)


def test_a_picture_on_its_side_is_read_upright(monkeypatch):
    sizes = []
    monkeypatch.setattr(ocr.Reader, "read", lambda self, image, number: sizes.append(image.size))
    exif = Image.Exif()
    exif[strategy.ORIENTATION] = 6
    parse_bytes(_saved("JPEG", exif=exif), "image")
    assert sizes == [(60, 120)]


@pytest.mark.parametrize("data", [b"", b"GIF8 nothing", _saved("PNG")[:60], b"\x89PNG\r\n\x1a\n"])
def test_damaged_images_are_unreadable(data, engine):
    with pytest.raises(DocumentFault) as caught:
        parse_bytes(data, "image")
    assert caught.value.code == Code.UNREADABLE


def test_vector_images_are_kept_but_not_drawn():
    parsed = parse_bytes(b'<?xml version="1.0"?><svg xmlns="x"><text>t</text></svg>', "image")
    assert parsed.rows[0].media_type == "image/svg+xml"
    assert "image_not_drawn" in parsed.findings


def test_types_by_signature():
    assert image_type(_saved("PNG")) == "image/png"
    assert image_type(_saved("JPEG")) == "image/jpeg"
    assert image_type(_saved("BMP")) == "image/bmp"
    assert image_type(_saved("WEBP")) == "image/webp"
    assert image_type(b"plain") is None
