"""Keys, roles, isolation and problem documents on every route."""

import re

import httpx
import pytest
import structlog

from tests.support.gateway_fakes import World, schema

VALUES = {"ns": "acme", "number": "1", "path": "assets/x.png"}
UNGUARDED = {"/healthz", "/readyz", "/metrics", "/openapi.json", "/docs", "/"}


def routes() -> list[tuple[str, str, str]]:
    """(method, path, role) of every operation in the schema."""
    return [
        (method.upper(), path, operation["x-role"])
        for path, item in schema()["paths"].items()
        for method, operation in item.items()
    ]


def fill(path: str, **values: str) -> str:
    return re.sub(r"\{(\w+)(?::\w+)?\}", lambda m: {**VALUES, **values}.get(m[1], "some-id"), path)


async def ask(client: httpx.AsyncClient, method: str, path: str) -> httpx.Response:
    return await client.request(
        method, path, content=b"{not json", headers={"Content-Type": "application/json"}
    )


async def test_without_a_key_every_guarded_route_answers_401() -> None:
    world = World()
    guarded = [(m, p) for m, p, role in routes() if role != "public"]
    assert len(guarded) > 10
    async with world.client(role=None) as client:
        for method, path in guarded:
            answer = await ask(client, method, fill(path))
            assert answer.status_code == 401, (method, path)
            assert answer.json()["code"] == "unauthenticated"
            assert answer.headers["www-authenticate"] == "Bearer"


async def test_a_foreign_key_finds_nothing_on_every_namespaced_route() -> None:
    world = World()
    await world.keys.create_namespace("acme")
    async with world.client("other", "operator") as client:
        for method, path, role in routes():
            if role == "public":
                continue
            answer = await ask(client, method, fill(path))
            if "{ns}" in path:
                assert answer.status_code == 404, (method, path, answer.text)
                assert answer.json()["code"] == "not_found"
            else:
                own = method == "GET" and path in {"/v1/dead-letters", "/v1/self", "/v1/audit"}
                assert answer.status_code == (200 if own else 403 if role == "admin" else 404)


async def test_foreign_ids_inside_the_own_namespace_are_not_found() -> None:
    world = World()
    await world.keys.create_namespace("acme")
    async with world.client("other", "writer") as sender:
        sent = await sender.post(
            "/v1/namespaces/other/documents",
            files={"file": ("a.md", b"x")},
            data={"document_id": "theirs"},
        )
    job_id = sent.json()["job_id"]
    async with world.client("acme", "operator") as client:
        for path in (f"jobs/{job_id}", f"jobs/{job_id}/events", "documents/theirs"):
            answer = await client.get(f"/v1/namespaces/acme/{path}")
            assert answer.status_code == 404, path
        cancel = await client.post(f"/v1/namespaces/acme/jobs/{job_id}/cancel")
        delete = await client.delete("/v1/namespaces/acme/documents/theirs")
    assert (cancel.status_code, delete.status_code) == (404, 404)
    assert world.jobs.jobs[job_id].cancel_requested is False


async def test_only_public_routes_are_unguarded() -> None:
    public = {p for _, p, role in routes() if role == "public"}
    assert public <= UNGUARDED | {"/v1/uploads/{token}"}


async def test_a_role_that_is_too_low_is_forbidden() -> None:
    world = World()
    async with world.client("acme", "reader") as client:
        answer = await client.post("/v1/namespaces/acme/documents", files={"file": ("a.md", b"x")})
    assert answer.status_code == 403
    assert "writer" in answer.json()["detail"]


async def test_admin_spans_namespaces_that_exist() -> None:
    world = World()
    await world.keys.create_namespace("acme")
    async with world.client("root", "admin") as client:
        known = await client.get("/v1/namespaces/acme/documents")
        unknown = await client.get("/v1/namespaces/nowhere/documents")
    assert (known.status_code, unknown.status_code) == (200, 404)


async def test_a_revoked_key_stops_working_within_seconds() -> None:
    world = World()
    moment = [0.0]

    class Clock:
        @staticmethod
        def timestamp() -> float:
            return moment[0]

    world.app.state.gate._clock = Clock
    async with world.client("acme", "reader") as client:
        assert (await client.get("/v1/namespaces/acme/jobs")).status_code == 200
        [key] = world.keys.records
        await world.keys.revoke(key)
        moment[0] = 5.0
        assert (await client.get("/v1/namespaces/acme/jobs")).status_code == 401


@pytest.mark.parametrize(
    "header", ["", "Bearer ", "Basic abc", "Bearer wrong", "Bearer " + "x" * 9999]
)
async def test_bad_credentials_are_401(header: str) -> None:
    world = World()
    async with world.client(role=None) as client:
        answer = await client.get("/v1/namespaces/acme/jobs", headers={"Authorization": header})
    assert answer.status_code == 401
    assert "x" * 50 not in answer.text


async def test_unknown_paths_and_methods_are_problems() -> None:
    world = World()
    async with world.client() as client:
        missing = await client.get("/v2/nothing")
        wrong = await client.put("/v1/namespaces/acme/jobs")
    assert (missing.status_code, missing.json()["code"]) == (404, "not_found")
    assert (wrong.status_code, wrong.json()["code"]) == (405, "invalid_request")
    assert wrong.headers["allow"]
    for answer in (missing, wrong):
        assert answer.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "DELETE"])
async def test_the_tools_are_asked_by_post_alone_so_that_no_stream_stays_open(method: str) -> None:
    async with World().client() as client:
        answer = await client.request(method, "/mcp", headers={"accept": "text/event-stream"})
    assert (answer.status_code, answer.headers["allow"]) == (405, "POST")


async def test_validation_names_the_field_and_never_echoes_what_was_sent() -> None:
    world = World()
    secret = "zebra" * 100
    async with world.client() as client:
        answer = await client.get("/v1/namespaces/acme/jobs", params={"limit": secret})
    assert answer.status_code == 422
    assert answer.json()["code"] == "invalid_request"
    assert "limit" in answer.json()["detail"]
    assert "zebra" not in answer.text


async def test_our_bug_answers_500_without_internals(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World()

    async def broken(*_args: object, **_kwargs: object) -> None:
        raise RuntimeError("secret detail of a table")

    monkeypatch.setattr(world.jobs, "select", broken)
    with structlog.testing.capture_logs() as logs:
        async with world.client() as client:
            answer = await client.get("/v1/namespaces/acme/jobs")
    assert [line["error"] for line in logs if line["log_level"] == "error"] == ["RuntimeError"]
    assert answer.status_code == 500
    assert answer.json()["code"] == "internal"
    assert answer.json()["who"] == "us"
    assert "secret detail" not in answer.text


async def test_traceparent_is_accepted_returned_and_in_problems() -> None:
    world = World()
    trace = "4bf92f3577b34da6a3ce929d0e0e4736"
    async with world.client() as client:
        answer = await client.get(
            "/v1/namespaces/acme/jobs/none",
            headers={"traceparent": f"00-{trace}-00f067aa0ba902b7-01"},
        )
    assert answer.headers["traceparent"].split("-")[1] == trace
    assert answer.json()["trace_id"] == trace
