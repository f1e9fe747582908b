"""Pages that are shown turned or cropped, text that nobody sees, forms that stand on no page."""

import pytest

from tests.support.parsing import parse_bytes
from tests.support.pdfs import PdfPage, write_pdf

BODY = [
    "The quick brown fox jumps over the lazy dog and runs through the",
    "forest until it comes to a river that it cannot cross without help",
    "from somebody who has a boat and time to row.",
]
UPRIGHT = {
    0: "1 0 0 1 {x} {y}",
    90: "0 1 -1 0 {w_y} {x}",
    180: "-1 0 0 -1 {w_x} {h_y}",
    270: "0 -1 1 0 {y} {h_x}",
}
"""Text matrices that set text upright on a page shown turned by so many degrees."""


def _turned(degrees: int) -> PdfPage:
    """A title and a paragraph that stand upright once the page of 600 × 800 is turned."""
    page = PdfPage(600, 800, rotate=degrees)
    texts = [("A study of foxes", 80.0, 20), *((t, 120 + 12.0 * i, 10) for i, t in enumerate(BODY))]
    for text, top, size in texts:
        x, y = 72.0, (600 if degrees in (90, 270) else 800) - top
        matrix = UPRIGHT[degrees].format(
            x=x, y=y, w_x=600 - x, w_y=600 - y, h_x=800 - x, h_y=800 - y
        )
        page.operators.append(f"BT /F1 {size} Tf {matrix} Tm ({text}) Tj ET")
    return page


@pytest.mark.parametrize("degrees", [0, 90, 180, 270])
def test_a_page_that_is_shown_turned_reads_as_it_is_shown(degrees: int) -> None:
    parsed = parse_bytes(write_pdf(_turned(degrees)), "pdf")
    title, body = parsed.rows
    assert (title.kind, title.text) == ("heading", "A study of foxes")
    assert (body.kind, body.text) == ("paragraph", " ".join(BODY))
    x0, y0, _, y1 = title.boxes[0].bbox
    assert x0 == pytest.approx(72, abs=2)
    assert y0 < 80 < y1 + 6


@pytest.mark.parametrize("degrees", [90, 180, 270])
def test_text_that_lies_sideways_on_a_turned_page_is_read_with_boxes_as_shown(
    degrees: int,
) -> None:
    page = PdfPage(600, 800, rotate=degrees).lines(72, 120, BODY)
    (row,) = parse_bytes(write_pdf(page), "pdf").rows
    assert row.text == " ".join(BODY)
    x0, y0, x1, y1 = row.boxes[0].bbox
    width, height = (600, 800) if degrees == 180 else (800, 600)
    left, right, top, bottom = 72, 365, 110, 148
    shown = {
        90: (width - bottom, left, width - top, right),
        180: (width - right, height - bottom, width - left, height - top),
        270: (top, height - right, bottom, height - left),
    }[degrees]
    assert (x0, y0, x1, y1) == pytest.approx(shown, abs=8)


def test_on_a_cropped_page_boxes_count_from_what_is_shown_and_the_rest_is_hidden() -> None:
    page = PdfPage(600, 800, crop=(50, 100, 550, 700)).lines(72, 200, BODY)
    page.text(72, 40, "proof 3 of 5, cut here")
    parsed = parse_bytes(write_pdf(page), "pdf")
    shown = [row for row in parsed.rows if not row.hidden]
    assert [row.text for row in shown] == [" ".join(BODY)]
    x0, y0, _, _ = shown[0].boxes[0].bbox
    assert (x0, y0) == pytest.approx((72 - 50, 190 - 100), abs=3)
    assert [row.text for row in parsed.rows if row.hidden] == ["proof 3 of 5, cut here"]
    assert "hidden_text" in parsed.findings


@pytest.mark.parametrize(
    "operators",
    [
        "BT /F1 0.1 Tf 1 0 0 1 72 500 Tm (obey the small print) Tj ET",
        "BT /F1 10 Tf 0.01 0 0 0.01 72 500 Tm (obey the small print) Tj ET",
        "BT /F1 10 Tf 1 0 0 1 -400 500 Tm (obey the small print) Tj ET",
        "BT /F1 10 Tf 1 0 0 1 72 -200 Tm (obey the small print) Tj ET",
        "BT /F1 10 Tf 3 Tr 1 0 0 1 72 500 Tm (obey the small print) Tj ET",
    ],
    ids=["no size", "scaled to none", "left of the page", "below the page", "not painted"],
)
def test_text_that_a_reader_cannot_see_is_no_evidence(operators: str) -> None:
    page = PdfPage().lines(72, 100, BODY)
    page.operators.append(operators)
    parsed = parse_bytes(write_pdf(page), "pdf")
    assert [row.text for row in parsed.rows if not row.hidden] == [" ".join(BODY)]


@pytest.mark.parametrize("place", ["-400 500", "72 -200", "900 500"])
def test_text_off_the_page_is_told_apart_from_text_that_runs_over_its_edge(place: str) -> None:
    page = PdfPage().lines(72, 100, BODY).text(520, 400, "Runs over the edge")
    page.operators.append(f"BT /F1 10 Tf 1 0 0 1 {place} Tm (obey this) Tj ET")
    parsed = parse_bytes(write_pdf(page), "pdf")
    (hidden,) = [row.text for row in parsed.rows if row.hidden]
    assert "obey this" in hidden
    assert "Runs" not in hidden


TEMPLATE = """
<template xmlns="http://www.xfa.org/schema/xfa-template/3.3/"><subform name="form">
<draw><value><text>Application for a mooring</text></value></draw>
<field name="boat"><caption><value><text>Name of the boat</text></value></caption></field>
<field name="port"><assist><toolTip>Home port</toolTip></assist></field>
<draw presence="hidden"><value><text>for the office alone</text></value></draw>
<field name="length"><caption><value><text>Length</text></value></caption>
<value><text>12 m</text></value></field>
</subform></template>"""
DATASETS = """
<xfa:datasets xmlns:xfa="http://www.xfa.org/schema/xfa-data/1.0/"><xfa:data><form>
<boat>Fuchs</boat><port/><crew>four</crew></form></xfa:data></xfa:datasets>"""
READ = [
    ("paragraph", "Application for a mooring"),
    ("note", "Name of the boat: Fuchs"),
    ("paragraph", "Home port"),
    ("note", "Length: 12 m"),
    ("note", "crew: four"),
]


@pytest.mark.parametrize(
    "packets",
    [
        {"template": TEMPLATE, "datasets": DATASETS},
        {"": f'<xdp:xdp xmlns:xdp="http://ns.adobe.com/xdp/">{TEMPLATE}{DATASETS}</xdp:xdp>'},
    ],
    ids=["a packet each", "all in one"],
)
def test_a_form_that_stands_on_no_page_is_read_with_its_values(packets: dict[str, str]) -> None:
    parsed = parse_bytes(write_pdf(PdfPage(), xfa=packets), "pdf")
    assert [(row.kind, row.text) for row in parsed.rows] == READ
    assert "xfa_form" in parsed.findings


def test_a_form_with_entities_is_not_expanded() -> None:
    bomb = '<!DOCTYPE x [<!ENTITY a "spam"><!ENTITY b "&a;&a;">]>' + TEMPLATE.replace("12 m", "&b;")
    page = PdfPage().text(72, 100, "Please wait while the form is loaded")
    parsed = parse_bytes(write_pdf(page, xfa={"template": bomb, "datasets": DATASETS}), "pdf")
    assert "spam" not in " ".join(row.text for row in parsed.rows)
