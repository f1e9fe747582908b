"""Documents of records: merged with what is published, one chunk an entry. Pure."""

import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from libs.contracts.artefacts.chunk import Chunk, ChunkMetadata, canonical_text, chunk_id
from libs.contracts.entries import Enrichment, Entry, RecordKind, RecordRules, united
from services.chunker.build import Note, SectionChunks
from services.chunker.describe import with_context
from services.chunker.keywords import CHUNK_KEYWORDS, top, weigh
from services.chunker.summary import CANDIDATES, lead
from services.chunker.text import CountMany, language_of, one_line, shorten
from services.chunker.tree import Section

SHORT, LONG = 250, 400
"""Characters of a rule-made text: siblings are added up to the first, nothing past the second."""
DESCRIBED = 1_000
"""Characters of the text of an entry with a description: about what an embedder reads."""
PROSE = 40
"""Characters from which on a free field is part of the description."""
_HANGUL = re.compile(r"[가-힣]")
_LABELS = {
    "ko": ("위치", "관련어", "같은 분류의 다른 항목"),
    "en": ("found at", "related words", "others of this category"),
}


@dataclass(frozen=True)
class Merged:
    """What a collection holds after an upload; `unnamed` records were for entries that are not
    published, so nothing became of them."""

    entries: list[Entry]
    unnamed: int = 0


def merged(published: Iterable[Entry], given: Iterable[Entry], rules: RecordRules) -> Merged:
    """The given records over the published ones: keywords are united, stated values win, a
    deleted record takes its entry (or all questions of its id) away."""
    kept = {_key(e, rules.kind): e for e in published} if rules.mode == "merge" else {}
    unnamed = 0
    for entry in given:
        key = _key(entry, rules.kind)
        if entry.deleted:
            gone = [k for k in kept if k == key or (not entry.name and k[0] == entry.id)]
            for one in gone:
                del kept[one]
        elif key in kept:
            kept[key] = united(kept[key], entry)
        elif entry.name:
            kept[key] = entry
        else:
            unnamed += 1
    return Merged(list(kept.values()), unnamed)


def embedding_text(entry: Entry, siblings: Sequence[str]) -> str:
    """The text of an entry that is embedded. A model's, where it wrote one, behind the sentence
    that tells it from its siblings; else rules make it: name, description (with the free fields
    that are as long as one), path, keywords, other free fields, and the names of siblings while it
    is short. Its category is its heading, so it is not repeated. A described entry may be longer
    than a rule-made text: what is cut is not found by its meaning."""
    made = entry.enriched or Enrichment()
    return with_context(made.embedding_text or rule_made(entry, siblings), made.context)


def rule_made(entry: Entry, siblings: Sequence[str]) -> str:
    """The text that rules make."""
    fields = {name: one_line(value) for name, value in entry.fields.items()}
    prose = [f"{name}: {value}" for name, value in fields.items() if len(value) >= PROSE]
    told = len(entry.text) + sum(map(len, prose))
    most = DESCRIBED if told > LONG // 2 else LONG
    place, related, others = _LABELS["ko" if _HANGUL.search(entry.name) else "en"]
    text = entry.name
    pieces = [
        one_line(entry.text),
        *prose,
        f"{place}: {entry.path}" if entry.path else "",
        _listed(related, entry.keywords, most - len(text)),
        *(f"{name}: {value}" for name, value in fields.items() if len(value) < PROSE),
    ]
    for piece in filter(None, pieces):
        room = most - len(text) - 2
        if room < len(piece) // 4:
            continue
        text = f"{text.removesuffix('.')}. {shorten(piece, room)}"
    if len(text) < SHORT and (named := _listed(others, siblings, SHORT - len(text))):
        text = f"{text.removesuffix('.')}. {named}"
    return text


def build_entries(
    title: str,
    entries: Sequence[Entry],
    kind: RecordKind,
    count_many: CountMany,
    take: Callable[[Chunk], None],
) -> list[SectionChunks]:
    """Gives `take` a chunk for each entry, by category; returns what is noted of them, the root
    first. Without entries it returns no notes."""
    groups: defaultdict[str, list[Entry]] = defaultdict(list)
    for entry in entries:
        groups[entry.category].append(entry)
    root = Section(title=title, level=0)
    order = 0
    repeats: Counter[str] = Counter()
    built: list[SectionChunks] = []
    for category in ("", *sorted(groups.keys() - {""})):
        section = Section(category, 1, (category,)) if category else root
        if category:
            root.children.append(section)
        own = groups.get(category, [])
        names = [entry.name for entry in own]
        texts = [
            entry.name
            if kind == "questions"
            else embedding_text(entry, around(names, place) if category else [])
            for place, entry in enumerate(own)
        ]
        counts = count_many(texts) if texts else []
        notes: list[Note] = []
        total: Counter[str] = Counter()
        for entry, text, tokens in zip(own, texts, counts, strict=True):
            chunk = _chunk(entry, text, tokens, section.path, order, repeats)
            take(chunk)
            total.update(weigh(text))
            notes.append(
                Note(chunk.chunk_id, "text", tokens, len(text), chunk.metadata.summary, [],
                     "", None)
            )  # fmt: skip
            order += 1
        built.append(SectionChunks(section, notes, texts[:CANDIDATES], total))
    return built


def _chunk(
    entry: Entry,
    text: str,
    tokens: int,
    path: tuple[str, ...],
    order: int,
    repeats: Counter[str],
) -> Chunk:
    plain = canonical_text(text)
    base = chunk_id("text", plain)
    repeats[base] += 1
    return Chunk(
        chunk_id=base if repeats[base] == 1 else f"{base}-{repeats[base]}",
        type="text",
        content=text,
        path=list(path),
        order=order,
        metadata=ChunkMetadata(
            length=len(text),
            summary=lead(plain),
            tokens=tokens,
            keywords=top(weigh(plain), CHUNK_KEYWORDS),
            language=language_of(plain, "und"),
            content_hash=f"sha256:{hashlib.sha256(text.encode()).hexdigest()}",
            entry=entry,
        ),
    )


def _key(entry: Entry, kind: RecordKind) -> tuple[str, str]:
    return entry.id, entry.name if kind == "questions" else ""


def _listed(label: str, words: Sequence[str], room: int) -> str:
    """As many words as there is room for, after the label; empty when none fits."""
    text = ""
    for word in words:
        longer = f"{text}, {word}" if text else f"{label}: {word}"
        if len(longer) > room:
            break
        text = longer
    return text


def around(names: Sequence[str], place: int, most: int = 12) -> list[str]:
    """The names that stand nearest in the category, other than the own."""
    start = max(0, place - most // 2)
    near = [*names[start:place], *names[place + 1 : place + 1 + most]]
    return [name for name in dict.fromkeys(near) if name != names[place]][:most]
