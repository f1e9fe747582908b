"""Strategies called in-process, as the sandboxed child would call them."""

import tempfile
from dataclasses import dataclass
from pathlib import Path

from libs.contracts.artefacts.diagnostics import Finding
from libs.contracts.artefacts.profile import Format, PageRange, Profile
from libs.contracts.artefacts.rows import Row
from services.parser.formats import strategy
from services.parser.formats.base import AssetSink, ParseInput


@dataclass(frozen=True)
class Parsed:
    """What a strategy made of one file."""

    rows: list[Row]
    findings: dict[str, Finding]
    media_types: dict[str, str]
    folder: Path
    engine: str
    ticks: int

    def kinds(self) -> list[str]:
        """The kinds of the rows, in order."""
        return [row.kind for row in self.rows]

    def texts(self, kind: str) -> list[str]:
        """The texts of the rows of one kind."""
        return [row.text for row in self.rows if row.kind == kind]

    def outline(self) -> list[tuple[int | None, str]]:
        """Level and text of each heading."""
        return [(row.level, row.text) for row in self.rows if row.kind == "heading"]

    def only(self, kind: str) -> Row:
        """The one row of a kind."""
        (row,) = [row for row in self.rows if row.kind == kind]
        return row


def parse_bytes(
    data: bytes,
    name: Format,
    *,
    pages: tuple[int, int] = (0, 0),
    encoding: str | None = None,
    language: str = "und",
    page_count: int = 0,
    engine: str | None = None,
) -> Parsed:
    """The rows that the strategy of format `name` makes of `data`."""
    folder = Path(tempfile.mkdtemp())
    path = folder / "source"
    path.write_bytes(data)
    return parse_path(
        path, name, pages=pages, encoding=encoding, language=language, page_count=page_count,
        folder=folder, engine=engine,
    )  # fmt: skip


def parse_path(
    path: Path,
    name: Format,
    *,
    pages: tuple[int, int] = (0, 0),
    encoding: str | None = None,
    language: str = "und",
    page_count: int = 0,
    folder: Path | None = None,
    engine: str | None = None,
) -> Parsed:
    """The rows that the strategy of format `name` makes of the file at `path`."""
    folder = folder or Path(tempfile.mkdtemp())
    scratch = folder / "scratch"
    scratch.mkdir()
    ticks: list[int] = []
    sink = AssetSink(folder / "out")
    profile = Profile(
        format=name,
        media_type="application/octet-stream",
        file_name=path.name,
        size=path.stat().st_size,
        sha256="0" * 64,
        encoding=encoding,
        language=language,
        page_count=page_count,
    )
    result = strategy(name, engine)(
        ParseInput(
            path=path,
            profile=profile,
            pages=PageRange(first=pages[0], last=pages[1]),
            assets=sink,
            scratch=scratch,
            progress=ticks.append,
        )
    )
    assert [row.order for row in result.rows] == list(range(len(result.rows)))
    for row in result.rows:
        assert row.kind != "image" or (folder / "out" / (row.asset or "")).is_file()
    return Parsed(
        result.rows,
        {f.code: f for f in result.findings},
        sink.media_types,
        folder,
        result.engine,
        len(ticks),
    )
