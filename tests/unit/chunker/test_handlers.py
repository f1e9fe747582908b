from types import SimpleNamespace
from typing import Any, cast

import pytest

from libs.contracts.artefacts.chunk import Chunks, digest_ids
from libs.contracts.artefacts.diagnostics import Diagnostics
from libs.contracts.events import (
    ArtefactRef,
    DocumentChunked,
    DocumentParsed,
    EntriesDescribed,
    EntriesMerged,
)
from libs.contracts.faults import Code, DocumentFault, StaleFault
from libs.contracts.query.entries import CostQuery
from libs.runtime.artefacts import load_json, save_json, save_rows
from libs.runtime.work import Work
from services.chunker.cut import Sizes
from services.chunker.handlers import Deps, on_parsed
from tests.support.fakes import Bus, Objects
from tests.support.rows import SHA, count_words, profile, rows

PREFIX = "team/doc-1/1/.jobs/job-1/1/"


def deps(objects: Objects, bus: Bus) -> Deps:
    return Deps(cast(Any, bus), cast(Any, objects), count_words, Sizes())


async def parsed(objects: Any, given: list) -> DocumentParsed:
    diagnostics = Diagnostics(engine="native")
    return DocumentParsed(
        namespace="team", document_id="doc-1", revision=1, job_id="job-1", file_name="a.md",
        source=ArtefactRef(key="team/doc-1/1/source/a.md", sha256=SHA, size=1),
        profile=await save_json(objects, PREFIX + "profile.json", profile("a.md")),
        rows=await save_rows(objects, PREFIX + "rows.jsonl.zst", given),
        diagnostics=await save_json(objects, PREFIX + "diagnostics.json", diagnostics),
        assets={"assets/images/a.png": ArtefactRef(key=PREFIX + "a.png", sha256=SHA, size=3)},
        row_count=len(given), engine="native", versions={"parser": "1"},
    )  # fmt: skip


async def test_artefacts_are_stored_under_the_attempt_and_named_in_the_event() -> None:
    objects, bus = Objects(), Bus()
    given = rows(("paragraph", "Some text."), ("image", "", {"asset": "assets/images/a.png"}))
    event = await parsed(objects, given)
    await on_parsed(deps(objects, bus), event, Work("job-1"))
    (said,) = bus.announced.values()
    assert isinstance(said, DocumentChunked)
    assert set(said.artefacts) == {
        "profile.json", "rows.jsonl.zst", "diagnostics.json", "assets/images/a.png",
        "chunks.json", "doc_nav.json", "manifest.json", "hierarchy.json",
    }  # fmt: skip
    assert said.artefacts["chunks.json"].key == PREFIX + "chunks.json"
    chunks = (await load_json(cast(Any, objects), said.artefacts["chunks.json"], Chunks)).chunks
    assert [c.chunk_id[0] for c in chunks] == ["t", "i"]
    assert chunks[1].chunk_id == f"i{SHA}"
    assert (said.chunk_count, said.chunk_digest) == (2, digest_ids(c.chunk_id for c in chunks))


async def test_the_same_event_again_gives_the_same_bytes() -> None:
    objects, bus = Objects(), Bus()
    event = await parsed(objects, rows(("paragraph", "Some text.")))
    await on_parsed(deps(objects, bus), event, Work("job-1"))
    before = dict(objects.data)
    await on_parsed(deps(objects, bus), event, Work("job-1"))
    assert objects.data == before
    assert len(bus.announced) == 1


async def test_nothing_to_retrieve_fails_the_document() -> None:
    objects, bus = Objects(), Bus()
    event = await parsed(objects, [])
    with pytest.raises(DocumentFault) as raised:
        await on_parsed(deps(objects, bus), event, Work("job-1"))
    assert raised.value.code is Code.NO_CONTENT
    assert not bus.announced


async def test_a_cancelled_job_stops() -> None:
    objects, bus = Objects(), Bus()
    event = await parsed(objects, rows(("paragraph", "Some text.")))
    work = Work("job-1")
    work.cancel()
    with pytest.raises(StaleFault):
        await on_parsed(deps(objects, bus), event, work)
    assert PREFIX + "chunks.json" not in objects.data


def test_wiring_hears_what_the_parser_says() -> None:
    from libs.contracts.subjects import CHUNK, DESCRIBE, QUERY_COST, TELL_APART
    from services.chunker.app import build
    from services.chunker.settings import Settings

    heard: list[Any] = []
    service = SimpleNamespace(
        settings=Settings(_env_file=None),  # type: ignore[call-arg]
        bus=None,
        stores=SimpleNamespace(objects=None, catalog=SimpleNamespace(documents=None)),
        hear=lambda consumer, model, handler, **_: heard.append((consumer, model)),
        answer=lambda subject, model, handler, **_: heard.append((subject, model)),
        on_end=lambda hook: None,
        soon=lambda task, name: None,
        on_ready=lambda name, check: None,
    )
    build(cast(Any, service))
    assert heard == [
        (CHUNK, DocumentParsed),
        (DESCRIBE, EntriesMerged),
        (TELL_APART, EntriesDescribed),
        (QUERY_COST, CostQuery),
    ]
