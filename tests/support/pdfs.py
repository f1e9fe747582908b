"""A minimal PDF writer: text in Helvetica, lines, filled boxes and RGB pictures.

Coordinates are points from the top left, as the parser gives them back.
"""

import zlib
from dataclasses import dataclass, field


@dataclass
class PdfPage:
    """One page; draw on it, then hand it to `write_pdf`.

    `rotate` is by how many degrees clockwise it is shown turned. `crop` is the part of it that
    is shown, as left, bottom, right and top from its left bottom corner.
    """

    width: float = 595.0
    height: float = 842.0
    rotate: int = 0
    crop: tuple[float, float, float, float] | None = None
    operators: list[str] = field(default_factory=list)
    pictures: list[tuple[int, int, bytes]] = field(default_factory=list)

    def text(
        self, x: float, y: float, text: str, size: float = 10, *, bold: bool = False,
        gray: float = 0.0,
    ) -> "PdfPage":  # fmt: skip
        """A line of text whose baseline is `y` points below the top."""
        escaped = text.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")
        font = "F2" if bold else "F1"
        self.operators.append(
            f"BT {gray} g /{font} {size} Tf 1 0 0 1 {x} {self.height - y} Tm ({escaped}) Tj ET 0 g"
        )
        return self

    def lines(self, x: float, y: float, texts: list[str], size: float = 10) -> "PdfPage":
        """Lines of one paragraph, set 1.2 times their size apart."""
        for i, text in enumerate(texts):
            self.text(x, y + 1.2 * size * i, text, size)
        return self

    def rule(self, x0: float, y0: float, x1: float, y1: float) -> "PdfPage":
        """A straight line of half a point."""
        self.operators.append(f"0.5 w {x0} {self.height - y0} m {x1} {self.height - y1} l S")
        return self

    def grid(self, xs: list[float], ys: list[float]) -> "PdfPage":
        """Every line of a table's grid."""
        for x in xs:
            self.rule(x, ys[0], x, ys[-1])
        for y in ys:
            self.rule(xs[0], y, xs[-1], y)
        return self

    def picture(
        self, x: float, y: float, width: float, height: float, rgb: tuple[int, int, int]
    ) -> "PdfPage":
        """A picture of 8 × 8 pixels, its left top corner at (x, y)."""
        pixels = bytes(v if (i // 3) % 2 else 255 - v for i, v in enumerate(rgb * 64))
        name = f"I{len(self.pictures)}"
        self.pictures.append((8, 8, pixels))
        self.operators.append(
            f"q {width} 0 0 {height} {x} {self.height - y - height} cm /{name} Do Q"
        )
        return self


def write_pdf(*pages: PdfPage, xfa: dict[str, str] | None = None) -> bytes:
    """The pages as one PDF file, with a form of these XFA packets."""
    objects: list[bytes] = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"",
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica-Bold /Encoding /WinAnsiEncoding >>",
    ]
    kids = []
    for page in pages:
        names = []
        for i, (width, height, pixels) in enumerate(page.pictures):
            data = zlib.compress(pixels)
            objects.append(
                f"<< /Type /XObject /Subtype /Image /Width {width} /Height {height} "
                f"/ColorSpace /DeviceRGB /BitsPerComponent 8 /Filter /FlateDecode "
                f"/Length {len(data)} >>\nstream\n".encode()
                + data
                + b"\nendstream"
            )
            names.append(f"/I{i} {len(objects)} 0 R")
        content = "\n".join(page.operators).encode("cp1252")
        objects.append(
            f"<< /Length {len(content)} >>\nstream\n".encode() + content + b"\nendstream"
        )
        crop = f"/CropBox [{' '.join(map(str, page.crop))}] " if page.crop else ""
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {page.width} {page.height}] "
            f"/Rotate {page.rotate} {crop}"
            f"/Contents {len(objects)} 0 R /Resources << /Font << /F1 3 0 R /F2 4 0 R >> "
            f"/XObject << {' '.join(names)} >> >> >>".encode()
        )
        kids.append(f"{len(objects)} 0 R")
    objects[1] = f"<< /Type /Pages /Kids [{' '.join(kids)}] /Count {len(kids)} >>".encode()
    packets = []
    for name, text in (xfa or {}).items():
        data = text.encode()
        objects.append(f"<< /Length {len(data)} >>\nstream\n".encode() + data + b"\nendstream")
        packets.append(f"({name}) {len(objects)} 0 R")
    if packets:
        objects[0] = (
            f"<< /Type /Catalog /Pages 2 0 R /NeedsRendering true "
            f"/AcroForm << /Fields [] /XFA [{' '.join(packets)}] >> >>"
        ).encode()
    out = bytearray(b"%PDF-1.4\n")
    offsets = []
    for number, body in enumerate(objects, 1):
        offsets.append(len(out))
        out += f"{number} 0 obj\n".encode() + body + b"\nendobj\n"
    start = len(out)
    out += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n".encode()
    out += b"".join(f"{offset:010d} 00000 n \n".encode() for offset in offsets)
    out += (
        f"trailer << /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n".encode()
    )
    return bytes(out)
