"""Reading what is stored: ranges, entity tags, and nothing that runs or escapes."""

import json

import pytest

from services.gateway.http.ranges import byte_range
from tests.support.gateway_fakes import World

BASE = "/v1/namespaces/acme/documents/d"
NAV = json.dumps({"schema_version": 1, "title": "T"}).encode()


async def published() -> World:
    world = World()
    async with world.client() as client:
        sent = await client.post(
            "/v1/namespaces/acme/documents",
            files={"file": ("<보고서>.html", b"<script>alert(1)</script>")},
            data={"document_id": "d"},
        )
    job = world.jobs.jobs[sent.json()["job_id"]]
    names = {
        "doc_nav.json": NAV,
        "assets/images/a.png": b"\x89PNG",
        "assets/images/b.svg": b"<svg onload=alert(1)/>",
        "assets/tables/t.html": b"<table></table>",
    }
    refs = {n: world.objects.ref(f"acme/d/1/{n}", data) for n, data in names.items()}
    world.documents.publish(job, refs, {"chunks": 3})
    world.objects.data["acme/d/1/secret.json"] = b"not in the revision"
    return world


async def test_artefacts_are_served_as_stored_with_tags() -> None:
    world = await published()
    async with world.client(role="reader") as client:
        first = await client.get(f"{BASE}/outline")
        again = await client.get(
            f"{BASE}/outline", headers={"If-None-Match": f'"other", W/{first.headers["etag"]}'}
        )
        missing = await client.get(f"{BASE}/manifest")
        older = await client.get(f"{BASE}/outline", params={"revision": 7})
    assert first.content == NAV
    assert first.headers["content-type"] == "application/json"
    assert (again.status_code, again.content) == (304, b"")
    assert (missing.status_code, older.status_code) == (404, 404)


async def test_a_range_of_the_source() -> None:
    world = await published()
    async with world.client(role="reader") as client:
        whole = await client.get(f"{BASE}/source")
        part = await client.get(f"{BASE}/source", headers={"Range": "bytes=8-13"})
        tail = await client.get(f"{BASE}/source", headers={"Range": "bytes=-9"})
        changed = await client.get(
            f"{BASE}/source", headers={"Range": "bytes=0-1", "If-Range": '"old"'}
        )
        outside = await client.get(f"{BASE}/source", headers={"Range": "bytes=900-"})
    assert (part.status_code, part.content) == (206, b"alert(")
    assert part.headers["content-range"] == f"bytes 8-13/{len(whole.content)}"
    assert (tail.status_code, tail.content) == (206, b"</script>")
    assert (changed.status_code, changed.content) == (200, whole.content)
    assert outside.status_code == 416


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("bytes=0-", (0, 10)),
        ("bytes=2-3", (2, 4)),
        ("bytes=5-99", (5, 10)),
        ("bytes=-3", (7, 10)),
        ("bytes=-99", (0, 10)),
        ("bytes=-", None),
        ("bytes=3-1", None),
        ("bytes=0-1,4-5", None),
        ("items=0-1", None),
        ("bytes=" + "9" * 40 + "-", None),
    ],
)
def test_byte_ranges(header: str, expected: tuple[int, int] | None) -> None:
    assert byte_range(header, 10) == expected


async def test_uploaded_markup_never_runs() -> None:
    world = await published()
    async with world.client(role="reader") as client:
        for path in ("source", "assets/images/b.svg", "assets/tables/t.html"):
            answer = await client.get(f"{BASE}/{path}")
            assert answer.status_code == 200, path
            assert answer.headers["content-disposition"].startswith("attachment"), path
            assert "sandbox" in answer.headers["content-security-policy"]
            assert answer.headers["x-content-type-options"] == "nosniff"
        image = await client.get(f"{BASE}/assets/images/a.png")
    assert image.headers["content-disposition"].startswith("inline")
    assert image.headers["content-type"] == "image/png"


async def test_file_names_cannot_break_out_of_their_header() -> None:
    world = await published()
    async with world.client(role="reader") as client:
        answer = await client.get(f"{BASE}/source")
    header = answer.headers["content-disposition"]
    assert "<" not in header
    assert "%EB%B3%B4" in header


@pytest.mark.parametrize(
    "path",
    [
        "assets/../secret.json",
        "assets/%2e%2e/secret.json",
        "assets/images/../../secret.json",
        "assets//etc/passwd",
        "assets/images/none.png",
        "assets/images/a.png%00",
    ],
)
async def test_no_path_leaves_the_revision(path: str) -> None:
    world = await published()
    async with world.client(role="reader") as client:
        answer = await client.get(f"{BASE}/{path}")
    assert answer.status_code == 404
    assert b"not in the revision" not in answer.content


async def test_a_hidden_document_is_gone_from_every_reading_route() -> None:
    world = await published()
    async with world.client() as client:
        deleted = await client.delete(BASE)
        receipt = await client.get(deleted.headers["location"])
        paths = ("", "/outline", "/source", "/assets/images/a.png", "/revisions")
        answers = [(await client.get(BASE + p)).status_code for p in paths]
    assert deleted.status_code == 202
    assert receipt.json()["state"] == "requested"
    assert answers == [404] * len(paths)
    assert world.bus.events[-1].job_id == deleted.json()["erasure_id"]


async def test_metadata_is_patched_field_by_field_and_revisions_are_activated() -> None:
    world = await published()
    async with world.client() as client:
        await client.patch(BASE, json={"year": 2024, "country": "KR"})
        cleared = await client.patch(BASE, json={"country": None})
        wrong = await client.patch(BASE, json={"year": "soon"})
        active = await client.post(f"{BASE}/revisions/1/activate")
        unknown = await client.post(f"{BASE}/revisions/2/activate")
        huge = await client.post(f"{BASE}/revisions/{10**30}/activate")
        listed = await client.get(f"{BASE}/revisions")
    assert (cleared.json()["metadata"]["year"], cleared.json()["metadata"]["country"]) == (
        2024,
        None,
    )
    assert (wrong.status_code, "year" in wrong.json()["detail"]) == (422, True)
    assert active.json()["active_revision"] == 1
    assert active.json()["counts"] == {"chunks": 3}
    assert (unknown.status_code, huge.status_code) == (404, 422)
    assert listed.json()["items"][0]["active"] is True
