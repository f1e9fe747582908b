"""Search over the bus, runs, verification, and bodies that are too much."""

from types import SimpleNamespace
from typing import Any

import pytest

from libs.contracts.api.search import PlanQuery, SearchResponse
from libs.contracts.faults import Code, WorldFault
from libs.contracts.subjects import QUERY_PLAN
from libs.runtime.catalog.runs import RunRecord
from services.gateway.http.body import depth_of
from tests.support.fences import cpu_fence
from tests.support.gateway_fakes import World, now

SPACE = "/v1/namespaces/acme"


@pytest.fixture
def world() -> World:
    world = World()

    def answer(query: PlanQuery) -> SearchResponse:
        world.asked = query  # type: ignore[attr-defined]
        return SearchResponse(run_id="run-1", corpus_version=7)

    world.bus.answers[QUERY_PLAN.pattern] = answer
    return world


async def test_a_query_goes_to_the_planner_with_its_namespace_and_key(world: World) -> None:
    async with world.client(role="reader") as client:
        answer = await client.post(f"{SPACE}/search", json={"query": "요금", "continue": "run-0"})
    assert answer.status_code == 200, answer.text
    body = answer.json()
    assert (body["run_id"], body["corpus_version"], body["answer_text"]) == ("run-1", 7, "")
    query: Any = world.asked  # type: ignore[attr-defined]
    assert (query.namespace, query.request.query, query.request.continue_) == (
        "acme",
        "요금",
        "run-0",
    )
    assert query.key_id in world.keys.records


@pytest.mark.parametrize(
    ("fault", "status"),
    [
        (WorldFault(Code.BUS_AWAY, "no service answers query.plan", retry_after=2.0), 503),
        (WorldFault(Code.OVERLOADED, "the planner is full", retry_after=1.0), 503),
        (WorldFault(Code.TIMEOUT, "query.plan did not answer within 5 s"), 503),
    ],
)
async def test_a_planner_that_is_away_is_the_world(
    world: World, fault: WorldFault, status: int
) -> None:
    world.bus.away = fault
    async with world.client(role="reader") as client:
        answer = await client.post(f"{SPACE}/search", json={"query": "x"})
    assert answer.status_code == status
    assert answer.json()["who"] == "world"
    assert "retry-after" in answer.headers
    assert answer.json()["code"] != "timeout"


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        (b'{"query": "' + b"x" * (1 << 20) + b'"}', 413, "bytes"),
        (b'{"query": "x", "filters": ' + b"[" * 5000 + b"]" * 5000 + b"}", 422, "deep"),
        (b'{"query": ', 422, "JSON"),
        (b'{"query": "\xff"}', 422, "JSON"),
        (b'{"query": "x", "top_k": 0}', 422, "top_k"),
        (b'{"query": "x", "tpo_k": 1}', 422, "tpo_k"),
        (b'{"query": ""}', 422, "query"),
        (b'{"query": "a\\u0000b"}', 422, "query"),
        (b'{"query": "a\\u009bb"}', 422, "query"),
        (b'{"query": "a\\u007fb"}', 422, "query"),
        (b'{"query": "\\ud800"}', 422, "JSON"),
        (b'{"query": " \\n "}', 422, "query"),
        (b'{"query": "' + b"x" * 4097 + b'"}', 422, "query"),
        (b'{"query": 5}', 422, "query"),
        (b'{"query": ["x"]}', 422, "query"),
        (b'{"query": "x", "top_k": "5"}', 422, "top_k"),
        (b'{"query": "x", "top_k": true}', 422, "top_k"),
        (b'{"query": "x", "explain": 1}', 422, "explain"),
        (b'{"query": "x", "budget": {"tokens": "many"}}', 422, "budget.tokens"),
        (b'{"query": "x", "budget": null}', 422, "budget"),
        (b'{"query": "x", "filters": {"yaer": 2022}}', 422, "filters.yaer"),
        (b'{"query": "x", "filters": {"year": "2022"}}', 422, "filters.year"),
        (b'{"query": "x", "conversation": [{"role": "system", "text": "x"}]}', 422, "role"),
        (b"", 422, "body"),
        (b'"text"', 422, "body"),
    ],
)
async def test_bad_bodies_are_problems(world: World, body: bytes, status: int, words: str) -> None:
    async with world.client(role="reader") as client:
        answer = await client.post(
            f"{SPACE}/search", content=body, headers={"Content-Type": "application/json"}
        )
    assert answer.status_code == status
    assert words in answer.json()["detail"]
    assert len(answer.content) < 2000


async def test_another_media_type_is_refused(world: World) -> None:
    async with world.client(role="reader") as client:
        answer = await client.post(f"{SPACE}/search", data={"query": "x"})
    assert answer.status_code == 415


def test_depth_ignores_brackets_in_strings() -> None:
    assert depth_of(b'{"a": "[[[[\\"[[["}') == 1
    assert depth_of(b"[[1], {}]") == 2
    assert depth_of(b'{"a": "b\\\\"}[]{[[') == 3
    assert depth_of(b"") == 0


@pytest.mark.parametrize(
    "bomb",
    [
        b"[" * (1 << 20), b"[]" * (1 << 19), b'"' * (1 << 20), b'{"query": "' + b'\\"' * (1 << 19),
        b'"' + b'\\"' * (1 << 19) + b"\\", b'"\\' * (1 << 19), b"\\" * (1 << 20),
    ],
)  # fmt: skip
def test_a_body_made_to_cost_time_is_looked_through_once(bomb: bytes) -> None:
    with cpu_fence():
        depth_of(bomb)


async def test_a_run_and_its_trace_are_shown_to_their_own_key_alone(world: World) -> None:
    async with world.client(role="reader") as mine, world.client(role="admin") as other:
        key_id = next(iter(world.keys.records))
        run = RunRecord(
            "run-1", "acme", key_id, "classic", "ok", False, 7, 3.5, None, [{"kind": "retrieve"}],
            {"schema_version": 1, "query_rewrite": {"original_query": "the secret"}}, now(),
        )  # fmt: skip

        async def get(namespace: str, run_id: str) -> RunRecord | None:
            return run if (namespace, run_id) == ("acme", "run-1") else None

        world.runs.get = get
        shown = await mine.get(f"{SPACE}/runs/run-1")
        trace = await mine.get(f"{SPACE}/runs/run-1/trace")
        redacted = await mine.get(f"{SPACE}/runs/run-1/trace", params={"redact": "all"})
        unknown = await mine.get(f"{SPACE}/runs/run-1/trace", params={"redact": "some"})
        foreign = [
            (await other.get(f"{SPACE}/runs/run-1{p}")).status_code
            for p in ("", "/trace", "/trace?redact=all")
        ]
    assert shown.json()["steps"] == [{"kind": "retrieve"}]
    assert trace.json()["query_rewrite"] == {"original_query": "the secret"}
    assert redacted.json() == {
        "schema_version": 1,
        "query_rewrite": {"original_query": "<redacted>"},
    }
    assert (unknown.status_code, unknown.json()["code"]) == (422, "invalid_request")
    assert foreign == [404, 404, 404]


async def test_verify_asks_the_catalog(world: World) -> None:
    async with world.client() as client:
        sent = await client.post(
            f"{SPACE}/documents", files={"file": ("a.md", b"x")}, data={"document_id": "d"}
        )
        world.documents.publish(world.jobs.jobs[sent.json()["job_id"]], {}, {})

        async def find(revn: int, chunk_id: str) -> Any:
            metadata = SimpleNamespace(content_hash="h")
            return SimpleNamespace(metadata=metadata, content="the text") if revn == 1 else None

        world.chunks.find = find
        ask = {"document_id": "d", "revision": 1, "chunk_id": "t", "content_hash": "h"}
        good = await client.post(f"{SPACE}/verify", json={**ask, "quote": "the text"})
        bad = await client.post(f"{SPACE}/verify", json={**ask, "quote": "other"})
        unknown = await client.post(f"{SPACE}/verify", json={**ask, "document_id": "e"})
    assert good.json()["status"] == "verified"
    assert bad.json()["status"] == "mismatch"
    assert unknown.status_code == 404
