"""What both clients do alike around one request."""

import contextlib
from collections.abc import Iterator
from typing import Any

import httpx

from libs.client.calls import Call
from libs.client.connection import Connection
from libs.client.errors import Unreachable

CONNECT_SECONDS = 5.0


def headers_for(connection: Connection) -> dict[str, str]:
    """Headers of every request."""
    headers = {"Accept": "application/json", "User-Agent": "groundwire-client"}
    if connection.key:
        headers["Authorization"] = f"Bearer {connection.key}"
    return headers


def timeouts(seconds: float) -> httpx.Timeout:
    """`seconds` for reading and writing, a short time to connect."""
    return httpx.Timeout(seconds, connect=min(seconds, CONNECT_SECONDS))


@contextlib.contextmanager
def arguments(call: Call[Any]) -> Iterator[dict[str, Any]]:
    """The arguments of the httpx request; an upload's file is open meanwhile."""
    given: dict[str, Any] = {"params": call.params, "headers": call.headers}
    if call.json is not None:
        given["json"] = call.json
    if call.upload is None:
        yield given
        return
    with call.upload.open() as file:
        yield given | {"data": call.upload.fields, "files": {"file": (call.upload.file_name, file)}}


def unreachable(connection: Connection, error: httpx.TransportError) -> Unreachable:
    """The error when nobody answered, with the way out."""
    return Unreachable(
        f"nobody answers at {connection.url} ({type(error).__name__}): "
        "start it with `make run`, name another address with --url or GROUNDWIRE_URL, or the "
        "folder of a stack on this machine with GROUNDWIRE_DATA_DIR"
    )
