"""The Python client, and the `groundwire` command line that is built on it.

`Client` and `AsyncClient` are imported when they are asked for, so that the command line
starts without the HTTP stack.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from libs.client.asynchronous import AsyncClient
    from libs.client.errors import ApiError, Unreachable
    from libs.client.synchronous import Client

__all__ = ["ApiError", "AsyncClient", "Client", "Unreachable"]

_HOMES = {
    "ApiError": "libs.client.errors",
    "AsyncClient": "libs.client.asynchronous",
    "Client": "libs.client.synchronous",
    "Unreachable": "libs.client.errors",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        from importlib import import_module

        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
