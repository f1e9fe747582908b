"""Small documents in many formats, made on the spot."""

import io
import json

import xlsxwriter
from docx import Document
from PIL import Image, ImageDraw
from pptx import Presentation

MARKDOWN = """# Pump manual

Operators read this first.

## Installation

Bolt the pump to the plinth with four M12 anchors. Torque each to 45 Nm.

## Maintenance

| part | interval | tool |
|---|---|---|
| seal | 2000 h | puller |
| bearing | 8000 h | press |

### Lubrication

Use grease LGMT-3 every 500 hours.
"""

KOREAN = """# 산업안전보건 규정

제1장 총칙

제1조 (목적) 이 규정은 사업장의 안전보건에 관한 사항을 정함을 목적으로 한다.

제2장 안전관리

제12조의2 (보호구) 작업자는 안전모와 안전화를 착용하여야 한다.
"""


def pdf(pages: list[list[tuple[float, str]]]) -> bytes:
    """A text PDF: each page a list of (font size, line), top to bottom, Helvetica."""
    objects: list[bytes] = [b"<< /Type /Catalog /Pages 2 0 R >>", b""]
    font = 3 + 2 * len(pages)
    kids = []
    for number, lines in enumerate(pages):
        page, content = 3 + 2 * number, 4 + 2 * number
        kids.append(f"{page} 0 R")
        y, parts = 800.0, []
        for size, line in lines:
            y -= size * 1.8
            text = line.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")
            parts.append(f"BT /F1 {size} Tf 72 {y:.1f} Td ({text}) Tj ET")
        stream = "\n".join(parts).encode("latin-1")
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents {content} 0 R "
            f"/Resources << /Font << /F1 {font} 0 R >> >> >>".encode()
        )
        objects.append(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream))
    objects[1] = f"<< /Type /Pages /Kids [{' '.join(kids)}] /Count {len(pages)} >>".encode()
    objects.append(b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>")
    out = io.BytesIO(b"")
    out.write(b"%PDF-1.4\n")
    offsets = []
    for number, body in enumerate(objects, 1):
        offsets.append(out.tell())
        out.write(b"%d 0 obj\n%s\nendobj\n" % (number, body))
    start = out.tell()
    out.write(b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1))
    for offset in offsets:
        out.write(b"%010d 00000 n \n" % offset)
    out.write(
        b"trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, start)
    )
    return out.getvalue()


def manual_pdf() -> bytes:
    """Two pages with headings told by size."""
    return pdf(
        [
            [
                (20, "Turbine handbook"),
                (11, "This handbook describes the turbine of hall seven."),
                (15, "1 Commissioning"),
                (11, "Open the guide vanes slowly until the rotor turns."),
            ],
            [
                (15, "2 Shutdown"),
                (11, "Close the guide vanes and wait for the rotor to stop."),
            ],
        ]
    )


def docx() -> bytes:
    """Headings, text and a table with a spanned header."""
    document = Document()
    document.add_heading("Quarterly report", 1)
    document.add_paragraph("Revenue grew in the harbour division.")
    document.add_heading("Figures", 2)
    table = document.add_table(rows=3, cols=2)
    table.cell(0, 0).merge(table.cell(0, 1)).text = "Tonnage"
    table.cell(1, 0).text, table.cell(1, 1).text = "Busan", "1200"
    table.cell(2, 0).text, table.cell(2, 1).text = "Incheon", "800"
    out = io.BytesIO()
    document.save(out)
    return out.getvalue()


def pptx() -> bytes:
    """Two slides."""
    deck = Presentation()
    for title, body in (("Roadmap", "Ship the crane scheduler"), ("Risks", "Delayed steel")):
        slide = deck.slides.add_slide(deck.slide_layouts[1])
        slide.shapes.title.text = title
        slide.placeholders[1].text = body
    out = io.BytesIO()
    deck.save(out)
    return out.getvalue()


def xlsx() -> bytes:
    """One sheet with a percentage and a date."""
    out = io.BytesIO()
    book = xlsxwriter.Workbook(out, {"in_memory": True})
    sheet = book.add_worksheet("Stock")
    sheet.write_row(0, 0, ["item", "share"])
    sheet.write(1, 0, "gasket")
    sheet.write_number(1, 1, 0.123, book.add_format({"num_format": "0.0%"}))
    book.close()
    return out.getvalue()


def png() -> bytes:
    """A picture with a word in it."""
    image = Image.new("RGB", (600, 160), "white")
    ImageDraw.Draw(image).text((30, 40), "EMERGENCY STOP", fill="black", font_size=56)
    out = io.BytesIO()
    image.save(out, "PNG")
    return out.getvalue()


def jsonl() -> bytes:
    """Two records."""
    records = [
        {"id": "menu-1", "name": "Card limit", "category": "cards", "keywords": ["raise", "limit"]},
        {"id": "menu-2", "name": "Lost card", "category": "cards", "keywords": ["report", "block"]},
    ]
    return "\n".join(json.dumps(r) for r in records).encode()


def of_every_format() -> dict[str, tuple[bytes, str]]:
    """File name → (bytes, a query that only this file answers)."""
    return {
        "pump.md": (MARKDOWN.encode(), "grease LGMT-3"),
        "turbine.pdf": (manual_pdf(), "guide vanes rotor"),
        "report.docx": (docx(), "Tonnage Busan Incheon"),
        "deck.pptx": (pptx(), "crane scheduler"),
        "stock.xlsx": (xlsx(), "gasket 12.3%"),
        "parts.csv": (b"part,price\nflange,12\nvalve,7\n", "flange price"),
        "safety.txt": (KOREAN.encode(), "안전모 착용"),
        "cp949.txt": (
            "제1장 총칙\n\n선박의 입항 절차를 정한다.\n".encode("cp949"),
            "선박 입항 절차",
        ),
        "page.html": (
            b"<html><body><h1>Ferry timetable</h1><p>The island ferry leaves at noon.</p>"
            b"<script>alert('x')</script></body></html>",
            "island ferry noon",
        ),
        "sign.png": (png(), "EMERGENCY STOP"),
        "menus.jsonl": (jsonl(), "lost card block"),
    }
