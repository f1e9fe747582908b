"""One namespace against another: every route and every tool, with ids that are really there."""

import json
import re
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from tests.e2e.test_mcp import over_http
from tests.support.stack import Stack
from tests.support.waiting import wait_until

CANARY = "Quillonwick"
TEXT = f"# {CANARY} charter\n\nThe {CANARY} ferry leaves the northern pier at nine.\n"
THEIRS = "stranger"
PATIENT = {"milliseconds": 30_000}
OWNED = {"document_id", "job_id", "run_id", "erasure_id", "letter", "entry_id"}
"""Path parameters that name one thing of a namespace."""


@dataclass(frozen=True)
class Target:
    """What the namespace `default` has, the key of another namespace, and what routes and tools
    are asked with."""

    key: str
    ids: dict[str, str]
    bodies: dict[str, dict[str, Any]]
    arguments: dict[str, Any]


def posted(client: httpx.Client, path: str, body: Any) -> Any:
    answer = client.post(path, json=body)
    assert answer.status_code < 300, answer.text
    return answer.json()


def waited(client: httpx.Client, path: str) -> Any:
    """What is at a path, once it is there: runs are stored moments after their answer."""

    def found() -> httpx.Response | None:
        answer = client.get(path)
        return None if answer.status_code == 404 else answer

    return wait_until(found, what=path).json()


@pytest.fixture(scope="module")
def target(stack: Stack) -> Target:
    sent = stack.ingest("charter.md", TEXT.encode(), document_id="charter")
    goner = stack.ingest("goner.md", b"# Goner\n\nSoon gone.\n", document_id="goner")
    found = stack.search(f"{CANARY} ferry", budget=PATIENT)
    assert CANARY in found["evidence_text"]
    piece = found["evidence"][0]
    entries = f"id,name\nferry,{CANARY} ferry\n".encode()
    with stack.client() as client:
        answer = client.post(
            f"{stack.base}/collections/charters/entries", files={"file": ("e.csv", entries)}
        )
        assert stack.wait(answer.json()["job_id"])["state"] == "published"
        waited(client, f"{stack.base}/runs/{found['run_id']}")
        erased = client.delete(f"{stack.base}/documents/{goner['document_id']}").json()
        link = posted(client, f"{stack.base}/uploads", {"file_name": "late.md", "size": 4})
        assert client.put(link["url"], content=b"late").status_code == 204
        posted(client, "/v1/namespaces", {"namespace": THEIRS})
        key = posted(client, "/v1/keys", {"namespace": THEIRS, "role": "operator"})
        own = client.get("/v1/self").json()["key_id"]
    citation = {name: piece[name] for name in ("document_id", "chunk_id", "content_hash")}
    upload = {"upload_id": link["upload_id"]}
    asked = {"query": f"{CANARY} ferry"}
    return Target(
        key["secret"],
        {
            "document_id": "charter", "number": str(sent["revision"]), "job_id": sent["job_id"],
            "run_id": found["run_id"], "erasure_id": erased["erasure_id"], "page": "1",
            "collection": "charters", "entry_id": "ferry", "path": "assets/x.png",
            "key_id": own, "letter": "dead-0000", "stage": "parser", "namespace": "default",
        },
        {
            "search": {**asked, "filters": {"document_ids": ["charter"]}},
            "verify": {**citation, "revision": piece["revision"], "quote": CANARY},
            "grep": {"pattern": CANARY},
            "documents": upload,
            "documents/{document_id}": {"year": 1066},
            "documents/{document_id}/reprocess": {},
            "collections/{collection}/entries": upload,
            "collections/{collection}/queries": upload,
            "collections/{collection}/search": asked,
            "collections/{collection}": {},
            "uploads": {"file_name": "a.md", "size": 1},
            "/v1/namespaces": {"namespace": "taken"},
            "/v1/keys": {"namespace": "default", "role": "admin"},
        },
        {
            "query": f"{CANARY} ferry", "pattern": CANARY, "document_ids": ["charter"],
            "continue_run": found["run_id"], "collections": ["charters"], "job_id": sent["job_id"],
            "collection": "charters", "chunk_ids": [piece["chunk_id"]], "quote": CANARY,
            "revision": piece["revision"], "wait_seconds": 0, "file_name": "a.md",
            "url": f"{stack.url}{stack.base}/documents/charter/source", **citation,
        },
    )  # fmt: skip


def operations(stack: Stack) -> list[tuple[str, str, dict[str, Any]]]:
    """(method, path, operation) of every route that asks for a key."""
    with stack.client() as client:
        told = client.get("/openapi.json").json()
    schemas = told["components"]["schemas"]
    return [
        (method.upper(), path, {**operation, "schemas": schemas})
        for path, item in told["paths"].items()
        for method, operation in item.items()
        if operation["x-role"] != "public"
    ]


def body_for(target: Target, path: str, operation: dict[str, Any]) -> dict[str, Any] | None:
    if "requestBody" not in operation:
        return None
    short = path.removeprefix("/v1/namespaces/{ns}/")
    if short in target.bodies:
        return target.bodies[short]
    content = operation["requestBody"]["content"].get("application/json", {})
    return guessed(target, content.get("schema", {}), operation["schemas"])


def guessed(target: Target, schema: dict[str, Any], schemas: dict[str, Any]) -> dict[str, Any]:
    """What must be said, out of what is known of the other namespace."""
    schema = schemas.get(schema.get("$ref", "").rpartition("/")[2], schema)
    kinds = {"string": CANARY, "integer": 1, "number": 1, "boolean": True, "array": [CANARY]}
    known = {**target.ids, **target.arguments}
    return {
        name: known.get(name, kinds.get(schema["properties"][name].get("type"), {}))
        for name in schema.get("required", [])
    }


def filled(target: Target, path: str, namespace: str) -> str:
    given = {**target.ids, "ns": namespace}
    return re.sub(r"\{(\w+)(?::\w+)?\}", lambda found: given[found[1]], path)


@pytest.mark.parametrize("namespace", ["default", THEIRS])
def test_no_route_shows_or_changes_what_another_namespace_has(
    stack: Stack, target: Target, namespace: str
) -> None:
    """Asked for the other's namespace, and for the other's ids within the own one."""
    asked = 0
    with stack.client(target.key) as client:
        for method, path, operation in operations(stack):
            body = body_for(target, path, operation)
            answer = client.request(method, filled(target, path, namespace), json=body)
            told = (method, path, answer.status_code, answer.text[:500])
            asked += 1
            owned = set(re.findall(r"\{(\w+)", path)) & OWNED
            assert CANARY not in answer.text, told
            assert answer.status_code < 500, told
            if operation["x-role"] == "admin":
                assert answer.status_code == 403, told
            elif owned or (namespace == "default" and "{ns}" in path):
                assert answer.status_code == 404, told
    assert asked > 40
    unharmed(stack, target)


def unharmed(stack: Stack, target: Target) -> None:
    """What the namespace had is there as it was."""
    with stack.client() as client:
        document = client.get(f"{stack.base}/documents/charter").json()
        assert (document["state"], document["metadata"].get("year")) == ("active", None)
        assert str(document["active_revision"]) == target.ids["number"]
        assert client.get("/v1/self").json()["role"] == "admin"
        assert client.get("/v1/pauses").json() == {"stages": [], "namespaces": {}}
        found = posted(
            client, f"{stack.base}/collections/charters/search", {"query": f"{CANARY} ferry"}
        )
        assert [entry["id"] for entry in found["entries"]] == ["ferry"]
        assert "taken" not in client.get("/v1/namespaces").json()["items"]
    assert CANARY in stack.search(f"northern pier {CANARY}", budget=PATIENT)["evidence_text"]


async def test_no_tool_shows_what_another_namespace_has(stack: Stack, target: Target) -> None:
    async with over_http(stack, target.key) as client:
        tools = (await client.list_tools()).tools
        assert len(tools) >= 8
        for tool in tools:
            schema = tool.input_schema
            given = guessed(target, schema, {})
            given |= {n: v for n, v in target.arguments.items() if n in schema["properties"]}
            for left_out in (set(), set(given) - set(schema.get("required", []))):
                chosen = {name: value for name, value in given.items() if name not in left_out}
                result = await client.call_tool(tool.name, chosen)
                shown = json.dumps(result.structured_content or {})
                if result.is_error:
                    shown = " ".join(getattr(part, "text", "") for part in result.content)
                assert CANARY not in shown.replace(json.dumps(chosen.get("query")), ""), (
                    tool.name, chosen, shown,
                )  # fmt: skip
    unharmed(stack, target)
