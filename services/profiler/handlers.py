"""What the profiler does with what it hears."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from libs.contracts.artefacts.profile import Profile
from libs.contracts.events import (
    ArtefactRef,
    DocumentAccepted,
    DocumentProfiled,
    DocumentSharded,
    ShardParsed,
)
from libs.contracts.faults import Code, DocumentFault
from libs.runtime.artefacts import load_json, save_json
from libs.runtime.bus import Bus
from libs.runtime.keys import attempt_key
from libs.runtime.sandbox.crashes import crash_verdict
from libs.runtime.sandbox.sandbox import Sandbox
from libs.runtime.sandbox.verdict import ChildCrashed
from libs.runtime.stores import Stores
from libs.runtime.work import Work
from services.profiler.classify import Classifier
from services.profiler.look import Source, look
from services.profiler.profile import Bounds


@dataclass(frozen=True)
class Deps:
    """What handlers work with; `window` is how many shards of a job are out at once."""

    bus: Bus
    stores: Stores
    sandbox: Sandbox
    bounds: Bounds
    window: int
    classifier: Classifier | None = None
    """A model that names kinds of documents; None where none may be asked."""


async def on_accepted(deps: Deps, event: DocumentAccepted, work: Work) -> None:
    """Look at the source once, store its profile, and send out the first shards."""
    profile, sample = await _profile(deps, event, work)
    if deps.classifier is not None:
        profile = await deps.classifier.classified(event, profile, sample, work)
    profile = unstated(profile, event)
    ref = await save_json(deps.stores.objects, attempt_key(event, "profile.json"), profile)
    await deps.bus.announce(
        DocumentProfiled(
            **_same_job(event),
            profile=ref,
            format=profile.format,
            page_count=profile.page_count,
            shards=len(profile.shards),
        )
    )
    for shard in range(min(deps.window, len(profile.shards))):
        await deps.bus.announce(_sharded(event, profile, ref, shard))


async def on_shard_parsed(deps: Deps, event: ShardParsed, work: Work) -> None:
    """A place in the job's window is free: send out the shard that takes it."""
    following = event.shard + deps.window
    if following < event.shards:
        profile = await load_json(deps.stores.objects, event.profile, Profile)
        await deps.bus.announce(_sharded(event, profile, event.profile, following))


def unstated(profile: Profile, event: DocumentAccepted) -> Profile:
    """The profile with what the sender stated, and without inferences about that."""
    stated = event.options.metadata.model_dump(exclude_none=True).keys()
    inferred = {k: v for k, v in profile.inferred.items() if k not in stated}
    rules = event.options.records
    records = {} if rules is None else {"records": rules, "kind": "entries"}
    return profile.model_copy(update={"inferred": inferred, **records})


async def _profile(deps: Deps, event: DocumentAccepted, work: Work) -> tuple[Profile, str]:
    try:
        async with _source(deps, event) as path:
            source = Source(
                path, event.file_name, event.source.size, event.source.sha256, event.media_type
            )
            return await look(deps.sandbox, source, deps.bounds, work)
    except ChildCrashed as crash:
        task = f"profiler:{event.job_id}:"
        raise await crash_verdict(deps.stores.catalog.jobs, task, crash) from None


@asynccontextmanager
async def _source(deps: Deps, event: DocumentAccepted) -> AsyncIterator[Path]:
    async with AsyncExitStack() as stack:
        try:
            path = await stack.enter_async_context(deps.stores.objects.local(event.source.key))
        except KeyError:
            raise DocumentFault(Code.SOURCE_MISSING, "the source is not in the store") from None
        yield path


def _sharded(
    event: DocumentAccepted | ShardParsed, profile: Profile, ref: ArtefactRef, shard: int
) -> DocumentSharded:
    return DocumentSharded(
        **_same_job(event),
        source=event.source,
        profile=ref,
        file_name=event.file_name,
        shard=shard,
        shards=len(profile.shards),
        pages=profile.shards[shard],
        options=event.options,
    )


def _same_job(event: DocumentAccepted | ShardParsed) -> dict[str, object]:
    names = ("namespace", "document_id", "revision", "job_id", "attempt")
    return {name: getattr(event, name) for name in names}
