"""What holds for every document that a parser could ever hand over."""

import re

import orjson
from hypothesis import given, settings
from hypothesis import strategies as st

from libs.contracts.artefacts.chunk import canonical_text, chunk_id, digest_ids
from libs.contracts.artefacts.nav import NavSection
from libs.contracts.artefacts.rows import Row
from libs.contracts.faults import Code, DocumentFault
from libs.runtime.artefacts import canonical_json
from services.chunker.artefacts import Artefacts, Made, build_artefacts
from services.chunker.cut import PATH_RESERVE, Sizes
from services.chunker.tree import FURNITURE
from tests.support.rows import count_words, documents, profile

HASHES = {"assets/images/a.png": "b" * 64}
SIZES = st.sampled_from([Sizes(3, 5), Sizes(20, 40), Sizes(300, 512)])
_IDENTITY = re.compile(r"^[tia][0-9a-f]{64}(-[0-9]+)?$")


def build(rows: list[Row], sizes: Sizes) -> Artefacts | None:
    made = Made("doc-1", 2, "native", {"parser": "1"}, sizes)
    try:
        return build_artefacts(profile(), rows, made, count_words, HASHES)
    except DocumentFault as fault:
        assert fault.code is Code.NO_CONTENT
        return None


def letters(text: str) -> str:
    return re.sub(r"[\s\x00-\x1f\x7f]+", "", text)


def walk(section: NavSection) -> list[NavSection]:
    return [section, *(s for child in section.children for s in walk(child))]


@settings(deadline=None)
@given(documents(), SIZES)
def test_no_visible_text_is_lost(rows: list[Row], sizes: Sizes) -> None:
    built = build(rows, sizes)
    shown = [r for r in rows if not r.hidden]
    body = [r for r in shown if r.kind not in FURNITURE] or shown
    texts = built.chunks.chunks if built else []
    held = [letters(c.content) for c in texts]
    together = "".join(letters(c.content) for c in texts if c.type == "text")
    for chunk in texts:
        for link in chunk.metadata.connect_to:
            together = together.replace(letters(link.ref), "") if link.ref else together
    paths = {letters(title) for c in texts for title in c.path}
    for row in body:
        if row.kind == "table":
            tables = "".join(letters(c.content) for c in texts if c.type == "table")
            for cell in row.cells:
                assert letters(cell.text) in tables
        elif row.kind == "image":
            known = row.asset or letters(row.text) or row.caption
            assert not known or any(c.type == "image" for c in texts)
        elif row.kind == "caption":
            assert any(letters(row.text) in h for h in held) or letters(row.text) in together
        elif row.kind == "heading":
            assert letters(row.text) in paths or letters(row.text) in together
        else:
            assert letters(row.text) in together


@settings(deadline=None)
@given(documents(), SIZES)
def test_links_ids_and_orders(rows: list[Row], sizes: Sizes) -> None:
    built = build(rows, sizes)
    if built is None:
        return
    chunks = built.chunks.chunks
    ids = [c.chunk_id for c in chunks]
    assert [c.order for c in chunks] == list(range(len(chunks)))
    assert len(set(ids)) == len(ids)
    assert built.manifest.chunk_digest == digest_ids(ids)
    for chunk in chunks:
        base = re.sub(r"-[0-9]+$", "", chunk.chunk_id)
        if chunk.type == "text":
            assert base == chunk_id("text", canonical_text(chunk.content))
        assert chunk.metadata.length == len(chunk.content)
        assert len(chunk.metadata.keywords) <= 12
        assert len(chunk.metadata.summary) <= 200
        for link in chunk.metadata.connect_to:
            assert link.target in ids
            if link.relation == "embeds":
                end = link.position + len(link.ref)
                assert chunk.content[link.position : end] == link.ref
                assert link.ref == f"[[{chunks[ids.index(link.target)].type}:{link.target}]]"
    for chunk in chunks:
        for link in chunk.metadata.connect_to:
            if link.relation == "embeds":
                back = chunks[ids.index(link.target)].metadata.connect_to
                assert any((o.target, o.relation) == (chunk.chunk_id, "related") for o in back)
    for section in walk(built.nav.root):
        own = [c for c in chunks if c.chunk_id in section.chunk_ids]
        texts = {c.chunk_id for c in own if c.type == "text"}
        for asset in (c for c in own if texts and c.type != "text"):
            assert texts & {link.target for link in asset.metadata.connect_to}


@settings(deadline=None)
@given(documents(), SIZES)
def test_no_chunk_is_over_the_limit(rows: list[Row], sizes: Sizes) -> None:
    built = build(rows, sizes)
    for chunk in built.chunks.chunks if built else []:
        path = count_words([" > ".join(chunk.path)])[0]
        limit = max(sizes.limit - path - PATH_RESERVE, (sizes.limit + 1) // 2)
        counted = count_words([canonical_text(chunk.content)])[0]
        if chunk.type != "image":
            assert chunk.metadata.tokens <= limit
            assert counted <= chunk.metadata.tokens


@settings(deadline=None)
@given(documents(), SIZES)
def test_the_tree_keeps_the_order_of_the_document(rows: list[Row], sizes: Sizes) -> None:
    built = build(rows, sizes)
    if built is None:
        return
    chunks = built.chunks.chunks
    sections = walk(built.nav.root)
    assert [s.order for s in sections] == list(range(len(sections)))
    assert [i for s in sections for i in s.chunk_ids] == [c.chunk_id for c in chunks]
    assert len({s.section_id for s in sections}) == len(sections)
    assert built.nav.root.total_chunk_count == len(chunks)
    paths = {c.chunk_id: c.path for c in chunks}
    for section in sections:
        assert all(paths[i] == section.path for i in section.chunk_ids)
        for child in section.children:
            assert child.path[:-1] == section.path
            assert child.level > section.level or len(section.path) >= 11


@settings(deadline=None)
@given(documents(), SIZES)
def test_equal_rows_give_equal_bytes(rows: list[Row], sizes: Sizes) -> None:
    copies = [Row.model_validate(orjson.loads(r.model_dump_json())) for r in rows]
    first, second = build(rows, sizes), build(copies, sizes)
    if first is None or second is None:
        assert first is second
        return
    for one, other in (
        (first.chunks, second.chunks),
        (first.nav, second.nav),
        (first.manifest, second.manifest),
        (first.hierarchy, second.hierarchy),
    ):
        assert canonical_json(one) == canonical_json(other)


@settings(deadline=None)
@given(documents())
def test_hidden_rows_stay_out(rows: list[Row]) -> None:
    secret = Row(order=len(rows), kind="paragraph", text="SECRETWORD", hidden=True)
    built = build([*rows, secret], Sizes())
    if built is not None:
        assert "SECRETWORD" not in canonical_json(built.chunks).decode()
        assert "SECRETWORD" not in canonical_json(built.nav).decode()
