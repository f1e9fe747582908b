"""What language models add to a parsed document, each use where its endpoint is configured.

Models are asked here, in the service: a child has no network. It returns what is unresolved,
pages as pictures, images without words, headings by their looks; what comes back is checked and
written into its rows.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from libs.contracts.artefacts.profile import Profile
from libs.contracts.artefacts.rows import Row
from libs.contracts.events import DocumentSharded, ShardsDone
from libs.runtime.models.factory import open_model
from libs.runtime.models.helper import Allowance, Helper
from libs.runtime.models.port import Model
from libs.runtime.models.use import ModelUse
from libs.runtime.objects.port import ObjectStore
from libs.runtime.sandbox.sandbox import Finished, Sandbox
from libs.runtime.work import Work
from services.parser.attempts import parse_shard
from services.parser.child import ROWS, SCANS
from services.parser.model_levels import decide, headings_of, rewritten
from services.parser.model_pages import describe, read_page
from services.parser.rowfile import read_rows, write_rows
from services.parser.settings import Settings

Parsing = Callable[..., AbstractAsyncContextManager[Finished]]
USES = (ModelUse.HIERARCHY, ModelUse.IMAGE, ModelUse.OCR)
SHOWN = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
"""Types of pictures that a model can be shown."""
SMALLEST, LARGEST = 3 << 10, 8 << 20
"""Bytes of a picture worth a description: smaller ones are icons, larger ones no server takes."""


@dataclass(frozen=True)
class Models:
    """The models of the uses that are configured, and what they may cost a document."""

    models: dict[ModelUse, Model]
    allowance: Allowance

    def helper(
        self, use: ModelUse, objects: ObjectStore, event: DocumentSharded | ShardsDone, work: Work,
        *, share: float = 1.0,
    ) -> Helper | None:  # fmt: skip
        """Who asks the model of a use about the event's document; None where it has none."""
        model = self.models.get(use)
        if model is None:
            return None
        return Helper(use, model, objects, event, work, self.allowance.budget(share))

    async def close(self) -> None:
        """Release connections."""
        for model in self.models.values():
            await model.close()


def open_models(settings: Settings) -> Models:
    """The configured models, none of them connected yet."""
    opened = {use: open_model(use, settings) for use in USES}
    allowance = Allowance(settings.document_model_calls, settings.document_model_tokens)
    return Models({use: m for use, m in opened.items() if m is not None}, allowance)


@asynccontextmanager
async def helped_shard(
    sandbox: Sandbox,
    models: Models,
    objects: ObjectStore,
    event: DocumentSharded,
    path: Path,
    profile: Profile,
    work: Work,
) -> AsyncIterator[Finished]:
    """A parsed shard, its scans and images read by models; see `child.parse`."""
    share = 1 / max(1, event.shards)
    ocr = models.helper(ModelUse.OCR, objects, event, work, share=share)
    images = models.helper(ModelUse.IMAGE, objects, event, work, share=share)
    parsing = partial(parse_shard, sandbox, path, profile, event.pages, event.options.engine, work)
    async with AsyncExitStack() as stack:
        told: dict[int, str] = {}
        if ocr is None:
            finished = await stack.enter_async_context(parsing())
        else:
            finished, told = await _read(stack, parsing, ocr)
            _note(finished, ocr, len(told))
        if images is not None:
            _note(finished, images, await _describe(finished, images, profile))
        if event.shards == 1:
            await level(finished, models.helper(ModelUse.HIERARCHY, objects, event, work), profile)
        yield finished


async def _read(
    stack: AsyncExitStack, parsing: Parsing, helper: Helper
) -> tuple[Finished, dict[int, str]]:
    """The parsed shard, and the texts of its scanned pages as far as the model reads them.

    A first parse puts the pictures of such pages aside, unread; where there are any, a second
    one takes their texts, and reads by itself what the model did not.
    """
    async with AsyncExitStack() as first:
        finished = await first.enter_async_context(parsing(aside=True))
        numbers = [int(n) for n in finished.result.get("scans", ())]
        if not numbers:
            stack.push_async_exit(first.pop_all())
            return finished, {}
        pictures = [finished.file(f"{SCANS}/{number}.jpg") for number in numbers]

        async def read(picture: Path) -> str | None:
            return await read_page(helper, await asyncio.to_thread(picture.read_bytes))

        texts = await helper.each(pictures, read)
    told = {n: text for n, text in zip(numbers, texts, strict=True) if text is not None}
    return await stack.enter_async_context(parsing(told=told)), told


async def level(finished: Finished, helper: Helper | None, profile: Profile) -> None:
    """Have the levels of the document's open headings decided, in its joined rows."""
    if helper is None or profile.kind in ("slides", "entries"):
        return
    source = finished.file(ROWS)
    headings = await asyncio.to_thread(lambda: headings_of(read_rows([source])))
    decided = await decide(headings, helper)
    if decided:
        await asyncio.to_thread(_replace, source, decided)
    _note(finished, helper, len(decided))


def _replace(source: Path, decided: dict[int, int]) -> None:
    target = source.with_suffix(".levelled")
    rewritten(source, target, decided)
    target.replace(source)


async def _describe(finished: Finished, helper: Helper, profile: Profile) -> int:
    """Give images without words of their own a description; how many were described."""
    source = finished.file(ROWS)
    names = await asyncio.to_thread(lambda: _wordless(read_rows([source])))

    async def ask(name: str) -> str | None:
        picture = finished.file(name)
        if not SMALLEST <= picture.stat().st_size <= LARGEST:
            return None
        data = await asyncio.to_thread(picture.read_bytes)
        return await describe(helper, data, profile.language)

    texts = dict(zip(names, await helper.each(names, ask), strict=True))
    said = {name: text for name, text in texts.items() if text}
    if said:
        rows = await asyncio.to_thread(lambda: list(read_rows([source])))
        await asyncio.to_thread(write_rows, source, (_described(row, said) for row in rows))
    return len(said)


def _is_wordless(row: Row) -> bool:
    return row.kind == "image" and not row.hidden and not row.text and row.asset is not None


def _wordless(rows: Iterable[Row]) -> list[str]:
    found = (r.asset for r in rows if _is_wordless(r) and r.media_type in SHOWN)
    return sorted({name for name in found if name is not None})


def _described(row: Row, said: dict[str, str]) -> Row:
    if not _is_wordless(row) or row.asset not in said:
        return row
    return row.model_copy(update={"text": said[row.asset]})


def _note(finished: Finished, helper: Helper | None, used: int) -> None:
    """Record in the result what a model could not do, and its name where it did something."""
    if helper is None:
        return
    result = finished.result
    result["findings"] = [
        *result["findings"], *(f.model_dump(mode="json") for f in helper.findings())
    ]  # fmt: skip
    if used:
        name = {f"model {helper.use.value}": helper.name}
        result["versions"] = {**result.get("versions", {}), **name}
