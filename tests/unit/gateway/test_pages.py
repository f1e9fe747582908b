"""The web page, documentation and probes: nothing is fetched from elsewhere."""

import dataclasses
import re

from libs.contracts.faults import Code, Fault
from services.gateway.http.app import create_app
from tests.support.gateway_fakes import World, schema


async def test_pages_are_self_contained() -> None:
    world = World()
    async with world.client(role=None) as client:
        for path in ("/", "/docs"):
            page = await client.get(path)
            assert page.status_code == 200
            assert "<script>" not in page.text
            assert not re.search(r"\son\w+=|style=|javascript:", page.text)
            assert not re.findall(r"""(?:src|href)=["'](?:https?:)?//""", page.text)
            assert "default-src 'none'" in page.headers["content-security-policy"]
        docs = await client.get("/docs")
        served = (await client.get("/openapi.json")).json()
    for path in served["paths"]:
        assert path in docs.text, path


async def test_every_part_of_the_page_is_served_and_only_they_are() -> None:
    world = World()
    async with world.client(role=None) as client:
        page = (await client.get("/")).text
        parts = set(re.findall(r"/web/[a-z]+\.[a-z]+", page))
        seen: set[str] = set()
        while parts - seen:
            path = (parts - seen).pop()
            part = await client.get(path)
            assert part.status_code == 200, path
            assert part.headers["x-content-type-options"] == "nosniff"
            assert "script-src 'self'" in part.headers["content-security-policy"]
            assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", part.text), path
            assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|eval\(", part.text), path
            parts |= {f"/web/{name}" for name in re.findall(r'from "\./([a-z]+\.js)"', part.text)}
            seen.add(path)
        for name in ("index.html", "pages.py", "..%2fapp.py", "%2e%2e%2fsettings.py"):
            assert (await client.get(f"/web/{name}")).status_code == 404
    assert len(seen) >= 8


async def test_a_key_learns_whose_it_is() -> None:
    world = World()
    async with world.client("acme", "writer") as client:
        found = (await client.get("/v1/self")).json()
    assert (found["namespace"], found["role"]) == ("acme", "writer")


async def test_the_schema_says_who_may_call_what() -> None:
    operation = schema()["paths"]["/v1/namespaces/{ns}/documents"]["post"]
    assert operation["x-role"] == "writer"
    assert operation["security"] == [{"bearer": []}]
    assert "multipart/form-data" in operation["requestBody"]["content"]


async def test_probes() -> None:
    world = World()

    async def away() -> None:
        raise Fault(Code.STORE_AWAY, "the catalog is away")

    broken = dataclasses.replace(world.deps, checks={"catalog": away})
    async with world.client(role=None) as client:
        assert (await client.get("/healthz")).text == "ok\n"
        assert (await client.get("/readyz")).json()["ready"] is True
        assert "groundwire_http_requests_total" in (await client.get("/metrics")).text
    world.app = create_app(broken)
    async with world.client(role=None) as client:
        answer = await client.get("/readyz")
    assert answer.status_code == 503
    assert answer.json()["failed"] == {"catalog": "the catalog is away"}
