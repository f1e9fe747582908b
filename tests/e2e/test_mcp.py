"""An agent's whole task with the official client: over HTTP and over stdio."""

import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from tests.support.stack import KEY, Stack

TOOLS = {
    "search", "list_documents", "get_outline", "read_chunks", "grep_chunks", "ingest_url_or_file",
    "get_job_status", "verify_citation",
}  # fmt: skip
TEXT = (
    "# Boiler\n\n## Limits\n\nThe relief valve opens at 11.5 bar.\n\n## Care\n\nFlush it in May.\n"
)


@asynccontextmanager
async def over_http(stack: Stack, key: str = KEY) -> AsyncIterator[Client]:
    headers = {"Authorization": f"Bearer {key}"}
    url = f"http://127.0.0.1:{stack.port}/mcp"
    async with httpx2.AsyncClient(headers=headers, timeout=60) as http:
        async with Client(streamable_http_client(url, http_client=http)) as client:
            yield client


@asynccontextmanager
async def over_stdio(stack: Stack, key: str = KEY) -> AsyncIterator[Client]:
    address = f"http://127.0.0.1:{stack.port}"
    arguments = ["-m", "libs.client.cli.app", "--url", address, "--key", key, "mcp"]
    async with Client(StdioServerParameters(command=sys.executable, args=arguments)) as client:
        yield client


async def used(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    structured = result.structured_content
    assert structured == json.loads(result.content[0].text)  # type: ignore[union-attr]
    assert structured is not None
    return structured


@pytest.mark.parametrize("way", [over_http, over_stdio])
async def test_an_agent_adds_finds_reads_and_verifies(stack: Stack, way: Any) -> None:
    name = f"boiler-{way.__name__}"
    async with way(stack) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert set(tools) == TOOLS
        assert all("." in (tool.description or "") for tool in tools.values())
        assert all(tool.input_schema["additionalProperties"] is False for tool in tools.values())

        sent = await used(
            client, "ingest_url_or_file", file_name=f"{name}.md", text=TEXT, document_id=name
        )
        job = await used(client, "get_job_status", job_id=sent["job_id"], wait_seconds=25)
        assert job["state"] == "published", job
        listed = await used(client, "list_documents", limit=50)
        assert name in [document["document_id"] for document in listed["documents"]]
        outline = await used(client, "get_outline", document_id=name)
        assert [s["title"] for s in outline["sections"][0]["sections"]] == ["Limits", "Care"]

        hits = await used(client, "grep_chunks", pattern=r"11\.5 *bar", regex=True,
                          document_ids=[name])  # fmt: skip
        (hit,) = hits["hits"]
        read = await used(client, "read_chunks", document_id=name, path=hit["section_path"])
        assert read["chunks"][0]["content"] == "The relief valve opens at 11.5 bar."
        known = read["chunks"][0]["chunk_id"]
        some = await used(client, "read_chunks", document_id=name, chunk_ids=[known, "t0"])
        assert [chunk["chunk_id"] for chunk in some["chunks"]] == [known]
        assert some["not_found"] == ["t0"]
        found = await used(client, "search", query="relief valve", document_ids=[name],
                           token_budget=500)  # fmt: skip
        piece = found["evidence"][0]
        assert piece["section_path"] == hit["section_path"]
        assert piece["page_numbers"] == []
        others = piece.keys() - {"section_path", "page_numbers"}
        assert all(piece[key] not in (None, "", [], {}) for key in others)
        assert piece["chunk_id"] == hit["chunk_id"]
        citation = {key: piece[key] for key in
                    ("document_id", "revision", "chunk_id", "content_hash")}  # fmt: skip
        verdict = await used(client, "verify_citation", **citation, quote="opens at 11.5 bar")
        assert verdict["status"] == "verified"
        tight = await used(client, "search", query="relief valve; flush in May", top_k=5,
                           document_ids=[name], token_budget=12)  # fmt: skip
        assert tight["status"] == "partial"
        assert "give it more (token_budget)" in tight["status_reason"]
        wrong = await used(client, "verify_citation", **citation, quote="opens at 12 bar")
        assert wrong["status"] == "mismatch"


@pytest.mark.parametrize(
    ("tool", "arguments", "taught"),
    [
        ("search", {"query": ""}, "query"),
        ("search", {}, "query"),
        ("get_outline", {"document_id": "nowhere"}, "not_found"),
        ("get_outline", {"document_id": "nowhere"}, "list_documents and search give document ids"),
        ("read_chunks", {"document_id": "nowhere", "path": ["Limits"]}, "call get_outline"),
        (
            "read_chunks",
            {"document_id": "a", "path": "Limits"},
            "path: Input should be a valid list",
        ),
        (
            "search",
            {"query": "a", "documents": ["b"]},
            "search has no argument documents; it takes",
        ),
        ("search", {"query": "a", "continue_run": "run-1"}, "give mode agentic with it"),
        ("find", {}, "no tool is called find; there are search, list_documents"),
        ("grep_chunks", {"pattern": "(a", "regex": True}, "RE2"),
        ("ingest_url_or_file", {"file_name": "a.md"}, "exactly one"),
        ("ingest_url_or_file", {"file_name": "a.md", "content_base64": "%"}, "base64"),
        ("ingest_url_or_file", {"file_name": "a", "url": "http://127.0.0.1/a"}, "allow"),
    ],
)
async def test_errors_teach(
    stack: Stack, tool: str, arguments: dict[str, Any], taught: str
) -> None:
    async with over_http(stack) as client:
        result = await client.call_tool(tool, arguments)
    assert result.is_error
    assert taught in result.content[0].text  # type: ignore[union-attr]


async def test_a_stranger_gets_no_tool(stack: Stack) -> None:
    async with httpx2.AsyncClient() as http:
        answer = await http.post(f"http://127.0.0.1:{stack.port}/mcp", json={})
    assert answer.status_code == 401
    assert answer.json()["code"] == "unauthenticated"
