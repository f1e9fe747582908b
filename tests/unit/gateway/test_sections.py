"""Reading by section, as Markdown, by pattern, and as page pictures."""

import base64
import json
from typing import Any

import pytest

from libs.contracts.api.reading import PictureAnswer, PictureQuery
from libs.contracts.artefacts.chunk import Chunk, ChunkMetadata, Connection, reference
from libs.contracts.artefacts.nav import DocNav, NavSection
from libs.contracts.artefacts.profile import Profile
from libs.runtime.chunkfile import ChunkWriter
from services.gateway import grep
from services.gateway.sections import find_section, sections
from tests.support.gateway_fakes import World

BASE = "/v1/namespaces/acme"


def chunk(name: str, content: str, path: list[str], order: int, **more: Any) -> Chunk:
    kind = more.pop("type", "text")
    metadata = ChunkMetadata(length=len(content), tokens=1, content_hash=f"sha256:{name}", **more)
    return Chunk(
        chunk_id=name, type=kind, content=content, path=path, order=order, metadata=metadata
    )


TABLE = reference("table", "tab")
CHUNKS = [
    chunk("t1", "Intro of the pump.", ["Pump"], 0),
    chunk("t2", f"Grease it.\n\n{TABLE}\n\nÖl 5.5 bar (max) bar", ["Pump", "Care"], 1,
          connect_to=[Connection(target="tab", relation="embeds", ref=TABLE, position=12)]),
    chunk("tab", "a | b", ["Pump", "Care"], 2, type="table", html="<table><tr></tr></table>"),
    chunk("img", "A [red] valve", ["Pump", "Care"], 3, type="image",
          file_path="assets/images/a b.png"),
]  # fmt: skip


def nav() -> DocNav:
    care = NavSection(
        section_id="s2", title="Care", path=["Pump", "Care"], level=2, order=1,
        chunk_ids=["t2", "tab", "img"],
    )  # fmt: skip
    pump = NavSection(
        section_id="s1", title="Pump", path=["Pump"], level=1, order=0, chunk_ids=["t1"],
        children=[care],
    )  # fmt: skip
    root = NavSection(section_id="s0", title="", path=[], level=0, order=0, children=[pump])
    return DocNav(document_id="d", file_name="pump.pdf", title="Pump", root=root)


async def world_with(*names: str, format_: str = "pdf") -> World:
    world = World()
    writer = ChunkWriter()
    for item in CHUNKS:
        writer.add(item)
    profile = Profile(
        format=format_, media_type="a/b", file_name="pump.pdf", size=4, sha256="0" * 64
    )
    parts = {
        "doc_nav.json": nav().model_dump_json().encode(),
        "chunks.json": b"".join(writer.pieces()),
        "profile.json": profile.model_dump_json().encode(),
    }
    async with world.client() as client:
        for name in names:
            sent = await client.post(
                f"{BASE}/documents",
                files={"file": ("pump.pdf", b"%PDF" + name.encode())},
                data={"document_id": name},
            )
            refs = {n: world.objects.ref(f"acme/{name}/1/{n}", data) for n, data in parts.items()}
            world.documents.publish(world.jobs.jobs[sent.json()["job_id"]], refs, {"chunks": 4})
    return world


async def test_a_section_with_its_children_to_a_depth() -> None:
    world = await world_with("d")
    async with world.client(role="reader") as client:
        root = (await client.get(f"{BASE}/documents/d/sections")).json()
        care = (
            await client.get(f"{BASE}/documents/d/sections", params={"path": ["Pump", "Care"]})
        ).json()
        none = await client.get(f"{BASE}/documents/d/sections", params={"path": ["Care"]})
    assert [c["title"] for c in root["section"]["children"]] == ["Pump"]
    assert root["section"]["children"][0]["children"] == []
    assert root["truncated"] is True
    assert (care["section"]["chunk_ids"], care["truncated"]) == (["t2", "tab", "img"], False)
    assert none.status_code == 404


def test_a_repeated_heading_is_read_with_all_that_stands_below_it() -> None:
    def part(name: str, title: str, path: list[str], order: int, **more: Any) -> NavSection:
        return NavSection(
            section_id=name, title=title, path=path, level=len(path), order=order,
            chunk_ids=[name], total_chunk_count=1, **more,
        )  # fmt: skip

    deeper = part("b", "Deeper", ["Same", "Deeper"], 1)
    same = part("a", "Same", ["Same"], 0, children=[deeper], page_numbers=[1])
    again = part("c", "Same", ["Same"], 2, page_numbers=[2])
    root = part("root", "", [], 0, children=[same, again])
    found = find_section(DocNav(document_id="d", file_name="f", title="", root=root), ["Same"])
    assert found is not None
    assert [chunk for one in sections(found) for chunk in one.chunk_ids] == ["a", "b", "c"]
    assert (found.page_numbers, found.total_chunk_count) == ([1, 2], 2)


async def test_the_chunks_of_a_section_come_page_by_page() -> None:
    world = await world_with("d")
    seen: list[str] = []
    asked: dict[str, Any] = {"path": ["Pump", "Care"], "chunks": 2}
    async with world.client(role="reader") as client:
        while asked.get("after", -1) is not None:
            page = (await client.get(f"{BASE}/documents/d/sections", params=asked)).json()
            seen += [c["chunk_id"] for c in page["chunks"]]
            asked["after"] = page["next_after"]
        chosen = await client.get(
            f"{BASE}/documents/d/sections", params={"chunks": 9, "chunk_id": ["t1", "img", "no"]}
        )
    assert seen == ["t2", "tab", "img"]
    assert [c["chunk_id"] for c in chosen.json()["chunks"]] == ["t1", "img"]


async def test_markdown_has_headings_tables_and_images_in_their_places() -> None:
    world = await world_with("d")
    async with world.client(role="reader") as client:
        whole = await client.get(f"{BASE}/documents/d/markdown")
        care = await client.get(
            f"{BASE}/documents/d/markdown", params={"path": ["Pump", "Care"], "limit": 20}
        )
        rest = care
        text = care.text
        while "link" in rest.headers:
            rest = await client.get(rest.headers["link"].split(">")[0][1:])
            text += rest.text
    assert whole.text == (
        "# Pump\n\nIntro of the pump.\n\n## Care\n\nGrease it.\n\n<table><tr></tr></table>\n\n"
        "Öl 5.5 bar (max) bar\n\n![A (red) valve]"
        "(/v1/namespaces/acme/documents/d/assets/images/a%20b.png?revision=1)\n\n"
    )
    assert whole.headers["content-type"] == "text/markdown; charset=utf-8"
    assert len(care.text) == 20
    assert text == whole.text[whole.text.index("## Care") :]


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ({"pattern": "bar"}, [("t2", 2, (57, 60))]),
        ({"pattern": "5.5 bar (max)"}, [("t2", 1, (53, 66))]),
        ({"pattern": "5x5", "syntax": "re2"}, []),
        ({"pattern": "INTRO", "ignore_case": True}, [("t1", 1, (0, 5))]),
        ({"pattern": "(?i)gr.ase|valve", "syntax": "re2"},
         [("t2", 1, (0, 6)), ("img", 1, (8, 13))]),
        ({"pattern": "e", "section_path": ["Pump", "Care"], "chunk_types": ["image"]},
         [("img", 2, (3, 4))]),
        ({"pattern": "z*", "syntax": "re2"}, []),
    ],
)  # fmt: skip
async def test_grep_finds_literals_and_patterns(
    asked: dict[str, Any], found: list[tuple[str, int, tuple[int, int]]]
) -> None:
    world = await world_with("d")
    async with world.client(role="reader") as client:
        answer = (await client.post(f"{BASE}/grep", json=asked)).json()
    hits = [
        (h["chunk_id"], h["match_count"], (h["matches"][0]["start"], h["matches"][0]["end"]))
        for h in answer["hits"]
    ]
    texts = {c.chunk_id: c.content for c in CHUNKS}
    assert [(c, n) for c, n, _ in hits] == [(c, n) for c, n, _ in found]
    for hit in answer["hits"]:
        for match in hit["matches"]:
            assert texts[hit["chunk_id"]][match["start"] : match["end"]] in match["excerpt"]
    assert (answer["stop_reason"], answer["next_cursor"]) == ("complete", None)


async def test_grep_goes_on_where_it_stopped_over_documents() -> None:
    world = await world_with("a", "b", "c")
    seen, cursor = [], None
    async with world.client(role="reader") as client:
        while True:
            body = {"pattern": "pump", "limit": 1, "cursor": cursor}
            answer = (await client.post(f"{BASE}/grep", json=body)).json()
            seen += [hit["document_id"] for hit in answer["hits"]]
            cursor = answer["next_cursor"]
            if cursor is None:
                break
        some = await client.post(
            f"{BASE}/grep", json={"pattern": "pump", "document_ids": ["c", "zz", "a"]}
        )
    assert seen == ["a", "b", "c"]
    assert [h["document_id"] for h in some.json()["hits"]] == ["a", "c"]


async def test_grep_pauses_over_matches_that_are_empty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grep, "MAX_PLACES", 20)
    world = await world_with("a", "b")
    reasons, hits, cursor = [], [], None
    async with world.client(role="reader") as client:
        while True:
            body = {"pattern": "[|]*", "syntax": "re2", "cursor": cursor}
            answer = (await client.post(f"{BASE}/grep", json=body)).json()
            reasons.append(answer["stop_reason"])
            hits += [(hit["document_id"], hit["chunk_id"]) for hit in answer["hits"]]
            cursor = answer["next_cursor"]
            if cursor is None:
                break
    assert hits == [("a", "tab"), ("b", "tab")]
    assert reasons[0] == "budget"
    assert reasons[-1] == "complete"


def cursor_of(*parts: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(parts).encode()).decode()


@pytest.mark.parametrize(
    "body",
    [
        {"pattern": "a", "cursor": cursor_of("\ud800", 1)},
        {"pattern": "a", "cursor": cursor_of("d\x00", 1)},
        {"pattern": "a", "cursor": cursor_of("d", 1.5)},
        {"pattern": "(a", "syntax": "re2"},
        {"pattern": "(?=a)b", "syntax": "re2"},
        {"pattern": "((a{1000}){1000}){1000}", "syntax": "re2"},
        {"pattern": ""},
        {"pattern": "x" * 1001},
        {"pattern": "a", "cursor": "nonsense"},
        {"pattern": "a", "cursor": "W1tdLDFd"},
        {"pattern": "a", "extra": 1},
    ],
)
async def test_a_bad_pattern_or_cursor_is_refused_in_words(body: dict[str, Any]) -> None:
    world = await world_with("d")
    async with world.client(role="reader") as client:
        answer = await client.post(f"{BASE}/grep", json=body)
    assert answer.status_code == 422
    assert answer.json()["code"] == "invalid_request"


async def test_a_page_picture_is_asked_of_the_parser_and_not_kept() -> None:
    world = await world_with("d")
    asked: list[PictureQuery] = []

    async def drawn(subject: Any, query: PictureQuery, *_: Any, **__: Any) -> PictureAnswer:
        asked.append(query)
        world.objects.data[query.target] = b"\x89PNG"
        return PictureAnswer(key=query.target, width=10, height=20)

    world.bus.request = drawn
    before = set(world.objects.data)
    async with world.client(role="reader") as client:
        url = f"{BASE}/documents/d/pages/2.png"
        first = await client.get(url, params={"boxes": "1,2,3,4;5,6,7,8", "width": 300})
        again = await client.get(
            url,
            params={"boxes": "1,2,3,4;5,6,7,8", "width": 300},
            headers={"If-None-Match": first.headers["etag"]},
        )
        for wrong in ("1,2,3", "a,b,c,d", "nan,0,1,1", "-1,0,1,1", "1,1,1,1;" * 201):
            assert (await client.get(url, params={"boxes": wrong})).status_code == 422
        assert (await client.get(f"{BASE}/documents/d/pages/0.png")).status_code == 404
    assert (first.status_code, first.content) == (200, b"\x89PNG")
    assert first.headers["content-type"] == "image/png"
    assert again.status_code == 304
    (query,) = asked
    assert (query.page, query.width, query.media, len(query.boxes)) == (2, 300, "pdf", 2)
    assert set(world.objects.data) == before


async def test_formats_without_pages_say_so() -> None:
    world = await world_with("d", format_="docx")
    async with world.client(role="reader") as client:
        answer = await client.get(f"{BASE}/documents/d/pages/1.png")
    assert answer.status_code == 422
    assert "docx" in json.loads(answer.content)["detail"]
