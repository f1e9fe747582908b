"""Models at work on entries: bounded in parallel, resumable, costed before it starts.

An answer is kept by the hash of its inputs beside the document, so a step that is broken off
pays for nothing twice, and erasing the document erases the answers.
"""

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from libs.contracts.artefacts.records import MergedEntries
from libs.contracts.entries import Enrichment, EnrichStep, Entry
from libs.contracts.events import ArtefactRef
from libs.contracts.query.entries import StepCost
from libs.runtime.artefacts import load_bytes
from libs.runtime.keys import answers_prefix
from libs.runtime.models.caches import StoredAnswers
from libs.runtime.models.factory import open_model
from libs.runtime.models.failure import ModelFailed, Reason
from libs.runtime.models.messages import IMAGE_TOKENS
from libs.runtime.models.port import Model
from libs.runtime.models.use import ModelUse
from libs.runtime.objects.port import ObjectStore
from libs.runtime.work import Work
from services.chunker import describe as ask
from services.chunker.entries import around
from services.chunker.settings import Settings
from services.chunker.text import CountMany

BEAT_SECONDS = 2.0
"""How often a cancel is looked for while models are waited for."""

NOT_TAKEN = frozenset({Reason.INVALID, Reason.FILTERED, Reason.TOO_LONG})
"""Failures that a picture may be the reason of: a model without eyes refuses the request."""
BLIND_AFTER = 3
"""Pictures that a model did not take, and none that it did, after which it is shown no more."""

Change = Callable[[], Awaitable[Entry]]


@dataclass(frozen=True)
class Call:
    """What one entry is asked of a model; `inputs` is what its answer is kept by, `picture` the
    asset that is shown, empty for none."""

    entry: Entry
    prompt: str
    inputs: str
    known: bool
    picture: str = ""


@dataclass
class Asking:
    """A model at one step, where its answers and the pictures that it is shown lie, and how many
    it took and did not take."""

    model: Model
    cache: StoredAnswers
    objects: ObjectStore
    pictures: Mapping[str, ArtefactRef]
    seen: int = 0
    unseen: int = 0

    async def images(self, call: Call) -> list[bytes]:
        """The picture of a call, if it has one and the model has eyes."""
        if self.unseen >= BLIND_AFTER and not self.seen:
            return []
        reference = self.pictures.get(call.picture)
        return [] if reference is None else [await load_bytes(self.objects, reference)]


@dataclass(frozen=True)
class Enricher:
    """The models of both steps, each None where none is configured, and how many calls are under
    way at once."""

    objects: ObjectStore
    describe: Model | None
    context: Model | None
    at_once: int

    def model_of(self, step: EnrichStep) -> Model | None:
        """The model of a step."""
        return self.describe if step == "describe" else self.context

    async def enriched(
        self,
        namespace: str,
        document_id: str,
        step: EnrichStep,
        given: MergedEntries,
        work: Work,
        pictures: Mapping[str, ArtefactRef] | None = None,
    ) -> MergedEntries:
        """The entries after the step; what had its answer before is not asked again. `pictures`
        are the stored ones by the names that entries have for them. Raises `ModelFailed` when a
        model is away, for the step to be tried later; an entry whose answer is of no use stays as
        it was and is counted."""
        model = self.model_of(step)
        if model is None:
            return given
        cache = StoredAnswers(self.objects, answers_prefix(namespace, document_id))
        calls = [c for c in calls_of(step, given.entries, given.wanted, model.name) if not c.known]
        make = _described if step == "describe" else _told_apart
        asking = Asking(model, cache, self.objects, pictures or {})
        changes = [_change(make, asking, call) for call in calls]
        answers = await _gathered(changes, self.at_once, work)
        made = {
            call.entry.id: answer
            for call, answer in zip(calls, answers, strict=True)
            if answer is not None
        }
        failed = len(calls) - len(made)
        return given.model_copy(
            update={
                "entries": [made.get(entry.id, entry) for entry in given.entries],
                "failed": {**given.failed, step: failed} if failed else given.failed,
                "unseen": given.unseen + asking.unseen,
            }
        )

    async def cost(
        self,
        step: EnrichStep,
        entries: Sequence[Entry],
        ids: Iterable[str],
        count_many: CountMany,
    ) -> StepCost:
        """What the step would cost at most; nothing where no model is configured."""
        model = self.model_of(step)
        if model is None:
            return StepCost(step=step, model=None, calls=0, cached=0, tokens_in=0, tokens_out=0)
        calls = calls_of(step, entries, ids, model.name)
        new = [call for call in calls if not call.known]
        system = ask.DESCRIBE if step == "describe" else ask.CONTEXT
        room = ask.DESCRIBE_TOKENS if step == "describe" else ask.CONTEXT_TOKENS
        texts = [system, ask.SHOWN, *(call.prompt for call in new)]
        counted = await asyncio.to_thread(count_many, texts)
        shown = sum(bool(call.picture) for call in new)
        return StepCost(
            step=step,
            model=model.name,
            calls=len(new),
            cached=len(calls) - len(new),
            tokens_in=sum(counted[2:])
            + counted[0] * len(new)
            + (counted[1] + IMAGE_TOKENS) * shown,
            tokens_out=room * len(new),
        )

    async def close(self) -> None:
        """Release connections."""
        for model in (self.describe, self.context):
            if model is not None:
                await model.close()


def calls_of(
    step: EnrichStep, entries: Sequence[Entry], wanted: Iterable[str], model: str
) -> list[Call]:
    """What a step asks of the wanted entries, in their order; known ones have their answer."""
    chosen = set(wanted)
    siblings: defaultdict[str, list[str]] = defaultdict(list)
    for entry in entries:
        siblings[entry.category].append(entry.name)
    places: defaultdict[str, int] = defaultdict(int)
    found = []
    for entry in entries:
        place = places[entry.category]
        places[entry.category] += 1
        if entry.id not in chosen:
            continue
        had = entry.enriched or Enrichment()
        picture = entry.image if step == "describe" else ""
        if step == "describe":
            prompt, known = ask.describe_prompt(entry), had.inputs
        else:
            near = around(siblings[entry.category], place) if entry.category else []
            prompt, known = ask.context_prompt(entry, near), had.told
        inputs = ask.inputs_of(prompt, model, picture)
        found.append(Call(entry, prompt, inputs, known == inputs, picture))
    return found


Make = Callable[[Asking, Call], Awaitable[Entry]]


def _change(make: Make, asking: Asking, call: Call) -> Change:
    async def change() -> Entry:
        return await make(asking, call)

    return change


async def _described(asking: Asking, call: Call) -> Entry:
    said = None
    if images := await asking.images(call):
        try:
            said = await _description(asking, call, images)
            asking.seen += 1
        except ModelFailed as failed:
            if failed.reason not in NOT_TAKEN:
                raise
    if said is None:
        said = await _description(asking, call, [])
        asking.unseen += bool(call.picture)
    made = ask.enrichment_of(call.entry, said, call.inputs, asking.model.name)
    return call.entry.model_copy(update={"enriched": made})


async def _description(asking: Asking, call: Call, images: Sequence[bytes]) -> ask.Described:
    """What the model says; an answer without the picture is kept by the text alone."""
    return await asking.model.json(
        f"{ask.DESCRIBE} {ask.SHOWN}" if images else ask.DESCRIBE,
        call.prompt,
        ask.Described,
        max_tokens=ask.DESCRIBE_TOKENS,
        temperature=ask.DESCRIBE_TEMPERATURE,
        images=images,
        cache=asking.cache,
        cache_key=call.inputs if images else ask.inputs_of(call.prompt, asking.model.name),
    )


async def _told_apart(asking: Asking, call: Call) -> Entry:
    answer = await asking.model.text(
        ask.CONTEXT,
        call.prompt,
        max_tokens=ask.CONTEXT_TOKENS,
        temperature=ask.CONTEXT_TEMPERATURE,
        cache=asking.cache,
        cache_key=call.inputs,
    )
    old = call.entry.enriched or Enrichment()
    made = old.model_copy(
        update={
            "context": ask.sentence_of(answer.text),
            "told": call.inputs,
            "by": list(dict.fromkeys([*old.by, asking.model.name])),
        }
    )
    return call.entry.model_copy(update={"enriched": made})


async def _gathered(changes: Sequence[Change], at_once: int, work: Work) -> list[Entry | None]:
    """The results in order, None for an answer of no use. Work that is not wanted any more, or a
    model that is away, ends all that is under way."""
    gate = asyncio.Semaphore(at_once)

    async def one(change: Change) -> Entry | None:
        async with gate:
            try:
                return await change()
            except ModelFailed as failed:
                if failed.transient:
                    raise
                return None

    work.check()
    tasks = [asyncio.create_task(one(change)) for change in changes]
    pending = set(tasks)
    try:
        while pending:
            done, pending = await asyncio.wait(
                pending, timeout=BEAT_SECONDS, return_when=asyncio.FIRST_EXCEPTION
            )
            work.check()
            for task in done:
                task.result()
    finally:
        for task in pending:
            task.cancel()
        await asyncio.gather(*pending, return_exceptions=True)
    return [task.result() for task in tasks]


def enricher_of(objects: ObjectStore, settings: Settings) -> Enricher:
    """The enricher with the models that the settings name."""
    return Enricher(
        objects,
        open_model(ModelUse.DESCRIBE, settings),
        open_model(ModelUse.CONTEXT, settings),
        settings.chunker_models_at_once,
    )
