"""What runs in the sandbox: the parse of one shard, and the join of all."""

from pathlib import Path
from typing import Any

from libs.contracts.artefacts.diagnostics import Finding
from libs.contracts.artefacts.profile import PageRange, Profile
from libs.contracts.faults import Code, DocumentFault
from libs.runtime.sandbox.child import Attempt
from libs.runtime.sandbox.files import verify
from services.parser.formats import strategy
from services.parser.formats.base import AssetSink, ParseInput
from services.parser.join import Survey, merge_findings
from services.parser.rowfile import read_rows, write_rows

PARSE = "services.parser.child:parse"
JOIN = "services.parser.child:join"
ROWS = "rows.jsonl.zst"
PROGRESS_ROWS = 2_000

LIGHT = (
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
)
HEAVY = (
    "openpyxl",
    "pandas",
    "docling_core.types.doc",
    "docling.datamodel.document",
    "docling.backend.msword_backend",
    "docling.backend.mspowerpoint_backend",
    "docling.backend.opendocument_backend",
    "services.parser.formats.office",
)
HEAVY_FORMATS = frozenset({"docx", "pptx", "odt", "odp", "doc", "ppt", "rtf"})
"""Formats whose libraries take seconds to import: better to wait until that has been done once."""


def parse(arguments: dict[str, Any], attempt: Attempt) -> dict[str, Any]:
    """Parse the pages of the file at `path` as its `profile` says.

    Libraries that go by a file's ending are shown the format that was found, not the one
    that its name claims. Writes the rows and assets to `out/`; returns engine, versions,
    findings and the assets' media types by name.
    """
    profile = Profile.model_validate(arguments["profile"])
    sink = AssetSink(attempt.out)
    source = attempt.scratch / f"source.{profile.format}"
    source.symlink_to(arguments["path"])
    result = strategy(profile.format)(
        ParseInput(
            path=source,
            profile=profile,
            pages=PageRange.model_validate(arguments["pages"]),
            assets=sink,
            scratch=attempt.scratch,
            engine=arguments["engine"],
            progress=attempt.progress,
        )
    )
    count = write_rows(attempt.out / ROWS, result.rows)
    if not count and len(profile.shards) == 1:
        raise DocumentFault(
            Code.NO_CONTENT, "the file holds no text, table or image that could be read"
        )
    return {
        "engine": result.engine,
        "versions": result.versions,
        "findings": [f.model_dump(mode="json") for f in result.findings],
        "media_types": sink.media_types,
    }


def join(arguments: dict[str, Any], attempt: Attempt) -> dict[str, Any]:
    """Join the shards' rows, which lie at `rows` in order, under one `profile`.

    `sums` are their sha256: other bytes are the store's fault.
    Writes the joined rows to `out/`; returns their count, the assets that they still refer
    to, and the findings of all.
    """
    profile = Profile.model_validate(arguments["profile"])
    paths = [Path(p) for p in arguments["rows"]]
    verify(zip(paths, arguments["sums"], strict=True))
    survey = Survey(profile)
    for number, row in enumerate(read_rows(paths)):
        survey.see(row)
        if number % PROGRESS_ROWS == 0:
            attempt.progress()
    plan = survey.settle()
    assets: set[str] = set()

    def noted() -> Any:
        for row in plan.apply(read_rows(paths)):
            if row.asset is not None:
                assets.add(row.asset)
            if row.order % PROGRESS_ROWS == 0:
                attempt.progress()
            yield row

    count = write_rows(attempt.out / ROWS, noted())
    if not count:
        raise DocumentFault(
            Code.NO_CONTENT, "the file holds no text, table or image that could be read"
        )
    shards = [[Finding.model_validate(f) for f in found] for found in arguments["findings"]]
    findings = merge_findings(shards, plan.findings)
    return {
        "row_count": count,
        "assets": sorted(assets),
        "findings": [f.model_dump(mode="json") for f in findings],
    }
