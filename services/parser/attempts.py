"""Have shards parsed and joined in the sandbox: the same for the service and the command line."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path

from libs.contracts.artefacts.diagnostics import Finding
from libs.contracts.artefacts.profile import PageRange, Profile
from libs.runtime.sandbox.sandbox import Finished, Sandbox
from libs.runtime.work import Work
from services.parser.child import (
    HEAVY_FORMATS,
    JOIN,
    LIGHT_FORMATS,
    LIGHT_PRELOAD,
    PARSE,
    PRELOAD,
)
from services.parser.picture import DRAW
from services.parser.settings import Settings


def make_sandbox(settings: Settings, *, preload: bool = True) -> Sandbox:
    """The parser's sandbox, not yet started; `preload` pays when many files will come."""
    return Sandbox(
        [PARSE, JOIN, DRAW],
        settings.scratch(),
        limits=settings.limits(),
        slots=settings.parser_slots,
        preload=PRELOAD if preload else (),
        preload_delay=settings.parser_preload_delay,
        light=LIGHT_PRELOAD if preload else (),
    )


def parse_shard(
    sandbox: Sandbox,
    path: Path,
    profile: Profile,
    pages: PageRange,
    engine: str | None,
    work: Work,
    *,
    told: Mapping[int, str] | None = None,
    aside: bool = False,
) -> AbstractAsyncContextManager[Finished]:
    """Parse one shard; see `child.parse` for what is finished then.

    `told` are texts of scanned pages that need no OCR; with `aside` no scan is read, and the
    pictures of those that want it lie below `SCANS`.
    """
    arguments = {
        "told": {str(number): text for number, text in (told or {}).items()},
        "aside": aside,
        "path": str(path),
        "profile": profile.model_dump(mode="json"),
        "pages": pages.model_dump(mode="json"),
        "engine": engine,
    }
    heavy = profile.format in HEAVY_FORMATS
    light = profile.format in LIGHT_FORMATS and not profile.records
    return sandbox.run(PARSE, arguments, work=work, preloaded=heavy, light=light)


def join_shards(
    sandbox: Sandbox,
    profile: Profile,
    rows: Sequence[Path],
    sums: Sequence[str],
    findings: Sequence[Sequence[Finding]],
    work: Work,
) -> AbstractAsyncContextManager[Finished]:
    """Join the shards' row files, whose sha256 are `sums`; see `child.join` for the result."""
    arguments = {
        "profile": profile.model_dump(mode="json"),
        "rows": [str(p) for p in rows],
        "sums": list(sums),
        "findings": [[f.model_dump(mode="json") for f in found] for found in findings],
    }
    return sandbox.run(JOIN, arguments, work=work)
