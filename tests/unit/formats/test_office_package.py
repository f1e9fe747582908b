import io
import zipfile

import docx
import pptx
import pytest
from PIL import Image

from libs.runtime.sandbox.archives import ArchiveLimits
from services.profiler.zips import zip_format
from tests.support.odf import write_odf
from tests.support.parsing import parse_bytes


def _text_document() -> bytes:
    document = docx.Document()
    document.add_heading("Title", 1)
    document.add_paragraph("Some text.")
    picture = io.BytesIO()
    Image.new("RGB", (80, 60), "red").save(picture, "PNG")
    picture.seek(0)
    document.add_picture(picture)
    document.sections[0].footer.paragraphs[0].text = "the foot"
    out = io.BytesIO()
    document.save(out)
    return out.getvalue()


def _slides() -> bytes:
    deck = pptx.Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[1])
    slide.shapes.title.text = "First"
    slide.placeholders[1].text = "a point"
    out = io.BytesIO()
    deck.save(out)
    return out.getvalue()


def _changed(package: bytes, change) -> bytes:
    """The package with `change(name, content)` written for each part; None leaves it out."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(package)) as source, zipfile.ZipFile(out, "w") as target:
        for name in source.namelist():
            content = change(name, source.read(name))
            if content is not None:
                target.writestr(name, content)
    return out.getvalue()


def _typed(old: str, new: str):
    return lambda name, content: (
        content.replace(old.encode(), new.encode()) if name == "[Content_Types].xml" else content
    )


WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml."
SHOW = "application/vnd.openxmlformats-officedocument.presentationml."


@pytest.mark.parametrize(
    "kind",
    [
        "application/vnd.ms-word.document.macroEnabled.main+xml",
        "application/vnd.ms-word.template.macroEnabledTemplate.main+xml",
        f"{WORD}template.main+xml",
    ],
)
def test_a_text_document_with_macros_or_a_template_is_read(kind):
    data = _changed(_text_document(), _typed(f"{WORD}document.main+xml", kind))
    parsed = parse_bytes(data, "docx")
    assert parsed.outline() == [(1, "Title")]
    assert parsed.texts("paragraph") == ["Some text."]


@pytest.mark.parametrize(
    "kind", [f"{SHOW}slideshow.main+xml", f"{SHOW}template.main+xml",
             "application/vnd.ms-powerpoint.slideshow.macroEnabled.main+xml"]
)  # fmt: skip
def test_a_slide_show_or_a_template_of_slides_is_read(kind):
    data = _changed(_slides(), _typed(f"{SHOW}presentation.main+xml", kind))
    parsed = parse_bytes(data, "pptx")
    assert parsed.outline() == [(1, "First")]
    assert "a point" in [row.text for row in parsed.rows]


def test_a_relation_to_a_part_that_is_not_there_costs_only_that_part():
    data = _changed(_text_document(), lambda name, content: None if "media" in name else content)
    parsed = parse_bytes(data, "docx")
    assert parsed.outline() == [(1, "Title")]
    assert parsed.texts("paragraph") == ["Some text."]
    assert parsed.texts("page_footer") == ["the foot"]
    assert not parsed.media_types


def test_a_part_whose_name_is_written_in_other_letters_is_found():
    data = _changed(
        _text_document(),
        lambda name, content: content.replace(b"media/image1.png", b"media/Image1.PNG"),
    )
    assert "image" in parse_bytes(data, "docx").kinds()


def test_parts_without_a_declared_type_are_read_as_what_they_are_related_as():
    footer = f'<Override PartName="/word/footer1.xml" ContentType="{WORD}footer+xml"/>'
    image = '<Default Extension="png" ContentType="image/png"/>'

    def undeclared(name: str, content: bytes) -> bytes:
        if name != "[Content_Types].xml":
            return content
        assert footer.encode() in content
        assert image.encode() in content
        kept = content.replace(footer.encode(), b"").replace(image.encode(), b"")
        return kept.replace(b'<Default Extension="xml" ContentType="application/xml"/>', b"")

    parsed = parse_bytes(_changed(_text_document(), undeclared), "docx")
    assert parsed.texts("page_footer") == ["the foot"]
    assert "image" in parsed.kinds()


def test_slides_in_the_strict_form_are_read():
    transitional = b"http://schemas.openxmlformats.org/"
    strict = {
        b"officeDocument/2006/relationships": b"http://purl.oclc.org/ooxml/officeDocument/relationships",
        b"presentationml/2006/main": b"http://purl.oclc.org/ooxml/presentationml/main",
        b"drawingml/2006/main": b"http://purl.oclc.org/ooxml/drawingml/main",
    }

    def made_strict(name: str, content: bytes) -> bytes:
        for old, new in strict.items():
            content = content.replace(transitional + old, new)
        return content

    assert parse_bytes(_changed(_slides(), made_strict), "pptx").outline() == [(1, "First")]


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("odt", "text-template"),
        ("odt", "text-master"),
        ("odt", "text-web"),
        ("odp", "presentation-template"),
    ],
)
def test_templates_of_opendocument_are_read(tmp_path, name, kind):
    bodies = {
        "odt": "<office:text><text:p>Hello there</text:p></office:text>",
        "odp": '<office:presentation><draw:page draw:name="p"><draw:frame><draw:text-box>'
        "<text:p>Hello there</text:p></draw:text-box></draw:frame></draw:page>"
        "</office:presentation>",
    }
    data = write_odf(bodies[name], kind)
    path = tmp_path / "given"
    path.write_bytes(data)
    assert zip_format(path, ArchiveLimits())[0] == name
    assert "Hello there" in [row.text for row in parse_bytes(data, name).rows]


def test_a_frame_that_hangs_on_a_page_of_a_text_document_is_read():
    frame = (
        '<draw:frame text:anchor-type="page"><draw:text-box><text:p>in a frame</text:p>'
        "</draw:text-box></draw:frame>"
    )
    body = f"<office:text>{frame}<text:p>the text</text:p></office:text>"
    assert parse_bytes(write_odf(body, "text"), "odt").texts("paragraph") == [
        "in a frame",
        "the text",
    ]
