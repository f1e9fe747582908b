"""Page pictures: what is drawn, what is marked, what is refused."""

import hashlib
import io
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from libs.contracts.api.reading import PageBox, PictureQuery
from libs.contracts.faults import DocumentFault, WorldFault
from libs.runtime.sandbox.child import Attempt
from services.parser.picture import FILL, MAX_HEIGHT, PICTURE, draw
from tests.support.pdfs import PdfPage, write_pdf

WHITE = (255, 255, 255)


def drawn(folder: Path, data: bytes, **asked: Any) -> tuple[dict[str, Any], Image.Image | None]:
    (folder / "out").mkdir(exist_ok=True)
    path = folder / "source"
    path.write_bytes(data)
    known = {"namespace": "acme", "source": "s", "target": "t", "media": "pdf", "page": 1,
             "width": 595, "sha256": hashlib.sha256(data).hexdigest()}  # fmt: skip
    query = PictureQuery.model_validate(known | asked)
    arguments = {"query": query.model_dump(mode="json"), "path": str(path)}
    result = draw(arguments, Attempt(folder))
    picture = folder / "out" / PICTURE
    return result, Image.open(picture) if picture.exists() else None


def two_pages() -> bytes:
    second = PdfPage(width=300, height=600).text(100, 100, "Second", 24, bold=True)
    return write_pdf(PdfPage(width=300, height=600), second)


def test_a_page_is_as_wide_as_asked_and_shows_its_text(tmp_path: Path) -> None:
    result, picture = drawn(tmp_path, two_pages(), page=2, width=600)
    assert picture is not None
    assert result == {"width": 600, "height": 1200}
    assert picture.size == (600, 1200)
    text = picture.crop((190, 150, 500, 210)).convert("L")
    assert text.getextrema()[0] < 60
    assert picture.crop((0, 300, 600, 1200)).getcolors() == [(600 * 900, WHITE)]


def test_boxes_are_marked_in_points_and_leave_the_rest_alone(tmp_path: Path) -> None:
    box = PageBox(x0=50, y0=300, x1=150, y1=400)
    _, picture = drawn(tmp_path, two_pages(), width=600, boxes=[box])
    assert picture is not None
    tint = tuple(round((255 * (255 - FILL[3]) + c * FILL[3]) / 255) for c in FILL[:3])
    inside = picture.getpixel((200, 700))
    assert isinstance(inside, tuple)
    assert all(abs(a - b) <= 1 for a, b in zip(inside, tint, strict=True))
    assert picture.getpixel((90, 700)) == picture.getpixel((200, 590)) == WHITE


def test_a_turned_page_is_drawn_as_it_is_shown(tmp_path: Path) -> None:
    page = PdfPage(width=300, height=600, rotate=90)
    result, _ = drawn(tmp_path, write_pdf(page), width=600)
    assert result == {"width": 600, "height": 300}


def test_a_page_that_is_not_there_tells_how_many_there_are(tmp_path: Path) -> None:
    assert drawn(tmp_path, two_pages(), page=3) == ({"pages": 2}, None)


def test_an_image_is_its_own_only_page(tmp_path: Path) -> None:
    out = io.BytesIO()
    Image.new("RGB", (400, 200), (10, 20, 30)).save(out, "PNG")
    result, picture = drawn(tmp_path, out.getvalue(), media="image", width=100)
    assert picture is not None
    assert result == {"width": 100, "height": 50}
    assert picture.getpixel((5, 5)) == (10, 20, 30)


def test_a_very_high_page_stays_bounded(tmp_path: Path) -> None:
    result, _ = drawn(tmp_path, write_pdf(PdfPage(width=20, height=14_000)), width=2400)
    assert result["height"] <= MAX_HEIGHT


@pytest.mark.parametrize("data", [b"", b"%PDF-1.4 nothing", two_pages()[:200]])
def test_what_cannot_be_drawn_is_the_documents_fault(tmp_path: Path, data: bytes) -> None:
    with pytest.raises(DocumentFault):
        drawn(tmp_path, data)


def test_other_bytes_than_the_revisions_are_the_stores_fault(tmp_path: Path) -> None:
    with pytest.raises(WorldFault):
        drawn(tmp_path, two_pages(), sha256="0" * 64)
