"""Refreshes of OpenSearch indices, shared by those who need one."""

import asyncio
from typing import TYPE_CHECKING

from libs.runtime.index.opensearch_client import WRITE_SECONDS, Address, faults

if TYPE_CHECKING:
    from opensearchpy import AsyncOpenSearch


class SharedRefresh:
    """Those who ask while a refresh runs share the next one."""

    def __init__(self, client: "AsyncOpenSearch", address: Address, alias: str) -> None:
        self._client = client
        self._address = address
        self._alias = alias
        self._running = asyncio.Lock()
        self._next: asyncio.Task[None] | None = None

    async def once(self) -> None:
        """Return after a refresh that began after this call."""
        if self._next is None:
            self._next = asyncio.create_task(self._turn())
        await asyncio.shield(self._next)

    async def _turn(self) -> None:
        async with self._running:
            self._next = None
            with faults(self._address):
                await self._client.indices.refresh(
                    index=self._alias, ignore_unavailable=True, request_timeout=WRITE_SECONDS
                )
