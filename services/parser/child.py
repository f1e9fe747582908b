"""What runs in the sandbox: the parse of one shard, and the join of all."""

import gc
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from libs.contracts.artefacts.diagnostics import Finding
from libs.contracts.artefacts.profile import PageRange, Profile
from libs.contracts.artefacts.rows import Row
from libs.contracts.faults import Code, DocumentFault
from libs.runtime.sandbox.child import Attempt
from libs.runtime.sandbox.files import verify
from services.parser.formats import strategy
from services.parser.formats.base import AssetSink, ParseInput, Scans
from services.parser.formats.records import parse as parse_records
from services.parser.join import Survey, merge_findings
from services.parser.rowfile import read_rows, write_rows

PARSE = "services.parser.child:parse"
JOIN = "services.parser.child:join"
ROWS = "rows.jsonl.zst"
SCANS = "scans"
"""Folder of the pictures of pages that a model shall read."""
PROGRESS_ROWS = 2_000
HELD = 50_000
"""Rows and cells up to which the join reads a document once, and holds it."""
YOUNG_OBJECTS = 50_000
"""New objects from which a child looks for circles among them: nearly all that it makes is rows
and words, which hold none, and all of it ends with the attempt."""

PRELOAD = (
    "orjson",
    "zstandard",
    "services.parser.child",
    "services.parser.formats.text",
    "services.parser.formats.markdown",
    "markdown_it",
    "services.parser.formats.html",
    "selectolax.lexbor",
    "services.parser.formats.pdf",
    "liteparse",
    "pypdfium2",
    "PIL.Image",
    "openpyxl",
    "pandas",
    "docling_core.types.doc",
    "docling.datamodel.document",
    "docling.backend.msword_backend",
    "docling.backend.mspowerpoint_backend",
    "docling.backend.opendocument_backend",
    "services.parser.formats.office",
)
"""In this order: what most formats need comes first."""
LIGHT_FORMATS = frozenset({"md", "txt", "html"})
LIGHT_PRELOAD = PRELOAD[:8]
"""Formats that are read by little, and that little."""
HEAVY_FORMATS = frozenset({"docx", "pptx", "odt", "odp", "doc", "ppt", "rtf"})
"""Formats whose libraries take seconds to import: better to wait until that has been done once."""


def parse(arguments: dict[str, Any], attempt: Attempt) -> dict[str, Any]:
    """Parse the pages of the file at `path` as its `profile` says.

    Writes the rows and assets to `out/`; returns what a `ShardReport` holds, but the assets'
    media types by name. The rows of a document of one shard are joined at once. `told` and
    `aside` are what `Scans` has; where pages were put aside, only their
    numbers are returned, as `scans`.
    """
    gc.set_threshold(YOUNG_OBJECTS)
    profile = Profile.model_validate(arguments["profile"])
    sink = AssetSink(attempt.out)
    scans = Scans(told={int(number): text for number, text in arguments.get("told", {}).items()})
    if arguments.get("aside"):
        scans = Scans(folder=attempt.out / SCANS)
        (attempt.out / SCANS).mkdir()
    chosen = parse_records if profile.records else strategy(profile.format, arguments["engine"])
    result = chosen(
        ParseInput(
            path=Path(arguments["path"]),
            profile=profile,
            pages=PageRange.model_validate(arguments["pages"]),
            assets=sink,
            scratch=attempt.scratch,
            engine=arguments["engine"],
            progress=attempt.progress,
            scans=scans,
        )
    )
    if scans.folder is not None and (put := sorted(int(p.stem) for p in scans.folder.iterdir())):
        return {"scans": put}
    if len(profile.shards) > 1:
        count = write_rows(attempt.out / ROWS, result.rows)
        kept, findings = set(sink.media_types), result.findings
    else:
        count, kept, findings = _join(profile, lambda: result.rows, [result.findings], attempt)
    return {
        "engine": result.engine,
        "versions": result.versions,
        "row_count": count,
        "joined": len(profile.shards) == 1,
        "findings": [f.model_dump(mode="json") for f in findings],
        "media_types": {name: t for name, t in sink.media_types.items() if name in kept},
    }


def join(arguments: dict[str, Any], attempt: Attempt) -> dict[str, Any]:
    """Join the shards' rows, which lie at `rows` in order, under one `profile`.

    `sums` are their sha256: other bytes are the store's fault. Writes the joined rows to
    `out/`; returns their count, the assets that they still refer to, and all findings.
    """
    gc.set_threshold(YOUNG_OBJECTS)
    profile = Profile.model_validate(arguments["profile"])
    paths = [Path(p) for p in arguments["rows"]]
    verify(zip(paths, arguments["sums"], strict=True))
    shards = [[Finding.model_validate(f) for f in found] for found in arguments["findings"]]
    count, kept, findings = _join(profile, lambda: read_rows(paths), shards, attempt)
    return {
        "row_count": count,
        "assets": sorted(kept),
        "findings": [f.model_dump(mode="json") for f in findings],
    }


def _join(
    profile: Profile,
    rows: Callable[[], Iterable[Row]],
    shards: Sequence[Sequence[Finding]],
    attempt: Attempt,
) -> tuple[int, set[str], list[Finding]]:
    """Write the joined rows; their count, the assets they refer to, and all findings."""
    survey = Survey(profile)
    held: list[Row] | None = []
    size = 0
    for row in _told(rows(), attempt):
        survey.see(row)
        if held is not None:
            held.append(row)
            size += 1 + len(row.cells)
            held = held if size <= HELD else None
    plan = survey.settle()
    kept: set[str] = set()

    def noted() -> Iterator[Row]:
        for row in _told(plan.apply(rows() if held is None else held), attempt):
            if row.asset is not None:
                kept.add(row.asset)
            yield row

    count = write_rows(attempt.out / ROWS, noted())
    if not count:
        raise DocumentFault(
            Code.NO_CONTENT, "the file holds no text, table or image that could be read"
        )
    return count, kept, merge_findings(shards, plan.findings)


def _told(rows: Iterable[Row], attempt: Attempt) -> Iterator[Row]:
    """The rows, with a word of progress now and then."""
    for number, row in enumerate(rows):
        if number % PROGRESS_ROWS == 0:
            attempt.progress(0)
        yield row
