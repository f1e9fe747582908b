"""Models at work on entries: bounded in parallel, resumable, costed before it starts.

An answer is kept by the hash of its inputs beside the document, so a step that is broken off
pays for nothing twice, and erasing the document erases the answers.
"""

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass

from libs.contracts.artefacts.records import MergedEntries
from libs.contracts.entries import Enrichment, EnrichStep, Entry
from libs.contracts.query.entries import StepCost
from libs.runtime.keys import answers_prefix
from libs.runtime.models.caches import StoredAnswers
from libs.runtime.models.factory import open_model
from libs.runtime.models.failure import ModelFailed
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

Change = Callable[[], Awaitable[Entry]]


@dataclass(frozen=True)
class Call:
    """What one entry is asked of a model; `inputs` is what its answer is kept by."""

    entry: Entry
    prompt: str
    inputs: str
    known: bool


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
        self, namespace: str, document_id: str, step: EnrichStep, given: MergedEntries, work: Work
    ) -> MergedEntries:
        """The entries after the step; what had its answer before is not asked again. Raises
        `ModelFailed` when a model is away, for the step to be tried later; an entry whose answer
        is of no use stays as it was and is counted."""
        model = self.model_of(step)
        if model is None:
            return given
        cache = StoredAnswers(self.objects, answers_prefix(namespace, document_id))
        calls = [c for c in calls_of(step, given.entries, given.wanted, model.name) if not c.known]
        make = _described if step == "describe" else _told_apart
        changes = [_change(make, model, cache, call) for call in calls]
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
        counted = await asyncio.to_thread(count_many, [system, *(call.prompt for call in new)])
        return StepCost(
            step=step,
            model=model.name,
            calls=len(new),
            cached=len(calls) - len(new),
            tokens_in=sum(counted[1:]) + counted[0] * len(new),
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
        if step == "describe":
            prompt, known = ask.describe_prompt(entry), had.inputs
        else:
            near = around(siblings[entry.category], place) if entry.category else []
            prompt, known = ask.context_prompt(entry, near), had.told
        inputs = ask.inputs_of(prompt, model)
        found.append(Call(entry, prompt, inputs, known == inputs))
    return found


Make = Callable[[Model, StoredAnswers, Call], Awaitable[Entry]]


def _change(make: Make, model: Model, cache: StoredAnswers, call: Call) -> Change:
    async def change() -> Entry:
        return await make(model, cache, call)

    return change


async def _described(model: Model, cache: StoredAnswers, call: Call) -> Entry:
    said = await model.json(
        ask.DESCRIBE,
        call.prompt,
        ask.Described,
        max_tokens=ask.DESCRIBE_TOKENS,
        temperature=ask.DESCRIBE_TEMPERATURE,
        cache=cache,
        cache_key=call.inputs,
    )
    made = ask.enrichment_of(call.entry, said, call.inputs, model.name)
    return call.entry.model_copy(update={"enriched": made})


async def _told_apart(model: Model, cache: StoredAnswers, call: Call) -> Entry:
    answer = await model.text(
        ask.CONTEXT,
        call.prompt,
        max_tokens=ask.CONTEXT_TOKENS,
        temperature=ask.CONTEXT_TEMPERATURE,
        cache=cache,
        cache_key=call.inputs,
    )
    old = call.entry.enriched or Enrichment()
    made = old.model_copy(
        update={
            "context": ask.sentence_of(answer.text),
            "told": call.inputs,
            "by": list(dict.fromkeys([*old.by, model.name])),
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
