"""What the parser does with what it hears."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from libs.contracts.api.reading import PictureAnswer, PictureQuery
from libs.contracts.artefacts.diagnostics import Diagnostics, Finding
from libs.contracts.artefacts.profile import Profile
from libs.contracts.events import (
    ArtefactRef,
    DocumentParsed,
    DocumentSharded,
    ShardParsed,
    ShardsDone,
)
from libs.contracts.faults import CallerFault, Code, DocumentFault, Fault, WorldFault
from libs.runtime.artefacts import load_json, save_json
from libs.runtime.bus import Bus
from libs.runtime.keys import attempt_key
from libs.runtime.models.use import ModelUse
from libs.runtime.sandbox.crashes import crash_verdict
from libs.runtime.sandbox.limits import Limits
from libs.runtime.sandbox.sandbox import Sandbox
from libs.runtime.sandbox.verdict import ChildCrashed
from libs.runtime.stores import Stores
from libs.runtime.work import Work
from services.parser.attempts import join_shards
from services.parser.helped import Models, helped_shard, level
from services.parser.picture import DRAW, PICTURE
from services.parser.report import ShardReport
from services.parser.storing import store_rows, store_shard

PICTURE_LIMITS = Limits(
    wall_seconds=20.0, stall_seconds=20.0, cpu_seconds=20, memory_mb=1024, file_mb=64
)
PICTURE_SECONDS = 22.0
"""From a question to its answer, less than the gateway waits: what nobody waits for any more is
neither drawn nor stored."""


@dataclass(frozen=True)
class Deps:
    """What handlers work with."""

    bus: Bus
    stores: Stores
    sandbox: Sandbox
    pictures: asyncio.Semaphore
    """Places of their own for page pictures, which people wait for."""
    models: Models


async def on_shard(deps: Deps, event: DocumentSharded, work: Work) -> None:
    """Parse one shard, store what it holds, and say whether the set is complete.

    A shard that is the whole document needs no join: it is said to be parsed at once.
    """
    objects, jobs = deps.stores.objects, deps.stores.catalog.jobs
    profile = await load_json(objects, event.profile, Profile)
    async with (
        _judged(deps, f"parser:{event.job_id}:{event.shard}"),
        _source(deps, event) as path,
        helped_shard(deps.sandbox, deps.models, objects, event, path, profile, work) as finished,
    ):
        rows, report = await store_shard(objects, event, event.shard, finished)
    if event.shards == 1:
        findings = [*profile.findings, *report.findings]
        whole = _Joined(rows, report.row_count, sorted(report.assets), findings, {})
        await _say_parsed(deps, event, [report], whole)
        return
    ref = await save_json(objects, attempt_key(event, f"rows/{event.shard}.json"), report)
    details = {"report": ref.model_dump(mode="json")}
    stored = await jobs.shard_done(event.job_id, event.shard, event.shards, rows, details)
    await deps.bus.announce(_parsed(event, len(stored)))
    if len(stored) == event.shards:
        await deps.bus.announce(_done(event, stored))


async def on_shards_done(deps: Deps, event: ShardsDone, work: Work) -> None:
    """Join the shards, store the document's rows and diagnostics, and say so."""
    objects = deps.stores.objects
    reports = [await load_json(objects, ref, ShardReport) for ref in event.reports]
    await _say_parsed(deps, event, reports, await _join(deps, event, reports, work))


async def on_picture(deps: Deps, query: PictureQuery) -> PictureAnswer:
    """Draw a page of a source and store the picture where the query says.

    Raises 404 for a page, or a source, that is not there, the faults of the sandbox, and
    `WorldFault(TIMEOUT)` when too many pages are wanted at once.
    """
    try:
        async with asyncio.timeout(PICTURE_SECONDS):
            return await _draw(deps, query)
    except TimeoutError:
        detail = "the page was not drawn in time: too many are wanted at once"
        raise WorldFault(Code.TIMEOUT, detail, retry_after=5.0) from None


async def _draw(deps: Deps, query: PictureQuery) -> PictureAnswer:
    objects = deps.stores.objects
    async with AsyncExitStack() as stack:
        try:
            path = await stack.enter_async_context(objects.local(query.source))
        except KeyError:
            raise CallerFault(Code.NOT_FOUND, "the source is not in the store", 404) from None
        arguments = {"query": query.model_dump(mode="json"), "path": str(path)}
        run = deps.sandbox.run(
            DRAW, arguments, work=Work("picture"), limits=PICTURE_LIMITS, slots=deps.pictures
        )
        try:
            finished = await stack.enter_async_context(run)
        except ChildCrashed:
            raise DocumentFault(Code.UNREADABLE, "the page cannot be drawn") from None
        if "pages" in finished.result:
            pages = finished.result["pages"]
            raise CallerFault(Code.NOT_FOUND, f"the last page of the document is {pages}", 404)
        data = await asyncio.to_thread(finished.file(PICTURE).read_bytes)
        await objects.put(query.target, data, media_type="image/png")
    return PictureAnswer(key=query.target, **finished.result)


@dataclass(frozen=True)
class _Joined:
    """The document's rows; `assets` are the names that they refer to."""

    rows: ArtefactRef
    row_count: int
    assets: list[str]
    findings: list[Finding]
    versions: dict[str, str]


async def _say_parsed(
    deps: Deps,
    event: DocumentSharded | ShardsDone,
    reports: list[ShardReport],
    joined: _Joined,
) -> None:
    diagnostics = Diagnostics(engine=reports[0].engine, findings=joined.findings)
    key = attempt_key(event, "diagnostics.json")
    ref = await save_json(deps.stores.objects, key, diagnostics)
    await deps.bus.announce(_document(event, reports, joined, ref))


async def _join(deps: Deps, event: ShardsDone, reports: list[ShardReport], work: Work) -> _Joined:
    profile = await load_json(deps.stores.objects, event.profile, Profile)
    sums, findings = [ref.sha256 for ref in event.rows], [r.findings for r in reports]
    async with (
        _judged(deps, f"parser-join:{event.job_id}:"),
        _local(deps, event.rows) as paths,
        join_shards(deps.sandbox, profile, paths, sums, findings, work) as finished,
    ):
        asking = deps.models.helper(ModelUse.HIERARCHY, deps.stores.objects, event, work)
        await level(finished, asking, profile)
        rows = await store_rows(deps.stores.objects, event, "rows.jsonl.zst", finished)
    result = finished.result
    found = [Finding.model_validate(f) for f in result["findings"]]
    versions = result.get("versions", {})
    return _Joined(
        rows, result["row_count"], result["assets"], [*profile.findings, *found], versions
    )


@asynccontextmanager
async def _judged(deps: Deps, task: str) -> AsyncIterator[None]:
    """A crash in here becomes a fault: the world's once, then the document's."""
    try:
        yield
    except ChildCrashed as crash:
        raise await crash_verdict(deps.stores.catalog.jobs, task, crash) from None


@asynccontextmanager
async def _source(deps: Deps, event: DocumentSharded) -> AsyncIterator[Path]:
    absent = DocumentFault(Code.SOURCE_MISSING, "the source is not in the store")
    async with AsyncExitStack() as stack:
        yield await _enter(stack, deps, event.source, absent)


@asynccontextmanager
async def _local(deps: Deps, refs: list[ArtefactRef]) -> AsyncIterator[list[Path]]:
    absent = WorldFault(Code.STORE_AWAY, "a shard's rows are not in the store")
    async with AsyncExitStack() as stack:
        yield [await _enter(stack, deps, ref, absent) for ref in refs]


async def _enter(stack: AsyncExitStack, deps: Deps, ref: ArtefactRef, absent: Fault) -> Path:
    try:
        return await stack.enter_async_context(deps.stores.objects.local(ref.key))
    except KeyError:
        raise absent from None


def _parsed(event: DocumentSharded, done: int) -> ShardParsed:
    return ShardParsed(
        **_same_document(event), shard=event.shard, shards=event.shards, done=max(done, 1)
    )


def _done(
    event: DocumentSharded, stored: list[tuple[ArtefactRef, dict[str, object]]]
) -> ShardsDone:
    return ShardsDone(
        **_same_document(event),
        rows=[rows for rows, _ in stored],
        reports=[ArtefactRef.model_validate(details["report"]) for _, details in stored],
    )


def _document(
    event: DocumentSharded | ShardsDone,
    reports: list[ShardReport],
    joined: _Joined,
    diagnostics: ArtefactRef,
) -> DocumentParsed:
    assets = {name: ref for report in reports for name, ref in report.assets.items()}
    versions = {name: v for report in reports for name, v in report.versions.items()}
    return DocumentParsed(
        **_same_document(event),
        rows=joined.rows,
        diagnostics=diagnostics,
        assets={name: assets[name] for name in joined.assets if name in assets},
        row_count=joined.row_count,
        engine=reports[0].engine,
        versions={**versions, **joined.versions},
    )


def _same_document(event: DocumentSharded | ShardsDone) -> dict[str, object]:
    names = ("namespace", "document_id", "revision", "job_id", "attempt", "source", "profile",
             "file_name", "options")  # fmt: skip
    return {name: getattr(event, name) for name in names}
