import asyncio
import os

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client


async def main() -> None:
    key = os.environ["GROUNDWIRE_API_KEY"]
    http = httpx2.AsyncClient(headers={"Authorization": f"Bearer {key}"}, timeout=60)
    address = os.environ["GROUNDWIRE_URL"] + "/mcp"
    async with http, Client(streamable_http_client(address, http_client=http)) as agent:
        print([tool.name for tool in (await agent.list_tools()).tools])
        found = await agent.call_tool("search", {"query": "start everything", "token_budget": 500})
        for piece in found.structured_content["evidence"]:
            print(piece["source_file_name"], piece["section_path"], piece["chunk_id"])


asyncio.run(main())
