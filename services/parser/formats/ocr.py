"""OCR engines: rapidocr for Latin, Chinese and Japanese script, tesseract with `kor` for Korean.

A page that an engine fails on is a finding, never the document's end. Memory is bounded by the
size of one picture: lines go through the recogniser one by one, and large blocks go back to the
system at once (a page of text: 477 MB at most and 150 MB between pages, measured; by rapidocr's
defaults 900 MB, and 50 MB more with every page).
"""

import csv
import ctypes
import io
import shutil
import subprocess
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from services.parser.formats.base import ParseInput
from services.parser.formats.pdf_page import Page, Segment
from services.parser.formats.rows import Rows, clean

if TYPE_CHECKING:
    from PIL.Image import Image

DPI = 150
MAX_SIDE = 1536
"""Longest side that the detector sees, in pixels; larger is scaled down, smaller never up."""
MIN_SCORE = 0.5
SAME_SIZE = 0.3
"""Lines within this share of the median height are of one size."""
TESSERACT_SECONDS = 60.0
M_MMAP_THRESHOLD, M_ARENA_MAX = -3, -8  # of glibc's mallopt
MAPPED_BLOCK = 1 << 20
"""Bytes from which a block of memory is mapped by itself, and unmapped when it is freed."""
ARENAS = 2


@dataclass
class Reader:
    """The engines of one shard, loaded at first need."""

    given: ParseInput
    rows: Rows
    versions: dict[str, str] = field(default_factory=dict)
    _rapid: Any = None
    _failed: bool = False

    def read(self, image: "Image", number: int | None = None) -> list[Segment] | None:
        """Text lines with boxes in pixels of the image, or None where no engine can read.

        `number` is the page. The height of a line's box varies with its letters, so sizes near
        the median are the median.
        """
        try:
            found = self._tesseract(image) if self.given.profile.language == "ko" else None
            if found is None:
                found = self._rapidocr(image)
        except (Exception, MemoryError):
            self._unread(number)
            return None
        if not found:
            return found
        ems = sorted(s.em for s in found)
        usual = ems[len(ems) // 2]
        for segment in found:
            if abs(segment.em - usual) < SAME_SIZE * usual:
                segment.em = usual
        return found

    def render(self, page: Page) -> "Image | None":
        """The page as a picture, or None where it cannot be drawn."""
        try:
            return _render(self.given.path, page)
        except (Exception, MemoryError):
            self._unread(page.number)
            return None

    def told(self, number: int) -> str | None:
        """The text of a page that was read elsewhere."""
        return self.given.scans.told.get(number)

    def put_aside(self, image: "Image", number: int) -> bool:
        """Whether the page is to be read elsewhere, and its picture kept for that."""
        folder = self.given.scans.folder
        if folder is None:
            return False
        (folder / f"{number}.jpg").write_bytes(as_jpeg(image))
        return True

    def lines(self, image: "Image", page: Page) -> list[Segment] | None:
        """The text of a rendered page, boxes in points; None where no engine can read it."""
        found = self.read(image, page.number)
        if found is None:
            return None
        across, down = page.width / image.width, page.height / image.height
        return [
            Segment(s.x0 * across, s.y0 * down, s.x1 * across, s.y1 * down, s.text, s.em * down)
            for s in found
        ]

    def _rapidocr(self, image: "Image") -> list[Segment] | None:
        if self._failed:
            return None
        if self._rapid is None:
            try:
                self._rapid = _load_rapidocr()
            except (ImportError, OSError, RuntimeError):
                self._failed = True
                self._missing("rapidocr and onnxruntime (pip install rapidocr onnxruntime)")
                return None
        from importlib.metadata import version

        import numpy

        self.versions["rapidocr"] = version("rapidocr")
        result = self._rapid(numpy.asarray(image.convert("RGB")), use_cls=False)
        if result.boxes is None:
            return []
        lines = []
        for corners, text, score in zip(result.boxes, result.txts, result.scores, strict=True):
            if score >= MIN_SCORE and clean(text):
                xs, ys = corners[:, 0], corners[:, 1]
                x0, y0, x1, y1 = (float(v) for v in (xs.min(), ys.min(), xs.max(), ys.max()))
                lines.append(Segment(x0, y0, x1, y1, clean(text), em=0.75 * (y1 - y0)))
        return lines

    def _tesseract(self, image: "Image") -> list[Segment] | None:
        """Lines read by tesseract's Korean model, or None where it is not installed."""
        program = shutil.which("tesseract")
        if program is None or "kor" not in _tesseract_languages(program):
            self._missing("tesseract-ocr-kor (apt-get install tesseract-ocr-kor) for Korean")
            return None
        source = self.given.scratch / "ocr.png"
        image.convert("L").save(source)
        try:
            done = subprocess.run(  # noqa: S603
                [program, str(source), "stdout", "-l", "kor", "--psm", "6", "tsv"],
                capture_output=True,
                timeout=TESSERACT_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return None
        if done.returncode != 0:
            return None
        self.versions["tesseract"] = "kor"
        return _tsv_lines(done.stdout.decode("utf-8", "replace"))

    def _unread(self, number: int | None) -> None:
        self.rows.note(
            "ocr_failed",
            "a page could not be read by OCR: what text it has by itself is kept",
            severity="warning",
            page=number,
        )

    def _missing(self, package: str) -> None:
        self.rows.note(
            "engine_missing",
            f"pages without text need OCR; install {package}",
            severity="warning",
        )


def _render(path: Path, page: Page) -> "Image":
    import pypdfium2

    document: Any = pypdfium2.PdfDocument(path)  # type: ignore[no-untyped-call]
    try:
        shown = document[page.number - 1]
        scale = min(DPI / 72, 2 * MAX_SIDE / max(page.width, page.height, 1.0))
        if _is_empty(shown):
            scale = 1 / max(page.width, page.height, 1.0)
        image: Image = shown.render(scale=scale).to_pil()
    finally:
        document.close()
    return image


def _is_empty(page: Any) -> bool:
    """Whether nothing is drawn on a page of PDFium's, so that a dot shows all of it."""
    import pypdfium2.raw

    pdfium: Any = pypdfium2.raw
    return not pdfium.FPDFPage_CountObjects(page) and not pdfium.FPDFPage_GetAnnotCount(page)


def is_blank(image: "Image") -> bool:
    """Whether the picture is of one colour."""
    low, high = image.convert("L").getextrema()
    return low == high


def as_jpeg(image: "Image") -> bytes:
    """The picture as JPEG; equal pictures give equal bytes."""
    out = io.BytesIO()
    image.convert("RGB").save(out, "JPEG", quality=80)
    return out.getvalue()


def _load_rapidocr() -> Any:
    """rapidocr with the models of its wheel and the limits that keep strips and memory small."""
    from rapidocr import RapidOCR

    libc = ctypes.CDLL(None)
    with suppress(AttributeError):
        libc.mallopt(M_MMAP_THRESHOLD, MAPPED_BLOCK)
        libc.mallopt(M_ARENA_MAX, ARENAS)

    return RapidOCR(
        params={
            "Global.log_level": "error",
            "Global.use_cls": False,
            "Det.limit_type": "max",
            "Det.limit_side_len": MAX_SIDE,
            "Rec.rec_batch_num": 1,
            "EngineConfig.onnxruntime.intra_op_num_threads": 2,
        }
    )


def _tesseract_languages(program: str) -> set[str]:
    done = subprocess.run(  # noqa: S603
        [program, "--list-langs"], capture_output=True, timeout=TESSERACT_SECONDS, check=False
    )
    return set(done.stdout.decode("utf-8", "replace").split())


def _tsv_lines(table: str) -> list[Segment]:
    """Tesseract's words gathered into its lines."""
    lines: dict[tuple[str, ...], list[dict[str, str]]] = {}
    for word in csv.DictReader(io.StringIO(table), delimiter="\t", quoting=csv.QUOTE_NONE):
        if (word.get("text") or "").strip() and float(word.get("conf") or -1) >= 0:
            key = tuple(word[k] for k in ("page_num", "block_num", "par_num", "line_num"))
            lines.setdefault(key, []).append(word)
    found = []
    for words in lines.values():
        x0 = min(float(w["left"]) for w in words)
        y0 = min(float(w["top"]) for w in words)
        x1 = max(float(w["left"]) + float(w["width"]) for w in words)
        y1 = max(float(w["top"]) + float(w["height"]) for w in words)
        text = clean(" ".join(w["text"] for w in words))
        found.append(Segment(x0, y0, x1, y1, text, em=0.8 * (y1 - y0)))
    return found
