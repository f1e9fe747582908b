"""A picture of one page, with rectangles marked on it; runs in the sandbox."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from libs.contracts.api.reading import PageBox, PictureQuery
from libs.contracts.faults import Code, DocumentFault
from libs.runtime.sandbox.child import Attempt
from libs.runtime.sandbox.files import verify

if TYPE_CHECKING:
    from PIL.Image import Image

DRAW = "services.parser.picture:draw"
PICTURE = "page.png"
MAX_HEIGHT = 4800
MAX_PIXELS = 200_000_000
FILL, EDGE = (255, 214, 10, 72), (214, 120, 0, 255)


def draw(arguments: dict[str, Any], attempt: Attempt) -> dict[str, Any]:
    """Draw the page of the file at `path` that `query` (a `PictureQuery`) asks for.

    Writes `out/page.png`, `query.width` pixels wide unless that made it higher than
    `MAX_HEIGHT`; returns its `width` and `height`. An image file has the one page 1, whose
    points are its pixels. For a page that the file does not have, only its number of `pages`.
    """
    query, path = PictureQuery.model_validate(arguments["query"]), Path(arguments["path"])
    verify([(path, query.sha256)])
    drawn = (_pdf_page if query.media == "pdf" else _image)(path, query)
    if isinstance(drawn, int):
        return {"pages": drawn}
    picture = marked(drawn[0].convert("RGB"), query.boxes, drawn[1])
    picture.save(attempt.out / PICTURE, "PNG", optimize=False, compress_level=6)
    return {"width": picture.width, "height": picture.height}


def marked(picture: "Image", boxes: list[PageBox], scale: float) -> "Image":
    """The RGB picture with the boxes, in points times `scale` pixels, tinted and framed."""
    if not boxes:
        return picture
    from PIL import Image, ImageDraw

    layer = Image.new("RGBA", picture.size)
    pen = ImageDraw.Draw(layer)
    for box in boxes:
        across, down = sorted((box.x0, box.x1)), sorted((box.y0, box.y1))
        left, top = across[0] * scale - 1, down[0] * scale - 1
        right, bottom = across[1] * scale + 1, down[1] * scale + 1
        pen.rectangle((left, top, right, bottom), fill=FILL, outline=EDGE, width=2)
    return Image.alpha_composite(picture.convert("RGBA"), layer).convert("RGB")


def _scale(width: float, height: float, query: PictureQuery) -> float:
    """Pixels a point; a trifle less, since the renderer rounds up."""
    return min(query.width / max(width, 1.0), MAX_HEIGHT / max(height, 1.0)) * (1 - 1e-6)


def _pdf_page(path: Path, query: PictureQuery) -> "tuple[Image, float] | int":
    import pypdfium2

    try:
        document: Any = pypdfium2.PdfDocument(path)  # type: ignore[no-untyped-call]
    except pypdfium2.PdfiumError:
        raise DocumentFault(Code.UNREADABLE, "the PDF cannot be drawn") from None
    try:
        if query.page > len(document):
            return len(document)
        document.init_forms()
        page = document[query.page - 1]
        scale = _scale(page.get_width(), page.get_height(), query)
        picture: Image = page.render(scale=scale, may_draw_forms=True).to_pil()
        return picture, scale
    finally:
        document.close()


def _image(path: Path, query: PictureQuery) -> "tuple[Image, float] | int":
    from PIL import Image

    Image.MAX_IMAGE_PIXELS = MAX_PIXELS
    if query.page > 1:
        return 1
    with Image.open(path) as opened:
        if opened.width * opened.height > MAX_PIXELS:
            raise DocumentFault(Code.TOO_LARGE, "the image is too large to be drawn")
        scale = _scale(opened.width, opened.height, query)
        size = (max(1, round(opened.width * scale)), max(1, round(opened.height * scale)))
        opened.draft("RGB", size)
        return opened.convert("RGB").resize(size), scale
