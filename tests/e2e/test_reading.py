"""Reading a published document as agents do: sections, Markdown, grep, and the page it cites."""

import io

from PIL import Image

from tests.support.documents import manual_pdf
from tests.support.stack import Stack


def test_a_pdf_is_read_by_section_pattern_and_picture(stack: Stack) -> None:
    sent = stack.ingest("reading.pdf", manual_pdf(), document_id="reading")
    assert sent["document_id"] == "reading"
    root = stack.get("/documents/reading/sections?depth=16").json()["section"]
    assert root["children"]
    text = stack.get("/documents/reading/markdown").text
    assert "guide vanes" in text
    with stack.client() as client:
        answer = client.post(
            f"{stack.base}/grep",
            json={"pattern": "guide (vanes?)", "syntax": "re2", "document_ids": ["reading"]},
        )
        assert answer.status_code == 200, answer.text
        hit = answer.json()["hits"][0]
        assert "guide vane" in hit["matches"][0]["excerpt"]
        (piece, *_) = stack.search("guide vanes", filters={"document_ids": ["reading"]})["evidence"]
        box = piece["boxes"][0]
        marks = ",".join(str(value) for value in box["bbox"])
        url = f"{stack.base}/documents/reading/pages/{box['page']}.png"
        plain = client.get(url, params={"width": 400})
        marked = client.get(url, params={"width": 400, "boxes": marks})
        beyond = client.get(f"{stack.base}/documents/reading/pages/99.png")
    assert (plain.status_code, marked.status_code) == (200, 200), plain.text[:300]
    assert Image.open(io.BytesIO(plain.content)).size[0] == 400
    assert plain.content != marked.content
    assert (beyond.status_code, beyond.json()["code"]) == (404, "not_found")
