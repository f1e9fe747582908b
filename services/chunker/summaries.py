"""Summaries of sections by a language model, where one is configured.

A summary is believed only where it is one short line that speaks of what the section says; the
extract of the section's own sentences stands otherwise.
"""

import asyncio
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from pydantic import BaseModel, Field

from libs.contracts.artefacts.chunk import REFERENCE, Chunk
from libs.contracts.artefacts.diagnostics import Finding
from libs.contracts.artefacts.nav import DocNav, NavSection
from libs.contracts.events.base import JobEvent
from libs.runtime.models.factory import open_model
from libs.runtime.models.helper import DATA_ONLY, Allowance, Helper, quoted
from libs.runtime.models.port import Model
from libs.runtime.models.use import ModelUse
from libs.runtime.objects.port import ObjectStore
from libs.runtime.work import Work
from services.chunker.artefacts import Artefacts
from services.chunker.settings import Settings
from services.chunker.summary import SUMMARY_CHARACTERS
from services.chunker.text import one_line, shorten

SHORTEST = 300
"""Characters from which a section is worth a summary: a shorter one is read as fast itself."""
SHOWN = 3000
"""Characters of a section that a model is shown."""
ASKED = 9000
"""Characters of all sections of one question."""
TOGETHER = 8
"""Sections of one question, so that its answer is not cut."""
ANSWER_TOKENS = 1600
GROUNDED = 0.5
"""Share of a summary's pairs of letters that its section must have: about a third where a text
is of something else, over two thirds where it says the same in other words."""
_MARKUP = re.compile(r"<[/!?]?[a-zA-Z][^<>]{0,300}>|```|https?://|\]\(")
_WORD = re.compile(r"\w+")

SYSTEM = (
    "You write summaries of sections of a document, for readers who decide by them whether to "
    "open a section. For each numbered section one sentence of at most "
    f"{SUMMARY_CHARACTERS} characters, in the language of the section and close to its own words, "
    "that names what it says: subjects, figures, conditions. No markup, nothing that it does not "
    "say. " + DATA_ONLY
)


class Summary(BaseModel):
    """The summary of the section of this number."""

    id: int
    summary: str


class Summaries(BaseModel):
    """What is asked for."""

    summaries: list[Summary] = Field(max_length=4 * TOGETHER)


@dataclass(frozen=True)
class Shown:
    """A section as a model sees it, and what a summary is held against."""

    section_id: str
    title: str
    text: str


@dataclass(frozen=True)
class Summariser:
    """The model of summaries, None where none is configured, and what it may cost a document."""

    objects: ObjectStore
    model: Model | None
    allowance: Allowance

    async def summarised(
        self, event: JobEvent, built: Artefacts, work: Work
    ) -> tuple[Artefacts, list[Finding]]:
        """The artefacts with the model's summaries in their navigation, and what went wrong."""
        if self.model is None:
            return built, []
        budget = self.allowance.budget()
        helper = Helper(ModelUse.SUMMARY, self.model, self.objects, event, work, budget)
        shown = await asyncio.to_thread(_shown, built)
        answers = await helper.each(_batches(shown), lambda batch: _asked(helper, batch))
        said = {name: text for answer in answers for name, text in answer.items()}
        versions = built.manifest.versions
        if said:
            versions = dict(sorted({**versions, "model summary": helper.name}.items()))
        manifest = built.manifest.model_copy(update={"versions": versions})
        return replace(built, nav=_applied(built.nav, said), manifest=manifest), helper.findings()

    async def close(self) -> None:
        """Release connections."""
        if self.model is not None:
            await self.model.close()


def summariser_of(objects: ObjectStore, settings: Settings) -> Summariser:
    """The summariser that the settings name."""
    allowance = Allowance(settings.document_model_calls, settings.document_model_tokens)
    return Summariser(objects, open_model(ModelUse.SUMMARY, settings), allowance)


async def _asked(helper: Helper, batch: Sequence[Shown]) -> dict[str, str]:
    user = "\n\n".join(
        f"Section {number}: {one.title}\n{quoted(one.text)}" for number, one in enumerate(batch)
    )
    answer = await helper.json(SYSTEM, user, Summaries, max_tokens=ANSWER_TOKENS)
    if answer is None:
        return {}
    believed = believable(batch, answer)
    helper.refuse(len(batch) - len(believed))
    return believed


def believable(batch: Sequence[Shown], answer: Summaries) -> dict[str, str]:
    """The summaries that can be right, by section: asked for, said once, plain, grounded."""
    said: dict[int, list[str]] = {}
    for one in answer.summaries:
        said.setdefault(one.id, []).append(one_line(one.summary))
    believed: dict[str, str] = {}
    for number, section in enumerate(batch):
        texts = said.get(number, [])
        if len(texts) == 1 and _is_plain(texts[0]) and is_grounded(texts[0], section):
            believed[section.section_id] = shorten(texts[0], SUMMARY_CHARACTERS)
    return believed


def _is_plain(text: str) -> bool:
    return bool(text) and len(text) <= 3 * SUMMARY_CHARACTERS and not _MARKUP.search(text)


def is_grounded(text: str, section: Shown) -> bool:
    """Whether the pairs of letters in a summary's words are found in the section's."""
    wanted = _pairs(text)
    if not wanted:
        return False
    return len(wanted & _pairs(f"{section.title} {section.text}")) >= GROUNDED * len(wanted)


def _pairs(text: str) -> set[str]:
    """Pairs of neighbouring letters; of words in ASCII threes, since every long text has nearly
    all pairs."""
    words = _WORD.findall(text.casefold())
    return {w[i : i + n] for w in words for n in (3 if w.isascii() else 2,)
            for i in range(max(1, len(w) - n + 1))}  # fmt: skip


def _shown(built: Artefacts) -> list[Shown]:
    """The sections that are worth a summary, in reading order."""
    chunks = {chunk.chunk_id: chunk for chunk in built.chunks.chunks}
    found = []
    for section in _walk(built.nav.root):
        text = _text(section, chunks)
        if len(text) >= SHORTEST:
            title = " > ".join(section.path) or section.title
            found.append(Shown(section.section_id, one_line(title), text))
    return found


def _walk(section: NavSection) -> Iterator[NavSection]:
    yield section
    for child in section.children:
        yield from _walk(child)


def _text(section: NavSection, chunks: Mapping[str, Chunk]) -> str:
    """The head of the section's own content, in the order of its chunks."""
    text = ""
    for name in section.chunk_ids:
        if len(text) >= SHOWN:
            break
        text += "\n" + REFERENCE.sub(" ", chunks[name].content)
    return text.strip()[:SHOWN]


def _batches(sections: Sequence[Shown]) -> list[list[Shown]]:
    batches: list[list[Shown]] = []
    size = 0
    for section in sections:
        size += len(section.text)
        if not batches or size > ASKED or len(batches[-1]) == TOGETHER:
            batches.append([])
            size = len(section.text)
        batches[-1].append(section)
    return batches


def _applied(nav: DocNav, said: Mapping[str, str]) -> DocNav:
    root = _with(nav.root, said)
    summary = said.get(nav.root.section_id, nav.summary)
    return nav.model_copy(update={"root": root, "summary": summary})


def _with(section: NavSection, said: Mapping[str, str]) -> NavSection:
    children = [_with(child, said) for child in section.children]
    summary = said.get(section.section_id, section.summary)
    return section.model_copy(update={"children": children, "summary": summary})
