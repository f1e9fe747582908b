"""What an attempt leaves in the object store."""

import asyncio
import re
from collections.abc import Mapping

from libs.contracts.artefacts.diagnostics import Finding
from libs.contracts.events import ArtefactRef, JobEvent
from libs.runtime.artefacts import ROWS_MEDIA_TYPE, reference_to
from libs.runtime.keys import attempt_key
from libs.runtime.objects.port import ObjectStore
from libs.runtime.sandbox.sandbox import Finished
from services.parser.child import ROWS
from services.parser.report import ShardReport

AT_ONCE = 8

_ASSET = re.compile(r"assets/images/[0-9a-f]{32}\.[a-z0-9]{1,8}")


async def store_shard(
    objects: ObjectStore, event: JobEvent, shard: int, finished: Finished
) -> tuple[ArtefactRef, ShardReport]:
    """Store the assets and rows of a parsed shard; returns where its rows are, and its report."""
    result = finished.result
    report = ShardReport(
        engine=result["engine"],
        versions=result["versions"],
        row_count=result["row_count"],
        findings=[Finding.model_validate(f) for f in result["findings"]],
        assets=await _store_assets(objects, event, finished, result["media_types"]),
    )
    rows = await store_rows(objects, event, f"rows/{shard}.jsonl.zst", finished)
    return rows, report


async def store_rows(
    objects: ObjectStore, event: JobEvent, name: str, finished: Finished
) -> ArtefactRef:
    """Store the row file of an attempt under `name`."""
    data = await asyncio.to_thread(finished.file(ROWS).read_bytes)
    key = attempt_key(event, name)
    return reference_to(await objects.put(key, data, media_type=ROWS_MEDIA_TYPE))


async def _store_assets(
    objects: ObjectStore, event: JobEvent, finished: Finished, media_types: Mapping[str, str]
) -> dict[str, ArtefactRef]:
    limit = asyncio.Semaphore(AT_ONCE)

    if not all(_ASSET.fullmatch(name) for name in media_types):
        raise RuntimeError("a worker process named an asset against the rules")

    async def store(name: str) -> tuple[str, ArtefactRef]:
        async with limit:
            data = await asyncio.to_thread(finished.file(name).read_bytes)
            key = attempt_key(event, name)
            info = await objects.put(key, data, media_type=media_types[name])
            return name, reference_to(info)

    return dict(await asyncio.gather(*(store(name) for name in sorted(media_types))))
