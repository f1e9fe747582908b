"""Upload links."""

import httpx
import pytest

from services.gateway.secret import install_secret
from services.gateway.upload_links import Link, open_link, sign_link
from tests.support.gateway_fakes import World

SPACE = "/v1/namespaces/acme"


async def make(client: httpx.AsyncClient, size: int) -> dict[str, str]:
    answer = await client.post(
        f"{SPACE}/uploads", json={"file_name": "a.md", "size": size, "media_type": "text/markdown"}
    )
    assert answer.status_code == 201, answer.text
    body: dict[str, str] = answer.json()
    return body


async def test_a_file_goes_by_link_and_becomes_a_document() -> None:
    world = World()
    async with world.client() as client, world.client(role=None) as stranger:
        link = await make(client, 5)
        early = await client.post(f"{SPACE}/documents", json={"upload_id": link["upload_id"]})
        put = await stranger.put(link["url"], content=b"hello")
        body = {"upload_id": link["upload_id"], "document_id": "d"}
        sent = await client.post(f"{SPACE}/documents", json=body)
        again = await client.post(f"{SPACE}/documents", json=body)
    assert early.status_code == 404
    assert put.status_code == 204
    assert sent.status_code == 202, sent.text
    assert again.json()["job_id"] == sent.json()["job_id"]
    [event] = world.bus.events
    assert (event.file_name, event.media_type) == ("a.md", "text/markdown")  # type: ignore[attr-defined]
    assert list(world.objects.data.values()) == [b"hello"]


@pytest.mark.parametrize(("data", "status"), [(b"hell", 422), (b"hello!", 413)])
async def test_the_announced_size_binds(data: bytes, status: int) -> None:
    world = World()
    async with world.client() as client:
        link = await make(client, 5)
        answer = await client.put(link["url"], content=data)
    assert answer.status_code == status
    assert world.objects.data == {}


async def test_forged_foreign_and_expired_links_are_not_found() -> None:
    world = World()
    await world.keys.create_namespace("other")
    async with world.client() as client, world.client("other") as other:
        link = await make(client, 5)
        await client.put(link["url"], content=b"hello")
        forged = await client.put(link["url"][:-2] + "xx", content=b"hello")
        junk = await client.put("/v1/uploads/junk", content=b"hello")
        foreign = await other.post(
            "/v1/namespaces/other/documents", json={"upload_id": link["upload_id"]}
        )
        token = sign_link(
            b"s3cret",
            Link(namespace="acme", upload_id="upl-1", file_name="a", size=1, expires_at=1.0),
        )
        expired = await client.put(f"/v1/uploads/{token}", content=b"x")
    answers = (forged, junk, foreign, expired)
    assert [a.status_code for a in answers] == [404, 404, 404, 404]


async def test_a_file_over_the_limit_gets_no_link() -> None:
    world = World(max_upload_bytes=10)
    async with world.client() as client:
        answer = await client.post(f"{SPACE}/uploads", json={"file_name": "a", "size": 11})
    assert answer.status_code == 413


def test_tokens_survive_and_tampering_does_not() -> None:
    link = Link(namespace="acme", upload_id="u", file_name="보고서.pdf", size=3, expires_at=9.5)
    token = sign_link(b"k", link)
    assert open_link(b"k", token) == link
    assert open_link(b"other", token) is None
    for bad in ("", ".", "a.b", "é.b", token + "x", "x" + token):
        assert open_link(b"k", bad) is None


def test_the_secret_is_made_once_and_for_its_owner_only(tmp_path: object) -> None:
    from pathlib import Path

    folder = Path(str(tmp_path)) / "data"
    first = install_secret(folder)
    assert len(first) == 32
    assert install_secret(folder) == first
    [file] = folder.iterdir()
    assert file.stat().st_mode & 0o077 == 0
