"""A revision as people and agents read it: one section of its tree, or its Markdown. Pure."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from libs.contracts.artefacts.chunk import REFERENCE, Chunk
from libs.contracts.artefacts.nav import DocNav, NavSection

MAX_LEVEL = 6


def find_section(nav: DocNav, path: Sequence[str]) -> NavSection | None:
    """The section with this heading path, outermost title first; the root for none.

    Where a heading is repeated, the first section of the path, with the others below it.
    """
    found = [section for section in sections(nav.root) if section.path == list(path)]
    if len(found) < 2:
        return found[0] if found else None
    first, *others = found
    return first.model_copy(
        update={
            "page_numbers": sorted({number for one in found for number in one.page_numbers}),
            "total_chunk_count": sum(one.total_chunk_count for one in found),
            "children": [*first.children, *others],
        }
    )


def sections(root: NavSection) -> Iterator[NavSection]:
    """The section and all below it, in document order."""
    waiting = [root]
    while waiting:
        section = waiting.pop()
        yield section
        waiting.extend(reversed(section.children))


def pruned(section: NavSection, depth: int) -> tuple[NavSection, bool]:
    """The section with its descendants down to `depth` levels, and whether any was left out."""
    if depth == 0:
        return section.model_copy(update={"children": []}), bool(section.children)
    below = [pruned(child, depth - 1) for child in section.children]
    children = [child for child, _ in below]
    return section.model_copy(update={"children": children}), any(cut for _, cut in below)


def chunks_in(
    section: NavSection,
    chunks: Iterable[Chunk],
    wanted: frozenset[str] | None,
    after: int,
    limit: int,
) -> tuple[list[Chunk], int | None]:
    """At most `limit` chunks of the section and below it whose order is greater than `after`,
    of the `wanted` ids where some are given; and the order to go on from, None at the end."""
    inside = {chunk_id for below in sections(section) for chunk_id in below.chunk_ids}
    if wanted is not None:
        inside &= wanted
    kept: list[Chunk] = []
    for chunk in chunks:
        if chunk.order > after and chunk.chunk_id in inside:
            if len(kept) == limit:
                return kept, kept[-1].order
            kept.append(chunk)
    return kept, None


@dataclass(frozen=True)
class Markdown:
    """A part of a text; `next_offset` is where the next one begins, None at the end."""

    text: str
    next_offset: int | None


def markdown(
    section: NavSection,
    chunk: Callable[[str], Chunk],
    href: Callable[[str], str],
    *,
    offset: int,
    limit: int,
) -> Markdown:
    """`limit` characters of the section's Markdown from the character `offset` on.

    Headings carry the level of the section; tables are HTML, since Markdown's have no spans;
    images are links made by `href` from their path in the revision. `chunk` finds a chunk by
    its id.
    """
    kept: list[str] = []
    at = 0
    for block in _blocks(section, chunk, href):
        end = at + len(block)
        if end > offset:
            kept.append(block[max(0, offset - at) : offset + limit - at])
        at = end
        if at > offset + limit:
            return Markdown("".join(kept), offset + limit)
    return Markdown("".join(kept), None)


def _blocks(
    root: NavSection, chunk: Callable[[str], Chunk], href: Callable[[str], str]
) -> Iterator[str]:
    embedded: set[str] = set()
    for section in sections(root):
        if section.path:
            level = min(max(section.level, 1), MAX_LEVEL)
            yield f"{'#' * level} {' '.join(section.title.split())}\n\n"
        for chunk_id in section.chunk_ids:
            if chunk_id not in embedded:
                text = _text(chunk(chunk_id), chunk, href, embedded)
                if text:
                    yield f"{text}\n\n"


def _text(
    piece: Chunk, chunk: Callable[[str], Chunk], href: Callable[[str], str], embedded: set[str]
) -> str:
    if piece.type != "text":
        return _asset(piece, href)
    targets = {c.ref: c.target for c in piece.metadata.connect_to if c.relation == "embeds"}
    embedded.update(targets.values())
    return REFERENCE.sub(
        lambda found: _asset(chunk(targets[found[0]]), href) if found[0] in targets else found[0],
        piece.content,
    )


def _asset(piece: Chunk, href: Callable[[str], str]) -> str:
    if piece.type == "table":
        return piece.metadata.html or piece.content
    caption = " ".join(piece.content.translate(_BRACKETS).split())
    path = piece.metadata.file_path
    return f"![{caption}]({href(path)})" if path else caption


_BRACKETS = str.maketrans({"[": "(", "]": ")", "\\": "/"})
