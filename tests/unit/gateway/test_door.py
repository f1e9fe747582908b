"""What any HTTP client may count on: HEAD, Allow, paging, plain metadata, answers that arrive."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from libs.runtime.probes import http_server
from services.gateway.http.linger import Linger
from services.gateway.http.receive import MAX_JSON_BYTES
from tests.support.gateway_fakes import World, schema
from tests.support.waiting import PATIENCE

DOCUMENTS = "/v1/namespaces/acme/documents"
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE")


def filled(path: str) -> str:
    for name in ("{ns}", "{document_id}", "{number}", "{path}", "{letter}"):
        path = path.replace(name, {"{ns}": "acme", "{number}": "1"}.get(name, "some-id"))
    return path.replace("{", "").replace("}", "")


async def test_head_answers_every_get_route_like_get_without_its_body() -> None:
    world = World()
    paths = [p for p, item in schema()["paths"].items() if "get" in item]
    assert len(paths) > 15
    async with world.client("acme", "admin") as client:
        await client.post(
            DOCUMENTS, files={"file": ("a.md", b"# a")}, data={"document_id": "some-id"}
        )
        for path in (*paths, "/", "/docs", "/openapi.json"):
            get = await client.get(filled(path))
            head = await client.head(filled(path))
            assert head.status_code == get.status_code, path
            assert head.headers["content-type"] == get.headers["content-type"], path
            if get.is_success:
                assert head.content == b"", path


async def test_head_of_a_running_jobs_events_ends_at_once() -> None:
    world = World()
    async with world.client("acme", "writer") as client:
        sent = await client.post(DOCUMENTS, files={"file": ("a.md", b"# a")})
        path = f"/v1/namespaces/acme/jobs/{sent.json()['job_id']}/events"
        async with asyncio.timeout(PATIENCE):
            head = await client.head(path)
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["content-type"].startswith("text/event-stream")


async def test_a_method_that_is_not_served_is_told_which_are() -> None:
    world = World()
    paths = schema()["paths"]
    async with world.client("acme", "admin") as client:
        for path, item in paths.items():
            served = {m.upper() for m in item if m.upper() in METHODS}
            served |= {"HEAD"} if "GET" in served else set()
            for method in set(METHODS) - served:
                answer = await client.request(method, filled(path))
                assert answer.status_code == 405, (method, path)
                assert answer.headers["allow"] == ", ".join(sorted(served)), (method, path)


def test_every_listing_can_be_paged() -> None:
    listings = {
        path: operation
        for path, item in schema()["paths"].items()
        for operation in item.values()
        for answer in [operation["responses"].get("200", {})]
        if "/schemas/Page_" in str(answer)
    }
    assert len(listings) >= 7
    for path, operation in listings.items():
        names = {parameter["name"] for parameter in operation["parameters"]}
        assert {"limit", "cursor"} <= names, path


async def pages(client: Any, path: str, **params: Any) -> list[list[Any]]:
    found, cursor = [], None
    while True:
        given = params | ({"cursor": cursor} if cursor else {})
        answer = (await client.get(path, params=given)).json()
        found.append(answer["items"])
        cursor = answer["next_cursor"]
        if cursor is None:
            return found


async def test_pages_of_namespaces_keys_and_usage_hold_each_item_once() -> None:
    world = World()

    async def active_set(_namespace: str) -> Any:
        class Nothing:
            revisions: list[Any] = []

        return Nothing

    world.documents.active_set = active_set  # type: ignore[attr-defined]
    async with world.client("root", "admin") as admin:
        for name in ("a", "b", "c", "d"):
            await admin.post("/v1/namespaces", json={"namespace": name})
            await admin.post("/v1/keys", json={"namespace": name, "role": "reader"})
        assert await pages(admin, "/v1/namespaces", limit=2) == [["a", "b"], ["c", "d"], ["root"]]
        usage = await pages(admin, "/v1/usage", limit=3)
        keys = await pages(admin, "/v1/keys", limit=2)
        unknown = await admin.get("/v1/keys", params={"cursor": "never-given"})
    assert [[u["namespace"] for u in page] for page in usage] == [["a", "b", "c"], ["d", "root"]]
    assert [[k["namespace"] for k in page] for page in keys] == [["root", "a"], ["b", "c"], ["d"]]
    assert unknown.status_code == 422


async def test_revisions_come_in_pages_newest_first() -> None:
    world = World()
    async with world.client("acme", "writer") as client:
        for body in (b"one", b"two", b"three"):
            await client.post(
                DOCUMENTS, files={"file": ("a.md", body)}, data={"document_id": "paper"}
            )
        found = await pages(client, f"{DOCUMENTS}/paper/revisions", limit=2)
    assert [[r["revision"] for r in page] for page in found] == [[3, 2], [1]]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("published_at", "yesterday"),
        ("published_at", "2024-02-30"),
        ("published_at", "2024-05-06T25:00:00Z"),
        ("published_at", "2024-05-06T07:08:09"),
        ("published_at", "20240506"),
        ("tags", ["fine", "nul\x00"]),
        ("tags", ["line\nend"]),
        ("country", "K\x1bR"),
        ("domain", "a\u2028b"),
        ("document_type", "\x7f"),
        ("language", "\x00"),
    ],
)
async def test_metadata_that_nothing_can_use_is_refused_at_both_doors(
    field: str, value: Any
) -> None:
    import orjson

    world = World()
    async with world.client("acme", "writer") as client:
        good = await client.post(
            DOCUMENTS, files={"file": ("a.md", b"# a")}, data={"document_id": "paper"}
        )
        sent = await client.post(
            DOCUMENTS,
            files={"file": ("b.md", b"# b")},
            data={"options": orjson.dumps({"metadata": {field: value}}).decode()},
        )
        patched = await client.patch(f"{DOCUMENTS}/paper", json={field: value})
    assert good.status_code == 202
    for answer in (sent, patched):
        assert answer.status_code == 422, answer.text
        assert field in answer.json()["detail"]


@pytest.mark.parametrize(
    "value",
    ["2024-05-06", "2024-05-06T07:08:09Z", "2024-05-06T07:08:09.25+09:00", "2024-05-06 07:08:09z"],
)
async def test_a_date_or_time_of_rfc_3339_is_taken_as_it_was_said(value: str) -> None:
    world = World()
    async with world.client("acme", "writer") as client:
        await client.post(
            DOCUMENTS, files={"file": ("a.md", b"# a")}, data={"document_id": "paper"}
        )
        answer = await client.patch(f"{DOCUMENTS}/paper", json={"published_at": value})
    assert answer.json()["metadata"]["published_at"] == value


async def test_a_keys_label_holds_no_control_characters() -> None:
    async with World().client("root", "admin") as admin:
        answer = await admin.post(
            "/v1/keys", json={"namespace": "root", "role": "reader", "label": "a\x1b[2J"}
        )
    assert answer.status_code == 422


@asynccontextmanager
async def served(world: World) -> AsyncIterator[int]:
    server, bound = http_server(world.app, "127.0.0.1", 0)
    running = asyncio.create_task(server.serve(sockets=[bound]))
    try:
        yield bound.getsockname()[1]
    finally:
        server.should_exit = True
        await running


async def send_all(port: int, head: list[str], body: bytes) -> bytes:
    """What a client sees that sends its whole body before it reads."""
    async with asyncio.timeout(PATIENCE):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        lines = ["Host: gateway", f"Content-Length: {len(body)}", *head[1:]]
        writer.write("\r\n".join([head[0], *lines, "", ""]).encode() + body)
        await writer.drain()
        answer = await reader.read()
        writer.close()
    return answer


@pytest.mark.parametrize(
    ("key", "headers", "status"),
    [
        (True, ["Content-Type: application/json"], b"413"),
        (True, ["Content-Type: text/plain"], b"415"),
        (False, ["Content-Type: application/json"], b"401"),
        (False, ["Content-Type: multipart/form-data; boundary=x"], b"401"),
    ],
)
async def test_an_answer_before_the_end_of_the_body_is_seen_by_its_client(
    key: bool, headers: list[str], status: bytes
) -> None:
    world = World()
    secret = world.keys.issue("acme", "writer")
    bearer = [f"Authorization: Bearer {secret}"] if key else []
    async with served(world) as port:
        answer = await send_all(
            port, [f"POST {DOCUMENTS} HTTP/1.1", *headers, *bearer], b" " * 5_000_000
        )
    assert answer.startswith(b"HTTP/1.1 " + status)
    assert b"connection: close" in answer.lower()
    assert b'"code":' in answer


async def test_a_client_that_waits_for_100_is_answered_without_being_told_to_go_on() -> None:
    world = World()
    async with served(world) as port, asyncio.timeout(PATIENCE):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(
            f"POST {DOCUMENTS} HTTP/1.1\r\nHost: gateway\r\nContent-Type: application/json\r\n"
            "Content-Length: 5000000\r\nExpect: 100-continue\r\n\r\n".encode()
        )
        answer = await reader.read()
        writer.close()
    assert answer.startswith(b"HTTP/1.1 401")


async def test_a_body_that_was_read_keeps_the_connection() -> None:
    world = World()
    secret = world.keys.issue("acme", "writer")
    async with served(world) as port, asyncio.timeout(PATIENCE):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for _ in range(2):
            writer.write(
                f"POST {DOCUMENTS} HTTP/1.1\r\nHost: gateway\r\nContent-Type: application/json\r\n"
                f"Authorization: Bearer {secret}\r\nContent-Length: 2\r\n\r\n{{}}".encode()
            )
            head = await reader.readuntil(b"\r\n\r\n")
            assert head.startswith(b"HTTP/1.1 422")
            assert b"connection: close" not in head.lower()
            size = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
            await reader.readexactly(size)
        writer.close()


async def test_a_body_without_end_is_not_read_for_ever() -> None:
    pieces = 0

    async def app(_scope: Any, _receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 413, "headers": []})
        await send({"type": "http.response.body", "body": b"no"})

    async def receive() -> dict[str, Any]:
        nonlocal pieces
        pieces += 1
        return {"type": "http.request", "body": b"x" * MAX_JSON_BYTES, "more_body": True}

    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {"type": "http", "headers": [(b"transfer-encoding", b"chunked")]}
    async with asyncio.timeout(PATIENCE):
        await Linger(app, seconds=0.05)(scope, receive, send)
    assert pieces > 1
    assert [m.get("more_body", False) for m in sent if m["type"].endswith("body")] == [True, False]
    assert (b"connection", b"close") in sent[0]["headers"]
