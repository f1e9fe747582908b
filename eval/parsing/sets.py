"""The sets: where their files lie and what is true of them."""

import gzip
import json
import shutil
import subprocess
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from eval.parsing.model import Case, FoundTable, Strings, Truth
from eval.parsing.outlines import open_pdf, read_outline
from eval.parsing.rulings import Lines, PlacedCell, is_ruled, page_lines
from eval.parsing.tables import cells_html
from libs.contracts.artefacts.rows import TableCell
from services.parser.formats.pdf_outline import copy_pages

MANUAL_PACKAGES = (
    "debian-policy", "developers-reference", "gnuplot-doc", "r-doc-pdf", "octave-doc",
)  # fmt: skip
LONGEST_MANUAL = 1500
"""Pages above which a manual is left out of the set: it adds time, not kinds of headings."""
SMALLEST_OUTLINE = 20
NO_DOCUMENT = frozenset({".json", ".jsonl", ".txt", ".md"})


@dataclass
class Loaded:
    """The cases of a set, and what was left out and why."""

    cases: list[Case] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)


def load_set(name: str, data: Path, scratch: Path) -> Loaded:
    """The cases of one set below `data` (the folder that holds the sets, or its parent).

    A set that is not there is empty, with the reason in `skipped`. Copies that a set needs are
    made in `scratch`.
    """
    loaded = Loaded()
    if name == "manuals":
        _manuals(loaded, scratch)
        return loaded
    folder = next((f for f in (data / name, data / "parsing" / name) if f.is_dir()), None)
    if folder is None:
        loaded.skipped.append(f"{name}: no such folder below the data folder")
        return loaded
    loaded.cases = list(LOADERS[name](name, folder))
    if not loaded.cases:
        loaded.skipped.append(f"{name}: the folder holds no file with a truth")
    return loaded


def _redrawn(name: str, folder: Path) -> Iterator[Case]:
    for truth in sorted((folder / "ground-truth").glob("*.md")):
        path = folder / "pdfs" / f"{truth.stem}.pdf"
        if path.is_file():
            yield Case(name, path.name, path, Truth(markdown=truth.read_text("utf-8")))


def _icdar(name: str, folder: Path) -> Iterator[Case]:
    for entry in _json_lines(folder / "gt.jsonl"):
        path = folder / entry["pdf"]
        if path.is_file():
            tables = entry["tables"]
            pages = page_lines(path, [p for t in tables for p in t["pages"]])
            yield Case(
                name,
                entry["pdf"],
                path,
                Truth(
                    tables=tuple(_table(t) for t in tables),
                    ruled=tuple(_is_ruled(t, pages[t["pages"][0]]) for t in tables),
                ),
            )


def _table(table: dict[str, Any]) -> FoundTable:
    cells = tuple(
        TableCell(
            row=c["r0"],
            column=c["c0"],
            row_span=c["r1"] - c["r0"] + 1,
            column_span=c["c1"] - c["c0"] + 1,
            text=c["text"],
        )
        for c in table["cells"]
    )
    return FoundTable(frozenset(table["pages"]), cells, table.get("html") or cells_html(cells))


def _is_ruled(table: dict[str, Any], lines: Lines) -> bool:
    """The true boxes count from the bottom of the page, lines from its top."""
    placed = []
    for cell in table["cells"]:
        x0, y0, x1, y1 = cell["bbox"]
        box = (x0, lines.height - y1, x1, lines.height - y0)
        placed.append(PlacedCell((cell["r0"], cell["r1"]), (cell["c0"], cell["c1"]), box))
    return is_ruled(placed, lines)


def _tika(name: str, folder: Path) -> Iterator[Case]:
    for entry in _json_lines(folder / "assertions.jsonl"):
        strings = Strings(
            present=tuple(entry.get("present_text", ())),
            absent=tuple(entry.get("absent_text", ())),
            present_markup=tuple(entry.get("present_xhtml", ())),
        )
        yield from _asserted(name, folder, entry["file"], strings)


def _markitdown(name: str, folder: Path) -> Iterator[Case]:
    for entry in _json_lines(folder / "assertions.jsonl"):
        strings = Strings(tuple(entry.get("present", ())), tuple(entry.get("absent", ())))
        yield from _asserted(name, folder, entry["file"], strings)


def _asserted(name: str, folder: Path, file: str, strings: Strings) -> Iterator[Case]:
    if (folder / file).is_file():
        yield Case(name, file, folder / file, Truth(strings=strings))


def _docling(name: str, folder: Path) -> Iterator[Case]:
    for path in sorted(folder.glob("*/sources/**/*")):
        if path.is_file():
            yield Case(name, str(path.relative_to(folder)), path, Truth())


def _manuals(loaded: Loaded, scratch: Path) -> None:
    seen: set[tuple[int, str]] = set()
    for package in MANUAL_PACKAGES:
        found = [p for p in _package_files(package) if p.name.endswith((".pdf", ".pdf.gz"))]
        if not found:
            loaded.skipped.append(f"manuals: {package} is not installed: apt-get install {package}")
        for path in found:
            key = (path.stat().st_size, path.name)
            if key not in seen:
                seen.add(key)
                _manual(loaded, package, path, scratch)


def _manual(loaded: Loaded, package: str, path: Path, scratch: Path) -> None:
    """A copy without its outline to parse, the outline as truth."""
    name = f"{package}/{path.name.removesuffix('.gz')}"
    original = scratch / "original.pdf"
    with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as source:
        original.write_bytes(source.read())
    outline = read_outline(original)
    document = open_pdf(original)
    pages = len(document)
    document.close()
    if len(outline) < SMALLEST_OUTLINE:
        loaded.skipped.append(f"manuals: {name} has an outline of {len(outline)} entries")
    elif pages > LONGEST_MANUAL:
        loaded.skipped.append(f"manuals: {name} has {pages} pages")
    else:
        target = scratch / name
        target.parent.mkdir(parents=True, exist_ok=True)
        copy_pages(original, target)
        loaded.cases.append(Case("manuals", name, target, Truth(outline=tuple(outline))))
    original.unlink()


def _package_files(package: str) -> Iterable[Path]:
    if shutil.which("dpkg") is None:
        return []
    listed = subprocess.run(["dpkg", "-L", package], capture_output=True, text=True, check=False)
    return [p for line in listed.stdout.splitlines() if (p := Path(line)).is_file()]


def _json_lines(path: Path) -> Iterator[dict[str, Any]]:
    for line in path.read_text("utf-8").splitlines():
        if line.strip():
            yield json.loads(line)


LOADERS: dict[str, Callable[[str, Path], Iterator[Case]]] = {
    "opendataloader-rerendered": _redrawn,
    "icdar2013-tables": _icdar,
    "tika-asserted": _tika,
    "markitdown": _markitdown,
    "docling-tests": _docling,
}
SETS = (*LOADERS, "manuals")
