"""Collections: what an upload becomes, who may search, what is refused."""

import dataclasses
import json
from typing import Any

import pytest

from libs.contracts.artefacts.chunk import Chunk, ChunkMetadata, Chunks
from libs.contracts.entries import CollectionSettings, Entry, RecordRules
from libs.contracts.events import DocumentAccepted
from libs.contracts.query.entries import (
    CostAnswer,
    CostQuery,
    FindQuery,
    FoundEntries,
    StepCost,
)
from libs.contracts.subjects import QUERY_COST, QUERY_FIND
from libs.runtime.artefacts import canonical_json
from services.gateway.overview import quick_queries
from tests.support.gateway_fakes import World

BANK = "/v1/namespaces/acme/collections/bank"
FILE = {"file": ("menu.csv", b"id,name\n1,a\n", "text/csv")}


@pytest.fixture
def world() -> World:
    return World()


async def send(world: World, path: str, options: dict[str, Any] | None = None, **data: str):
    fields = data | ({"options": json.dumps(options)} if options is not None else {})
    async with world.client() as client:
        return await client.post(path, files=FILE, data=fields)


@pytest.mark.parametrize(
    ("path", "kind", "document"),
    [("entries", "entries", "entries-bank"), ("queries", "questions", "queries-bank")],
)
async def test_records_are_a_revision_of_the_collections_document(
    world: World, path: str, kind: Any, document: str
) -> None:
    answer = await send(world, f"{BANK}/{path}", {"records": {"mode": "replace"}})
    assert answer.status_code == 202, answer.text
    assert answer.json()["document_id"] == document
    [event] = world.bus.events
    assert isinstance(event, DocumentAccepted)
    assert event.options.records == RecordRules(kind=kind, mode="replace")
    assert (event.options.collection, event.options.wait_for_dense) == ("bank", True)


async def test_an_upload_may_be_published_before_its_vectors(world: World) -> None:
    await send(world, f"{BANK}/entries", {"wait_for_dense": False})
    [event] = world.bus.events
    assert isinstance(event, DocumentAccepted)
    assert event.options.wait_for_dense is False


@pytest.mark.parametrize(
    ("path", "options", "data"),
    [
        (f"{BANK}/entries", {"collection": "other"}, {}),
        (f"{BANK}/entries", {"records": {"colour": 1}}, {}),
        (f"{BANK}/entries", None, {"document_id": "mine"}),
        ("/v1/namespaces/acme/documents", {"records": {}}, {"document_id": "mine"}),
    ],
)
async def test_what_contradicts_the_collection_is_refused_and_nothing_kept(
    world: World, path: str, options: Any, data: dict[str, str]
) -> None:
    answer = await send(world, path, options, **data)
    assert answer.status_code == 422, answer.text
    assert not world.bus.events


async def test_records_sent_as_a_document_find_their_collection(world: World) -> None:
    answer = await send(
        world, "/v1/namespaces/acme/documents", {"collection": "bank", "records": {}}
    )
    assert answer.json()["document_id"] == "entries-bank"


async def test_a_search_goes_to_the_planner(world: World) -> None:
    asked: list[FindQuery] = []

    def answer(query: FindQuery) -> FoundEntries:
        asked.append(query)
        return FoundEntries(corpus_version=4)

    world.bus.answers[QUERY_FIND.pattern] = answer
    async with world.client(role="reader") as client:
        found = await client.post(f"{BANK}/search", json={"query": "지갑", "top_k": 3})
        refused = [
            await client.post(f"{BANK}/search", json=body)
            for body in (
                {"query": ""},
                {"query": " "},
                {"query": "지\0갑"},
                {"query": "x", "top_k": "3"},
            )
        ]
        shapeless = await client.post(
            "/v1/namespaces/acme/collections/A_B/search", json={"query": "x"}
        )
    assert found.json()["corpus_version"] == 4
    (query,) = asked
    assert (query.namespace, query.collection, query.request.top_k) == ("acme", "bank", 3)
    assert [one.status_code for one in refused] == [422] * 4
    assert shapeless.status_code == 404


async def test_settings_hold_until_they_are_put_again(world: World) -> None:
    changed = CollectionSettings(synonyms=[["송금", "이체"]]).model_dump(mode="json")
    async with world.client() as client:
        assert (await client.get(BANK)).json() == CollectionSettings().model_dump(mode="json")
        assert (await client.put(BANK, json=changed)).status_code == 200
        assert (await client.get(BANK)).json() == changed
        assert (await client.put(BANK, json={"weights": {"dense": -1}})).status_code == 422
    async with world.client(role="reader") as client:
        assert (await client.put(BANK, json=changed)).status_code == 403


async def test_an_entry_nobody_knows_cannot_be_deleted(world: World) -> None:
    async with world.client() as client:
        assert (await client.delete(f"{BANK}/entries/x")).status_code == 404
    assert not world.bus.events


def _published(world: World, document: str, entries: list[Entry]) -> None:
    chunks = [
        Chunk(
            chunk_id=f"t{n:064x}", type="text", content=e.name, path=[], order=n,
            metadata=ChunkMetadata(length=1, tokens=1, content_hash="sha256:" + "0" * 64, entry=e),
        )
        for n, e in enumerate(entries)
    ]  # fmt: skip
    data = canonical_json(Chunks(chunks=chunks))
    [job] = [j for j in world.jobs.jobs.values() if j.document_id == document]
    ref = world.objects.ref(f"acme/{document}/1/chunks.json", data)
    world.documents.publish(job, {"chunks.json": ref}, {"chunks": len(chunks)})
    key = ("acme", document)
    world.documents.documents[key] = dataclasses.replace(
        world.documents.documents[key], inferred={"format": "entries"}
    )


async def test_a_collection_is_listed_with_its_categories_and_queries_to_begin_with(
    world: World,
) -> None:
    await send(world, f"{BANK}/entries")
    await send(world, f"{BANK}/queries")
    async with world.client(role="reader") as client:
        assert (await client.get(f"{BANK}/overview")).status_code == 404
        assert (await client.get("/v1/namespaces/acme/collections")).json()["items"] == []
    menus = [
        Entry(id="1", name="이체", category="돈", search_count=1),
        Entry(id="2", name="환전", category="외화", search_count=9),
        Entry(id="3", name="자동이체", category="돈", search_count=5),
        Entry(id="4", name="기타"),
    ]
    _published(world, "entries-bank", menus)
    _published(world, "queries-bank", [Entry(id="3", name="월세 알아서 나가게")])
    async with world.client(role="reader") as client:
        assert (await client.get("/v1/namespaces/acme/collections")).json()["items"] == ["bank"]
        found = (await client.get(f"{BANK}/overview")).json()
    assert (found["entries"], found["questions"], found["revision"]) == (4, 1, 1)
    assert found["categories"] == [{"name": "돈", "entries": 2}, {"name": "외화", "entries": 1}]
    assert found["quick_queries"] == ["월세 알아서 나가게", "환전", "기타", "이체"]
    async with world.client() as client:
        chosen = CollectionSettings(quick_queries=["달러"]).model_dump(mode="json")
        assert (await client.put(BANK, json=chosen)).status_code == 200
        assert (await client.get(f"{BANK}/overview")).json()["quick_queries"] == ["달러"]


def test_twelve_quick_queries_at_most_and_none_twice() -> None:
    entries = [Entry(id=str(n), name=f"이름 {n % 20}", category=str(n % 3)) for n in range(60)]
    found = quick_queries(entries, [])
    assert len(found) == len(set(found)) == 12
    assert quick_queries([], []) == []


async def test_enriching_is_costed_first_and_then_a_job_of_its_own(world: World) -> None:
    asked: list[CostQuery] = []
    model: list[str | None] = ["small"]

    def cost(query: CostQuery) -> CostAnswer:
        asked.append(query)
        step = StepCost(
            step="describe", model=model[0], calls=2, cached=0, tokens_in=900, tokens_out=3000
        )
        return CostAnswer(known=True, entries=len(query.ids), steps=[step])

    world.bus.answers[QUERY_COST.pattern] = cost
    async with world.client() as client:
        assert (await client.post(f"{BANK}/enrich", json={})).status_code == 404
    await send(world, f"{BANK}/entries")
    _published(world, "entries-bank", [Entry(id="1", name="이체"), Entry(id="2", name="환전")])
    before = len(world.bus.events)
    async with world.client() as client:
        dry = await client.post(f"{BANK}/enrich", json={})
        assert (dry.status_code, dry.json()["job"]) == (200, None)
        assert dry.json()["steps"][0]["tokens_out"] == 3000
        assert len(world.bus.events) == before
        wrong = await client.post(f"{BANK}/enrich", json={"ids": ["9"], "dry_run": False})
        assert wrong.status_code == 422
        begun = await client.post(f"{BANK}/enrich", json={"ids": ["2"], "dry_run": False})
        assert begun.status_code == 202, begun.text
        model[0] = None
        none = await client.post(f"{BANK}/enrich", json={"dry_run": False})
        assert none.status_code == 422
    assert [query.ids for query in asked] == [["1", "2"], ["2"], ["1", "2"]]
    event = world.bus.events[-1]
    assert isinstance(event, DocumentAccepted)
    assert event.document_id == "entries-bank"
    assert event.options.records == RecordRules(enrich=["describe", "context"])
    async with world.client(role="reader") as client:
        assert (await client.post(f"{BANK}/enrich", json={})).status_code == 403


async def test_a_review_goes_out_as_a_workbook_and_comes_back_as_two_jobs(world: World) -> None:
    async with world.client() as client:
        assert (await client.get(f"{BANK}/review.xlsx")).status_code == 404
    await send(world, f"{BANK}/entries")
    _published(world, "entries-bank", [Entry(id="1", name="이체", category="돈")])
    async with world.client(role="reader") as client:
        book = await client.get(f"{BANK}/review.xlsx", params={"lang": "en"})
        assert book.status_code == 200, book.text
        assert book.headers["content-disposition"].endswith('"bank-review-1.xlsx"')
        assert (await client.get(f"{BANK}/review")).status_code == 404
        assert (await client.get(f"{BANK}/review.xlsx", params={"lang": "x"})).status_code == 422
        assert (await client.post(f"{BANK}/review", files=FILE)).status_code == 403
    before = len(world.bus.events)
    async with world.client() as client:
        answer = await client.post(
            f"{BANK}/review", files={"file": ("r.xlsx", book.content, "application/x")}
        )
    assert answer.status_code == 202, answer.text
    events = [e for e in world.bus.events[before:] if isinstance(e, DocumentAccepted)]
    assert [event.document_id for event in events] == ["entries-bank", "queries-bank"]
    assert [event.options.records for event in events] == [
        RecordRules(kind="entries", review=True, enrich=["describe", "context"]),
        RecordRules(kind="questions", review=True),
    ]
    assert len({event.source.key for event in events}) == 2
    assert answer.json()["questions"]["document_id"] == "queries-bank"
