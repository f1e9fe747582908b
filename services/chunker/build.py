"""From a section tree to chunks: measure once, cut, name, connect."""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal

from libs.contracts.artefacts.chunk import (
    Chunk,
    ChunkMetadata,
    ChunkType,
    Connection,
    canonical_text,
    chunk_id,
    reference,
)
from libs.contracts.artefacts.rows import Row
from services.chunker.boxes import merged
from services.chunker.cut import Sizes, Unit, fit, pack
from services.chunker.flow import Asset, Flow, read_section
from services.chunker.keywords import CHUNK_KEYWORDS, keyword_length, top, weigh
from services.chunker.summary import CANDIDATES, SUMMARY_CHARACTERS, lead
from services.chunker.tables import cut_table
from services.chunker.text import CountMany, language_of, one_line, shorten
from services.chunker.tree import Section


@dataclass(eq=False, slots=True)
class Draft:
    """A chunk before it is written. `plain` is its canonical text. `embeds` are assets with the
    index of the unit that each one follows, -1 before the first; marks and connections are
    made once all ids are known."""

    type: ChunkType
    base_id: str
    rows: list[Row]
    tokens: int
    plain: str
    content: str = ""
    html: str | None = None
    units: Sequence[Unit] = ()
    embeds: list[tuple[int, "Draft"]] = field(default_factory=list)
    related: list["Draft"] = field(default_factory=list)
    chunk_id: str = ""


@dataclass(frozen=True, slots=True)
class Note:
    """What other artefacts say of a chunk; `title` is the first line of an asset's content."""

    chunk_id: str
    type: ChunkType
    tokens: int
    length: int
    summary: str
    page_numbers: list[int]
    title: str
    file_path: str | None


@dataclass(frozen=True)
class SectionChunks:
    """A section, what is noted of the chunks that lie directly in it, in order, the contents of
    the first texts among them, and the weights of its words."""

    section: Section
    notes: list[Note]
    texts: list[str]
    weights: Counter[str]


def build_chunks(
    root: Section,
    count_many: CountMany,
    sizes: Sizes,
    asset_hashes: Mapping[str, str],
    language: str,
    take: Callable[[Chunk], None],
) -> list[SectionChunks]:
    """Gives `take` the chunks of every section, top-down, `order` dense from 0; returns what
    is noted of them. No chunk is kept.

    `count_many` is called once for the whole document, and again only for units that are
    over the limit. An image's id is made of `asset_hashes[row.asset]`, the sha256 of its
    bytes, or of its name where that is unknown.
    """
    flows = [read_section(section, asset_hashes) for section in root.walk()]
    path_tokens = _measure(flows, count_many)
    drafts = [
        _draft(flow, sizes.under(tokens), count_many)
        for flow, tokens in zip(flows, path_tokens, strict=True)
    ]
    _name(draft for section in drafts for draft in section)
    built: list[SectionChunks] = []
    order = 0
    for flow, section in zip(flows, drafts, strict=True):
        notes: list[Note] = []
        texts: list[str] = []
        total: Counter[str] = Counter()
        for draft in section:
            content, embeds = _render(draft)
            weights = _weights(draft)
            total.update(weights)
            metadata = _metadata(draft, content, embeds, weights, language)
            take(
                Chunk(
                    chunk_id=draft.chunk_id,
                    type=draft.type,
                    content=content,
                    path=list(flow.section.path),
                    order=order,
                    metadata=metadata,
                )
            )
            notes.append(_note(draft, content, metadata))
            if draft.type == "text" and len(texts) < CANDIDATES:
                texts.append(content)
            order += 1
            draft.units, draft.plain = (), ""
        built.append(SectionChunks(flow.section, notes, texts, total))
    return built


def _note(draft: Draft, content: str, metadata: ChunkMetadata) -> Note:
    first = "" if draft.type == "text" else one_line(content.split("\n", 1)[0])
    return Note(
        draft.chunk_id,
        draft.type,
        metadata.tokens,
        metadata.length,
        metadata.summary,
        metadata.page_numbers,
        shorten(first, SUMMARY_CHARACTERS),
        metadata.file_path,
    )


def _measure(flows: Sequence[Flow], count_many: CountMany) -> list[int]:
    """Fill in the tokens of all units and images; returns those of each section's path."""
    measured: list[Unit | Asset] = []
    texts: list[str] = []
    for flow in flows:
        units = [*flow.units, *(u for a in flow.assets if a.table for u in a.table.units)]
        images = [a for a in flow.assets if a.table is None]
        measured += [*units, *images]
        texts += [*(u.text for u in units), *(a.content for a in images)]
    counts = count_many([*texts, *(" > ".join(flow.section.path) for flow in flows)])
    for item, tokens in zip(measured, counts, strict=False):
        item.tokens = tokens
    return counts[len(texts) :]


def _draft(flow: Flow, sizes: Sizes, count_many: CountMany) -> list[Draft]:
    """The drafts of a section: each text chunk, then the assets that it embeds."""
    groups = pack(fit(flow.units, sizes.limit, count_many), sizes)
    flow.units = []
    texts = [_text_draft(group) for group in groups]
    places = [(g, i) for g, group in enumerate(groups) for i, u in enumerate(group) if u.ends]
    following: list[list[Draft]] = [[] for _ in texts] or [[]]
    for asset in flow.assets:
        parts = _asset_drafts(asset, sizes.limit, count_many)
        for one, other in pairwise(parts):
            one.related.append(other)
            other.related.append(one)
        g, i = places[asset.after - 1] if asset.after else (0, -1)
        if texts:
            texts[g].embeds.append((i, parts[0]))
            for part in parts:
                part.related.insert(0, texts[g])
        following[g] += parts
    if not texts:
        return following[0]
    return [d for text, assets in zip(texts, following, strict=True) for d in (text, *assets)]


def _text_draft(units: Sequence[Unit]) -> Draft:
    rows = list({id(u.row): u.row for u in units}.values())
    plain = canonical_text("".join(f"{u.joiner}{u.text}" for u in units))
    tokens = sum(u.tokens for u in units)
    return Draft("text", chunk_id("text", plain), rows, tokens, plain, units=units)


def _asset_drafts(asset: Asset, limit: int, count_many: CountMany) -> list[Draft]:
    """A table may be several drafts, an image is one."""
    if asset.table is None:
        plain = canonical_text(asset.content)
        return [Draft("image", asset.base_id, [asset.row], asset.tokens, plain, asset.content)]
    drafts: list[Draft] = []
    for part in cut_table(asset.table, limit, count_many):
        base, plain = chunk_id("table", part.identity), canonical_text(part.content)
        drafts.append(Draft("table", base, [part.row], part.tokens, plain, part.content, part.html))
    return drafts


def _name(drafts: Iterable[Draft]) -> None:
    """Give ids in reading order; the k-th repeat of one appends `-k`."""
    seen: Counter[str] = Counter()
    for draft in drafts:
        seen[draft.base_id] += 1
        repeat = seen[draft.base_id]
        draft.chunk_id = draft.base_id + (f"-{repeat}" if repeat > 1 else "")


def _render(draft: Draft) -> tuple[str, list[Connection]]:
    """The content with its marks, and where they stand in it."""
    if draft.type != "text":
        return draft.content, []
    marks: defaultdict[int, list[Draft]] = defaultdict(list)
    for i, asset in draft.embeds:
        marks[i].append(asset)
    content = ""
    connections: list[Connection] = []
    for i in range(-1, len(draft.units)):
        if i >= 0:
            joiner = "\n\n" if marks[i - 1] else draft.units[i].joiner
            content += (joiner if content else "") + draft.units[i].text
        for asset in marks[i]:
            kind: Literal["image", "table"] = "image" if asset.type == "image" else "table"
            ref = reference(kind, asset.chunk_id)
            content += "\n\n" if content else ""
            connections.append(
                Connection(target=asset.chunk_id, relation="embeds", ref=ref, position=len(content))
            )
            content += ref
    return content, connections


def _weights(draft: Draft) -> Counter[str]:
    """Keyword weights; the lines of a table repeat its headers, so there a word counts once."""
    weights = weigh(draft.plain)
    return weights if draft.type == "text" else Counter({w: keyword_length(w) for w in weights})


def _metadata(
    draft: Draft, content: str, embeds: list[Connection], weights: Counter[str], language: str
) -> ChunkMetadata:
    pages, boxes = merged(draft.rows)
    image = draft.type == "image"
    related = [Connection(target=other.chunk_id, relation="related") for other in draft.related]
    return ChunkMetadata(
        length=len(content),
        summary=lead(draft.plain),
        page_numbers=pages,
        boxes=boxes,
        tokens=draft.tokens,
        keywords=top(weights, CHUNK_KEYWORDS),
        language=language_of(draft.plain, language),
        file_path=draft.rows[0].asset if image else None,
        media_type=draft.rows[0].media_type if image else None,
        content_hash=f"sha256:{hashlib.sha256(content.encode()).hexdigest()}",
        connect_to=[*embeds, *related],
        html=draft.html,
    )
