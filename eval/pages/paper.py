"""Long PDFs as office programs print them: flat ODF, turned into a PDF by LibreOffice."""

import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from xml.sax.saxutils import escape

CONVERT_SECONDS = 300
_SPACES = " ".join(
    f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{kind}:1.0"'
    for name, kind in (
        ("office", "office"), ("style", "style"), ("text", "text"), ("table", "table"),
        ("fo", "xsl-fo-compatible"),
    )
)  # fmt: skip


class NotPrinted(Exception):
    """LibreOffice made no PDF; the text says what it told."""


@dataclass
class Paper:
    """A document in the making; `running` stands at the head of every page, the page's number
    at its foot. `font` is that of all text and `size` that of paragraphs, in points; `ruled` tables
    have lines around their cells."""

    running: str
    font: str
    ruled: bool = True
    size: float = 10.5
    body: list[str] = field(default_factory=list)

    def heading(self, level: int, text: str, *, new_page: bool = False) -> None:
        """A heading of level 1 to 3."""
        style = f"H{level}{'n' if new_page else ''}"
        kind = f'text:style-name="{style}" text:outline-level="{level}"'
        self.body.append(f"<text:h {kind}>{escape(text)}</text:h>")

    def paragraph(self, text: str) -> None:
        """A paragraph of running text."""
        self.body.append(f'<text:p text:style-name="Body">{escape(text)}</text:p>')

    def table(self, rows: Sequence[Sequence[str]], *, caption: str = "") -> None:
        """A table whose first row is its header, repeated where it runs over a page."""
        if caption:
            self.body.append(f'<text:p text:style-name="Caption">{escape(caption)}</text:p>')
        columns = f'<table:table-column table:number-columns-repeated="{len(rows[0])}"/>'
        head = f"<table:table-header-rows>{self._row(rows[0])}</table:table-header-rows>"
        lines = "".join(map(self._row, rows[1:]))
        self.body.append(f"<table:table>{columns}{head}{lines}</table:table>")
        self.body.append('<text:p text:style-name="Body"/>')

    def _row(self, cells: Sequence[str]) -> str:
        style = "Ruled" if self.ruled else "Bare"
        return "<table:table-row>" + "".join(
            f'<table:table-cell table:style-name="{style}" office:value-type="string">'
            f'<text:p text:style-name="{"Number" if i else "Cell"}">{escape(cell)}</text:p>'
            "</table:table-cell>"
            for i, cell in enumerate(cells)
        ) + "</table:table-row>"  # fmt: skip

    def source(self) -> str:
        """The whole document as flat ODF."""
        return (
            f'<?xml version="1.0" encoding="UTF-8"?><office:document {_SPACES} '
            'office:version="1.3" office:mimetype="application/vnd.oasis.opendocument.text">'
            f"<office:styles>{_styles(self.font, self.size)}</office:styles>"
            f"<office:automatic-styles>{_AUTOMATIC}</office:automatic-styles>"
            f"<office:master-styles>{_master(self.running)}</office:master-styles>"
            f"<office:body><office:text>{''.join(self.body)}</office:text></office:body>"
            "</office:document>"
        )


def print_pdf(paper: Paper, target: Path, *, bookmarks: bool) -> None:
    """Print to `target`; with `bookmarks` its headings are the PDF's outline. `NotPrinted`
    when there is no LibreOffice or it fails."""
    options = f'{{"ExportBookmarks":{{"type":"boolean","value":"{str(bookmarks).lower()}"}}}}'
    with tempfile.TemporaryDirectory(prefix="groundwire-pages-") as folder:
        source = Path(folder) / f"{target.stem}.fodt"
        source.write_text(paper.source(), "utf-8")
        command = [
            "soffice", f"-env:UserInstallation=file://{folder}/profile", "--headless",
            "--convert-to", f"pdf:writer_pdf_Export:{options}", "--outdir", folder, str(source),
        ]  # fmt: skip
        try:
            done = subprocess.run(
                command, capture_output=True, timeout=CONVERT_SECONDS, check=False
            )
        except (FileNotFoundError, subprocess.TimeoutExpired) as error:
            raise NotPrinted(f"{target.name}: {error}") from error
        made = source.with_suffix(".pdf")
        if not made.is_file():
            raise NotPrinted(f"{target.name}: {done.stderr.decode(errors='replace')[-400:]}")
        target.write_bytes(made.read_bytes())


def _text_style(name: str, size: float, extra: str = "", paragraph: str = "") -> str:
    return (
        f'<style:style style:name="{name}" style:family="paragraph">'
        f'<style:paragraph-properties fo:margin-bottom="0.2cm" {paragraph}/>'
        f'<style:text-properties fo:font-size="{size}pt" style:font-size-asian="{size}pt" {extra}/>'
        "</style:style>"
    )


def _styles(font: str, size_of_text: float) -> str:
    bold = 'fo:font-weight="bold" style:font-weight-asian="bold"'
    default = (
        '<style:default-style style:family="paragraph"><style:text-properties '
        f'fo:font-family="{escape(font)}" style:font-family-asian="{escape(font)}"/>'
        "</style:default-style>"
    )
    headings = ""
    for level, size in ((1, 18), (2, 14), (3, 12)):
        keep = 'fo:keep-with-next="always" fo:margin-top="0.5cm"'
        headings += _text_style(f"H{level}", size, bold, keep)
        headings += _text_style(f"H{level}n", size, bold, f'{keep} fo:break-before="page"')
    return (
        default
        + headings
        + _text_style("Body", size_of_text)
        + _text_style("Caption", 10, bold, 'fo:keep-with-next="always"')
        + _text_style("Cell", 9)
        + _text_style("Number", 9, "", 'fo:text-align="end"')
        + _text_style("Running", 8)
    )


_AUTOMATIC = (
    '<style:page-layout style:name="A4"><style:page-layout-properties fo:page-width="21cm" '
    'fo:page-height="29.7cm" fo:margin-top="2cm" fo:margin-bottom="2cm" fo:margin-left="2.2cm" '
    'fo:margin-right="2.2cm"/><style:header-style/><style:footer-style/></style:page-layout>'
    '<style:style style:name="Ruled" style:family="table-cell"><style:table-cell-properties '
    'fo:border="0.5pt solid #000000" fo:padding="0.08cm"/></style:style>'
    '<style:style style:name="Bare" style:family="table-cell"><style:table-cell-properties '
    'fo:padding="0.08cm"/></style:style>'
)


def _master(running: str) -> str:
    return (
        '<style:master-page style:name="Standard" style:page-layout-name="A4"><style:header>'
        f'<text:p text:style-name="Running">{escape(running)}</text:p></style:header>'
        '<style:footer><text:p text:style-name="Running"><text:page-number/></text:p>'
        "</style:footer></style:master-page>"
    )
