"""The binding of liteparse that pages are read with holds what its public call gives."""

from liteparse import LiteParse

from services.parser.formats.pdf_read import READING, read_pages, read_window
from tests.support.pdfs import PdfPage, write_pdf

VALUES = ("text", "x", "y", "width", "height", "font_name", "font_size", "font_height",
          "font_weight", "fill_color", "rotation")  # fmt: skip


def test_the_binding_holds_what_the_public_call_gives(tmp_path):
    path = tmp_path / "source.pdf"
    page = PdfPage().text(72, 80, "Rivers      and boats", bold=True).grid([72, 200], [120, 140])
    path.write_bytes(write_pdf(page.picture(72, 200, 100, 100, (10, 20, 30))))
    binding, public = read_window(path, "1-1"), LiteParse(**READING).parse(path)
    (ours,), (theirs,) = binding.pages, public.pages
    assert [[getattr(i, name) for name in VALUES] for i in ours.text_items] == [
        [getattr(i, name) for name in VALUES] for i in theirs.text_items
    ]
    assert [[w.text for w in i.words] for i in ours.text_items] == [
        [w.text for w in i.words] for i in theirs.text_items
    ]
    assert len(ours.vector_graphics.lines) == len(theirs.vector_graphics.lines) > 0
    assert [i.bytes for i in binding.images] == [i.bytes for i in public.images]


def test_pages_past_the_last_are_not_asked_for(tmp_path):
    path = tmp_path / "source.pdf"
    path.write_bytes(write_pdf(*(PdfPage().text(72, 80, f"page {n}") for n in range(1, 31))))
    for total in (0, 30):
        numbers = [page.number for page in read_pages(path, 0, 0, total=total)]
        assert numbers == list(range(1, 31))
    assert [page.number for page in read_pages(path, 28, 30, total=30)] == [28, 29, 30]
