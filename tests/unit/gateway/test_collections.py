"""Collections: what an upload becomes, who may search, what is refused."""

import json
from typing import Any

import pytest

from libs.contracts.entries import CollectionSettings, RecordRules
from libs.contracts.events import DocumentAccepted
from libs.contracts.query.entries import FindQuery, FoundEntries
from libs.contracts.subjects import QUERY_FIND
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
        empty = await client.post(f"{BANK}/search", json={"query": ""})
        shapeless = await client.post(
            "/v1/namespaces/acme/collections/A_B/search", json={"query": "x"}
        )
    assert found.json()["corpus_version"] == 4
    (query,) = asked
    assert (query.namespace, query.collection, query.request.top_k) == ("acme", "bank", 3)
    assert (empty.status_code, shapeless.status_code) == (422, 404)


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
