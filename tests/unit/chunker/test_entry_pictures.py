"""Entries with pictures: shown to the describing model, kept from revision to revision."""

import base64
import hashlib
from types import SimpleNamespace
from typing import Any, cast

import pytest

from libs.contracts.artefacts.chunk import Chunks
from libs.contracts.artefacts.diagnostics import Diagnostics
from libs.contracts.artefacts.records import MergedEntries
from libs.contracts.artefacts.rows import Row
from libs.contracts.entries import Enrichment, Entry, RecordRules, Review
from libs.contracts.events import ArtefactRef, DocumentChunked, DocumentParsed
from libs.contracts.faults import Code, WorldFault
from libs.runtime.artefacts import load_json, reference_to, save_json
from libs.runtime.models.messages import IMAGE_TOKENS
from libs.runtime.work import Work
from services.chunker import describe
from services.chunker.cut import Sizes
from services.chunker.enrich import BLIND_AFTER, Enricher
from services.chunker.handlers import Deps, on_described, on_merged, on_parsed
from services.indexer.promote import promote
from tests.support.fakes import Bus, Objects
from tests.support.models import Asked, FakeModels, Say, Status, spoken
from tests.support.rows import count_words, profile
from tests.unit.chunker.test_enrich import ANSWER
from tests.unit.chunker.test_handlers import PREFIX, parsed

RED, BLUE = (b"\x89PNG\r\n\x1a\n" + colour for colour in (b"red", b"blue"))


def name_of(data: bytes) -> str:
    return f"assets/images/{hashlib.sha256(data).hexdigest()[:32]}.png"


def entry_with(data: bytes, **fields: Any) -> Entry:
    return Entry(id="1", name="카드 분실 신고", category="카드", image=name_of(data), **fields)


async def stored(objects: Any, *pictures: bytes, prefix: str = PREFIX) -> dict[str, ArtefactRef]:
    names = {name_of(data): data for data in pictures}
    return {
        name: reference_to(await objects.put(prefix + name, data)) for name, data in names.items()
    }


async def described(enricher: Enricher, *entries: Entry, **shown: ArtefactRef) -> MergedEntries:
    pictures = shown or await stored(enricher.objects, RED, BLUE)
    given = MergedEntries(entries=list(entries), wanted=[entry.id for entry in entries])
    return await enricher.enriched("acme", "entries-a", "describe", given, Work("job-1"), pictures)


def without_eyes(asked: Asked) -> Say | Status:
    return Status(400, message="image_url is not supported") if asked.pictures else spoken(ANSWER)


async def test_the_picture_is_in_the_request_and_the_answer_is_kept_by_it(
    enricher: Enricher, server: FakeModels
) -> None:
    server.otherwise = spoken(ANSWER)
    found = await described(enricher, entry_with(RED))
    (asked,) = server.asked
    assert asked.pictures == [f"data:image/png;base64,{base64.b64encode(RED).decode()}"]
    assert "<name>카드 분실 신고</name>" in asked.user
    assert describe.SHOWN in asked.system
    assert found.entries[0].enriched is not None
    assert (found.failed, found.unseen) == ({}, 0)

    await described(enricher, *found.entries)
    await described(enricher, entry_with(RED))
    assert len(server.asked) == 1, "it is known, and its answer kept"
    another = found.entries[0].model_copy(update={"image": name_of(BLUE)})
    await described(enricher, another)
    assert len(server.asked) == 2
    assert server.asked[1].pictures != asked.pictures
    await described(enricher, found.entries[0].model_copy(update={"image": ""}))
    assert server.asked[2].pictures == []
    assert describe.SHOWN not in server.asked[2].system


def test_entries_without_pictures_keep_the_answers_that_they_have() -> None:
    plain = Entry(id="1", name="카드 분실 신고", category="카드")
    prompt = describe.describe_prompt(plain)
    assert describe.describe_prompt(entry_with(RED)) == prompt
    old = hashlib.sha256(f"{describe.VERSION}\nfake\n{prompt}".encode()).hexdigest()
    assert describe.inputs_of(prompt, "fake") == old
    assert describe.inputs_of(prompt, "fake", name_of(RED)) != old


@pytest.mark.parametrize(
    "refusal",
    [
        Status(400, message="image_url is only supported by certain models"),
        Status(404, message="no endpoints found that support image input"),
        Status(400, code="content_filter"),
        Status(500, message="image input is not supported - hint: mmproj"),
    ],
)
async def test_a_model_without_eyes_is_asked_once_more_without_the_picture(
    enricher: Enricher, server: FakeModels, refusal: Status
) -> None:
    server.will(refusal, spoken(ANSWER))
    found = await described(enricher, entry_with(RED))
    assert [bool(asked.pictures) for asked in server.asked] == [True, False]
    made = found.entries[0].enriched
    assert made is not None
    assert made.function_desc == ANSWER["function_desc"]
    assert (found.failed, found.unseen) == ({}, 1)
    await described(enricher, *found.entries)
    assert len(server.asked) == 2


async def test_an_answer_without_the_picture_is_paid_once_and_counted_again(
    enricher: Enricher, server: FakeModels
) -> None:
    server.otherwise = without_eyes
    await described(enricher, entry_with(RED))
    again = await described(enricher, entry_with(RED))
    assert [bool(asked.pictures) for asked in server.asked] == [True, False, True]
    assert again.unseen == 1


async def test_a_model_without_eyes_is_not_shown_every_picture(
    enricher: Enricher, server: FakeModels
) -> None:
    server.otherwise = without_eyes
    many = [entry_with(RED).model_copy(update={"id": f"{n}", "name": f"{n}"}) for n in range(9)]
    found = await described(enricher, *many)
    assert sum(bool(asked.pictures) for asked in server.asked) < BLIND_AFTER + enricher.at_once
    assert all(entry.enriched for entry in found.entries)
    assert found.unseen == len(many)


async def test_a_picture_that_is_refused_among_others_costs_only_its_own(
    enricher: Enricher, server: FakeModels
) -> None:
    def picky(asked: Asked) -> Say | Status:
        return Status(400) if int(asked.user[6]) % 2 and asked.pictures else spoken(ANSWER)

    server.otherwise = picky
    many = [entry_with(RED).model_copy(update={"id": f"{n}", "name": f"{n}"}) for n in range(9)]
    found = await described(enricher, *many)
    assert sum(bool(asked.pictures) for asked in server.asked) == len(many)
    assert found.unseen == 4


async def test_a_model_that_fails_with_and_without_the_picture_leaves_the_entry(
    enricher: Enricher, server: FakeModels
) -> None:
    server.otherwise = Status(400, message="no")
    found = await described(enricher, entry_with(RED))
    assert found.entries == [entry_with(RED)]
    assert (found.failed, found.unseen) == ({"describe": 1}, 0)


async def test_a_picture_that_is_out_of_reach_is_tried_later(
    enricher: Enricher, server: FakeModels
) -> None:
    pictures = await stored(enricher.objects, RED)
    await enricher.objects.delete([PREFIX + name_of(RED)])
    with pytest.raises(WorldFault) as caught:
        await described(enricher, entry_with(RED), **pictures)
    assert caught.value.code is Code.STORE_AWAY
    assert not server.asked


async def test_the_cost_counts_pictures(enricher: Enricher) -> None:
    plain, with_picture = entry_with(RED).model_copy(update={"image": ""}), entry_with(RED)
    bare = await enricher.cost("describe", [plain], ["1"], count_words)
    seen = await enricher.cost("describe", [with_picture], ["1"], count_words)
    extra = IMAGE_TOKENS + count_words([describe.SHOWN])[0]
    assert seen.tokens_in == bare.tokens_in + extra
    told = await enricher.cost("context", [with_picture], ["1"], count_words)
    assert told == await enricher.cost("context", [plain], ["1"], count_words)


class Documents:
    """A catalog with one published revision, or none."""

    def __init__(self, artefacts: dict[str, ArtefactRef] | None = None) -> None:
        self.active = SimpleNamespace(artefacts=artefacts) if artefacts else None

    async def revisions(self, namespace: str, document_id: str) -> list[Any]:
        return []

    async def revision(self, namespace: str, document_id: str) -> Any:
        return self.active


async def uploaded(
    objects: Any, entry: Entry, revision: int, published: Any = None, **rules: Any
) -> tuple[Deps, Any]:
    """What is announced of an upload of one entry, whose pictures are stored."""
    bus = Bus()
    deps = Deps(cast(Any, bus), objects, count_words, Sizes(), cast(Any, Documents(published)))
    event = await parsed(objects, [Row(order=0, kind="paragraph", text="x", entry=entry)])
    prefix = PREFIX.replace("/1/.jobs", f"/{revision}/.jobs")
    records = profile("m.csv").model_copy(update={"records": RecordRules(**rules)})
    named = [data for data in (RED, BLUE) if name_of(data) == entry.image]
    changes = {
        "revision": revision,
        "profile": await save_json(objects, prefix + "profile.json", records),
        "assets": await stored(objects, *named, prefix=prefix),
    }
    await on_parsed(deps, event.model_copy(update=changes), Work("job-1"))
    (said,) = bus.announced.values()
    return deps, said


async def kept(objects: Any, said: DocumentChunked) -> list[Entry]:
    chunks = await load_json(objects, said.artefacts["chunks.json"], Chunks)
    return [chunk.metadata.entry for chunk in chunks.chunks if chunk.metadata.entry]


def images_in(said: DocumentChunked) -> set[str]:
    return {name for name in said.artefacts if name.startswith("assets/")}


@pytest.mark.parametrize(
    "update",
    [
        Entry(id="1", name="", keywords=["분실"]),
        Entry(id="1", name="", review=Review(feedback="짧게", added=["카드가 없어졌어요"])),
    ],
)
async def test_an_update_keeps_the_picture_in_the_next_revision(update: Entry) -> None:
    objects = cast(Any, Objects())
    _, first = await uploaded(objects, entry_with(RED), 1)
    assert images_in(first) == {name_of(RED)}
    published = await promote(objects, first, Work("job-1"), {})
    _, second = await uploaded(objects, update, 2, published)
    (entry,) = await kept(objects, second)
    assert entry.image == name_of(RED)
    assert images_in(second) == {name_of(RED)}
    promoted = await promote(objects, second, Work("job-2"), {})
    assert promoted[name_of(RED)].key == f"team/doc-1/2/{name_of(RED)}"
    assert await objects.get(promoted[name_of(RED)].key) == RED


async def test_a_new_picture_takes_the_place_of_the_old_one() -> None:
    objects = cast(Any, Objects())
    _, first = await uploaded(objects, entry_with(RED), 1)
    published = await promote(objects, first, Work("job-1"), {})
    _, second = await uploaded(objects, entry_with(BLUE), 2, published)
    assert [entry.image for entry in await kept(objects, second)] == [name_of(BLUE)]
    assert images_in(second) == {name_of(BLUE)}
    _, third = await uploaded(
        objects, Entry(id="2", name="환율 조회"), 2, published, mode="replace"
    )
    assert images_in(third) == set()


async def test_without_a_model_the_rules_text_stands_beside_the_picture() -> None:
    objects = cast(Any, Objects())
    deps, _ = await uploaded(objects, entry_with(RED, path="카드 > 분실"), 1, enrich=["describe"])
    deps = Deps(deps.bus, objects, count_words, Sizes(), None, Enricher(objects, None, None, 1))
    announced = cast(Any, deps.bus).announced
    for handler in (on_merged, on_described):
        await handler(deps, list(announced.values())[-1], Work("job-1"))
    said = list(announced.values())[-1]
    assert images_in(said) == {name_of(RED)}
    chunks = await load_json(objects, said.artefacts["chunks.json"], Chunks)
    assert chunks.chunks[0].content.startswith("카드 분실 신고. 위치: 카드 > 분실")


async def test_an_upload_with_a_picture_is_described_and_what_was_not_seen_is_said(
    enricher: Enricher, server: FakeModels
) -> None:
    server.otherwise = without_eyes
    objects = cast(Any, enricher.objects)
    deps, merged = await uploaded(objects, entry_with(RED), 1, enrich=["describe"])
    assert isinstance(merged, DocumentParsed)
    deps = Deps(deps.bus, objects, count_words, Sizes(), deps.documents, enricher)
    for handler in (on_merged, on_described):
        announced = cast(Any, deps.bus).announced
        event = list(announced.values())[-1]
        await handler(deps, event, Work("job-1"))
    said = list(announced.values())[-1]
    assert isinstance(said, DocumentChunked)
    assert images_in(said) == {name_of(RED)}
    (entry,) = await kept(objects, said)
    assert entry.enriched is not None
    assert entry.enriched != Enrichment()
    notes = await load_json(objects, said.artefacts["diagnostics.json"], Diagnostics)
    assert [(f.code, f.count) for f in notes.findings] == [("entry_picture_unseen", 1)]
