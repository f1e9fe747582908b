"""`groundwire mcp`: the agents' tools over stdio, for agents that start their servers."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import typer

from libs.client.cli.shared import MISUSED, PANEL, Target, say_error

if TYPE_CHECKING:
    from libs.client.asynchronous import AsyncClient


def mcp(context: typer.Context) -> None:
    """Serve the agents' tools (MCP) over standard input and output."""
    from libs.client.asynchronous import AsyncClient

    try:
        from libs.client.mcp.server import make_server
    except ModuleNotFoundError as error:
        say_error(f"{error.name} is not installed: install groundwire-client[mcp]")
        raise typer.Exit(MISUSED) from None

    target: Target = context.obj

    @asynccontextmanager
    async def connected(_headers: Mapping[str, str] | None) -> AsyncIterator["AsyncClient"]:
        async with AsyncClient(target.url, target.key, target.namespace) as opened:
            yield opened

    make_server(connected).run("stdio")


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(rich_help_panel=PANEL)(mcp)
